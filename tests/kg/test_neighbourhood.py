"""Encoding only what a batch needs: exact where nothing is left out, bounded where something is."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.kg.neural_data import HEAT, dataset, new_model, random_statements

from hyperheat.kg import Statement, Statements
from hyperheat.kg.neural.decoder import MaskDecoder
from hyperheat.kg.neural.graph_encoders import NoEncoder
from hyperheat.kg.neural.labels import BpeLabels, LabelVectors, train_tokenizer
from hyperheat.kg.neural.neighbourhood import StatementIndex, reach
from hyperheat.kg.neural.recipes import KgSettings
from hyperheat.kg.neural.statement_model import ModelConfig
from hyperheat.kg.neural.training import KgJob
from hyperheat.nn.aggregate import CrossAttentionAggregate
from hyperheat.tensors.indices import to_tensors
from hyperheat.train import TrainSettings

STATEMENTS = random_statements(80, entities=60)
INDEX = StatementIndex.of(STATEMENTS)
ALL_SEEN = np.ones(len(STATEMENTS), bool)
ENCODERS = {
    "heat": HEAT,
    "heat-2": replace(HEAT, layers=2),
    "heat-3": replace(HEAT, layers=3),
    "heat-crossatt": replace(HEAT, layers=2, aggregate=CrossAttentionAggregate),
    "none": NoEncoder(dim=16),
}


def holders(statements: Statements, entity: str) -> list[int]:
    """The statements that an entity is in, found in a plain loop."""
    return [
        row
        for row, s in enumerate(statements)
        if entity in (s.subject, s.object, *(value for _, value in s.qualifiers))
    ]


def test_the_index_has_every_statement_of_an_entity_once():
    twice = Statements.build([Statement("a", "r", "a", (("q", "a"), ("q", "b")))])
    assert StatementIndex.of(twice).statement.tolist() == [0, 0]
    for number, entity in enumerate(STATEMENTS.entities):
        found = INDEX.statement[INDEX.offsets[number] : INDEX.offsets[number + 1]]
        assert found.tolist() == holders(STATEMENTS, entity)
    assert INDEX.largest_degree == max(len(holders(STATEMENTS, entity)) for entity in STATEMENTS.entities)


@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS.keys())
def test_a_neighbourhood_gives_the_vectors_of_the_whole_graph(encoder):
    model = new_model(STATEMENTS, encoder, skip=0.5).model
    whole = model.encode(to_tensors(model.plan(STATEMENTS), "cpu")).entities
    wanted = np.array([41, 3, 17])
    rows, entities = reach(
        INDEX,
        wanted,
        hops=getattr(encoder, "layers", 0),
        fan_out=INDEX.largest_degree,
        seen=ALL_SEEN,
        random=np.random.default_rng(0),
    )
    if getattr(encoder, "layers", 0) < 2:
        assert len(rows) < len(STATEMENTS)
        assert len(entities) < len(STATEMENTS.entities)
    graph = to_tensors(model.plan(STATEMENTS[rows].narrowed(entities)), "cpu")
    part = model.encode(graph, torch.as_tensor(entities)).entities
    torch.testing.assert_close(part[np.searchsorted(entities, wanted)], whole[wanted], atol=1e-5, rtol=1e-5)


def test_with_a_hop_too_few_the_vectors_differ():
    model = new_model(STATEMENTS, replace(HEAT, layers=2)).model
    whole = model.encode(to_tensors(model.plan(STATEMENTS), "cpu")).entities
    options = {"fan_out": INDEX.largest_degree, "seen": ALL_SEEN, "random": np.random.default_rng(0)}
    rows, entities = reach(INDEX, np.array([3]), hops=1, **options)
    graph = to_tensors(model.plan(STATEMENTS[rows].narrowed(entities)), "cpu")
    part = model.encode(graph, torch.as_tensor(entities)).entities
    assert not torch.allclose(part[np.searchsorted(entities, [3])], whole[[3]], atol=1e-4)


def test_at_most_so_many_statements_are_drawn_and_all_equally_often():
    star = Statements.build([Statement("hub", "r", f"e{i}") for i in range(10)])
    index, hub = StatementIndex.of(star), star.entities.index("hub")
    random = np.random.default_rng(0)
    counts = np.zeros(10)
    for _ in range(2_000):
        drawn = index.draw(np.array([hub]), 3, random)
        assert len(set(drawn.tolist())) == 3
        counts[drawn] += 1
    assert abs(counts - 600).max() < 5 * np.sqrt(2_000 * 0.3 * 0.7)


def test_what_is_hidden_is_not_read_and_the_same_seed_draws_the_same():
    seen = ALL_SEEN.copy()
    seen[::2] = False

    def draw(seed: int) -> list[int]:
        options = {"hops": 2, "fan_out": 2, "seen": seen, "random": np.random.default_rng(seed)}
        return reach(INDEX, np.arange(10), **options)[0].tolist()

    assert seen[draw(0)].all()
    assert draw(0) == draw(0) != draw(1)


DATA = dataset(STATEMENTS[:60], STATEMENTS[60:70], STATEMENTS[70:])
SETTINGS = KgSettings(
    model=ModelConfig(
        encoder=replace(HEAT, dropout=0.0, layers=2),
        decoder=MaskDecoder(layers=1, ff=32, dropout=0.0),
        entity_dropout=0.0,
        skip=0.5,
    ),
    batch=20,
    qualifier_questions=0.5,
    relation_questions=0.5,
    train=TrainSettings(max_steps=2, threads=1, watch="mrr", mode="max"),
)


def loss_and_gradients(settings: KgSettings) -> tuple[float, dict[str, torch.Tensor]]:
    job = KgJob(settings, DATA)
    loss, _ = job.loss(job.load(job.batches(0)[1]))
    loss.backward()
    return loss.item(), {name: p.grad for name, p in job.model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("beside_ids", [False, True])
def test_labels_of_some_entities_are_those_among_all(beside_ids):
    torch.manual_seed(0)
    labels = {name: f"the label {name}" for name in STATEMENTS.entities[::2]}
    tokenizer = train_tokenizer(sorted(labels.values()), BpeLabels(tokens=300))
    vectors = LabelVectors(tokenizer, STATEMENTS.entities, labels, 8)
    ids, rows = torch.randn(len(STATEMENTS.entities), 8), torch.tensor([1, 4, 17, 18])
    some = vectors.first(ids[rows], rows, beside_ids=beside_ids)
    torch.testing.assert_close(some, vectors.first(ids, beside_ids=beside_ids)[rows])
    assert torch.equal(some[0], ids[1])  # which has no label
    assert not torch.equal(some[1], ids[4])


@pytest.mark.parametrize("settings", [{"fan_out": 1_000}, {"fan_out": 1_000, "negatives": 1_000}])
def test_without_a_bound_that_binds_a_step_of_training_is_the_same(settings):
    expected, gradients = loss_and_gradients(SETTINGS)
    loss, found = loss_and_gradients(replace(SETTINGS, **settings))
    assert loss == pytest.approx(expected, rel=1e-5)
    assert found.keys() == gradients.keys()
    for name, gradient in gradients.items():
        torch.testing.assert_close(found[name], gradient, atol=1e-4, rtol=1e-3, msg=name)


def test_a_batch_reads_no_more_than_its_fan_out():
    few = KgJob(
        replace(SETTINGS, batch=2, negatives=2, fan_out=1, qualifier_questions=0, relation_questions=0), DATA
    )
    loaded = few.load(few.batches(0)[0])
    assert loaded.entities is not None
    assert len(loaded.entities) < len(STATEMENTS.entities)
    asked = few.main_groups.statement[few.main_groups.answers(few.batches(0)[0].main)[1]]
    needed = 2 * 4 + len(asked) + 2  # a question gives at most four entities; then answers and two others
    statements = len(loaded.graph.plan.edges.offsets) - 2
    assert 0 < statements <= needed * (1 + 5)  # one statement each, which brings at most five members
