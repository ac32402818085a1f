"""HEAT on plain tensors: the same states as from graphs with names, and clear errors."""

import re
from pathlib import Path

import pytest
import torch
from tests.nn.models import example_graph, make_encoder

from hyperheat import VARIANTS, Heat, HeatConfig, Vocabulary, collate
from hyperheat.nn.embedding import pool_labels
from hyperheat.nn.fast.rows import segment_sum

CONFIG = HeatConfig(dim=8, layers=2, heads=2)


def copied(encoder, batch) -> Heat:
    """A `Heat` with the weights of an encoder; its types are the distinct names and positions of the batch."""
    heat = Heat(encoder.config, relations=batch.num_qualifiers, qualifiers=batch.num_qualifiers)
    _, r = encoder.embedding(batch)
    with torch.no_grad():
        heat.embedding.relation.weight.copy_(r)
        heat.embedding.qualifier.weight.copy_(r)
    heat.layers.load_state_dict(encoder.layers.state_dict())
    return heat.to(r.dtype).eval()


@pytest.mark.parametrize("name", VARIANTS)
def test_it_equals_the_path_of_names(name):
    graph = example_graph()
    encoder = make_encoder(name, Vocabulary.build([graph]))
    batch = collate([graph], encoder.vocab).to_torch()
    x = pool_labels(encoder.embedding.label, batch)
    index = torch.stack([batch.by_node.owner, batch.by_edge.owner])
    heat = copied(encoder, batch)
    expected, states = encoder(batch), heat(x, index, batch.relation, batch.qualifier)
    torch.testing.assert_close(states.nodes, expected.nodes)
    torch.testing.assert_close(states.edges, expected.edges)

    shuffled = torch.randperm(index.shape[1], generator=torch.Generator().manual_seed(0))
    again = heat(x, index[:, shuffled], batch.relation, batch.qualifier[shuffled])
    torch.testing.assert_close(again.nodes, expected.nodes)


def test_names_and_types_have_the_same_first_states():
    graph = example_graph()
    encoder = make_encoder("heat", Vocabulary.build([graph]))
    batch = collate([graph], encoder.vocab).to_torch()
    names = segment_sum(encoder.embedding.name(batch.names.tokens), batch.names.owner)
    assert torch.equal(copied(encoder, batch).embedding.relation.weight[: len(names)], names)


def test_a_plan_is_made_once_and_gradients_reach_every_weight():
    heat = Heat(CONFIG, relations=2, qualifiers=3, features=5)
    x, relation = torch.randn(4, 5), torch.tensor([0, 1, 1])
    index, qualifier = torch.tensor([[0, 1, 1, 2], [0, 0, 2, 2]]), torch.tensor([0, 1, 2, 0])
    plan = heat.plan(index, qualifier, num_nodes=4, num_edges=3)
    heat.eval()
    assert torch.equal(heat.run(x, relation, plan).nodes, heat(x, index, relation, qualifier).nodes)
    states = heat.train()(x, index, relation, qualifier)
    (states.nodes.square().sum() + states.edges.square().sum()).backward()
    assert all(parameter.grad is not None for parameter in heat.parameters())


def test_a_graph_without_edges_keeps_its_nodes():
    heat = Heat(CONFIG, relations=1, qualifiers=1, features=2).eval()
    none = torch.zeros(0, dtype=torch.long)
    states = heat(torch.randn(3, 2), torch.zeros(2, 0, dtype=torch.long), none, none)
    assert states.nodes.shape == (3, 8)
    assert states.edges.shape == (0, 8)


INDEX, RELATION, QUALIFIER = torch.tensor([[0, 1], [0, 0]]), torch.tensor([0]), torch.tensor([0, 1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": torch.zeros(2, 4)}, r"x: expected shape \[nodes, 3\], got \[2, 4\]"),
        ({"incidence_index": INDEX[0]}, r"incidence_index: expected shape \[2, incidences\], got \[2\]"),
        ({"incidence_index": INDEX + 1}, r"incidence_index\[0\]: expected 0 to 1, got 1 to 2"),
        ({"incidence_index": INDEX.flip(0)}, r"incidence_index\[1\]: expected 0 to 0, got 0 to 1"),
        ({"incidence_index": INDEX.float()}, r"incidence_index\[0\]: expected integers, got float32"),
        ({"qualifier": torch.tensor([0, 2])}, "qualifier: expected 0 to 1, got 0 to 2"),
        ({"qualifier": RELATION}, r"qualifier: expected 2 entries \(one per incidence\), got \[1\]"),
    ],
)
def test_tensors_that_do_not_fit_are_refused(change, message):
    heat = Heat(CONFIG, relations=2, qualifiers=2, features=3)
    given = {"x": torch.zeros(2, 3), "incidence_index": INDEX, "relation": RELATION, "qualifier": QUALIFIER}
    with pytest.raises((ValueError, IndexError, TypeError), match=message):
        heat(**{**given, **change})


def test_counts_that_are_none_are_refused():
    with pytest.raises(ValueError, match="relations: expected an int of at least 1, got 0"):
        Heat(CONFIG, relations=0, qualifiers=1)


def test_the_examples_of_the_manual_run(capsys):
    page = (Path(__file__).parents[2] / "docs" / "model.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        exec(compile(example, "model.md", "exec"), {})
        (promised,) = re.findall(r"print\(.*# (.*)", example)
        assert capsys.readouterr().out.strip() == promised
