"""Reading the statements around a question: against plain loops, bounded in training, and for entities never seen."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.kg.neural_data import DECODER, HEAT, dataset, names_of, random_statements
from torch.nn import functional as F

from hyperheat import kg
from hyperheat.cli.kg import evaluate, train
from hyperheat.kg import Questions, Statement, Statements
from hyperheat.kg.datasets import StatementDataset
from hyperheat.kg.neural.graph_encoders import NoEncoder, Table
from hyperheat.kg.neural.loss import AddedScores, SoftmaxLoss, candidate_loss
from hyperheat.kg.neural.recipes import RECIPES
from hyperheat.kg.neural.statement_model import ModelConfig
from hyperheat.kg.neural.surroundings import SurroundingGraph, SurroundingsConfig, SurroundingsIndex
from hyperheat.kg.neural.trained_model import ModelScorer, TrainedModel
from hyperheat.kg.neural.training import KgJob
from hyperheat.kg.questions import FIRST_QUALIFIER, OBJECT, SUBJECT

STATEMENTS = random_statements(80, entities=60)
ASKED = STATEMENTS[STATEMENTS.num_qualifiers > 0][:9]
BLANKS = np.array([OBJECT, SUBJECT, FIRST_QUALIFIER] * 3)
QUESTIONS = Questions(ASKED, BLANKS)


def members(s: Statement) -> list[str]:
    return [s.subject, s.object, *(value for _, value in s.qualifiers)]


def given(question: Questions) -> list[str]:
    (s,) = question.statements
    return [name for slot, name in enumerate(members(s)) if slot != question.blank[0]]


def around_in_loops(question: Questions, hops: int, through: int) -> tuple[set[str], list[Statement]]:
    """What is around a question, found statement by statement."""
    reached, read, new = set(given(question)), [], set(given(question))
    for hop in range(hops):
        starts = {e for e in new if hop == 0 or sum(e in members(s) for s in STATEMENTS) <= through}
        read += [s for s in STATEMENTS if s not in read and starts & set(members(s))]
        new = {name for s in read for name in members(s)} - reached
        reached |= new
    return reached, read


def entities_of(found: SurroundingGraph[np.ndarray], question: int) -> set[str]:
    return {STATEMENTS.entities[i] for i in found.entity[found.question == question]}


@pytest.mark.parametrize(("hops", "through"), [(1, 1), (2, 3), (2, 100), (3, 4)])
def test_what_is_around_a_question_is_what_loops_find(hops: int, through: int):
    found = SurroundingsIndex(SurroundingsConfig(hops=hops, through=through), STATEMENTS).around(QUESTIONS)
    for number, question in enumerate(QUESTIONS):
        reached, read = around_in_loops(question, hops, through)
        assert entities_of(found, number) == reached
        relations = found.graph.state[found.edge_question == number]
        assert sorted(STATEMENTS.relations[r] for r in relations) == sorted(s.relation for s in read)
        asked = question.statements[0].relation
        assert found.alike[found.edge_question == number].sum() == sum(s.relation == asked for s in read)


def test_marks_say_in_which_role_a_question_gives_an_entity():
    found = SurroundingsIndex(SurroundingsConfig(), STATEMENTS).around(QUESTIONS)
    marks = {
        (int(found.question[n]), STATEMENTS.entities[found.entity[n]], int(m))
        for n, m in zip(found.marked, found.mark, strict=True)
    }
    roles = {name: 2 + number for number, name in enumerate(STATEMENTS.relations)}
    expected = set()
    for number, (s, blank) in enumerate(zip(ASKED, BLANKS, strict=True)):
        names = [0, 1, *(roles[name] for name, _ in s.qualifiers)]
        expected |= {
            (number, e, r) for i, (e, r) in enumerate(zip(members(s), names, strict=True)) if i != blank
        }
    assert marks == expected


def test_counts_are_shares_degrees_and_earlier_answers():
    found = SurroundingsIndex(SurroundingsConfig(), STATEMENTS).around(QUESTIONS)
    degree = {e: sum(e in members(s) for s in STATEMENTS) for e in STATEMENTS.entities}
    for place in range(0, len(found.entity), 7):
        question = QUESTIONS[int(found.question[place])]
        (asked,), (blank,) = question.statements, question.blank
        name = STATEMENTS.entities[found.entity[place]]
        share = sum(
            members(s).count(name) / degree[e]
            for e in set(given(question)) - {name}
            for s in STATEMENTS
            if e in members(s)
        )
        if blank == FIRST_QUALIFIER:
            answered = sum(s.qualifiers.count((asked.qualifiers[0][0], name)) for s in STATEMENTS)
        else:
            answered = sum(
                (s.subject if blank == SUBJECT else s.object) == name
                for s in STATEMENTS
                if s.relation == asked.relation
            )
        expected = [*np.log([1 + 100 * share, 1 + degree[name], 1 + answered]), float(answered > 0)]
        assert found.counts[place] == pytest.approx(expected, abs=1e-5)


def test_statements_are_drawn_in_training_alone_and_all_can_be():
    star = Statements.build(Statement("hub", "r", f"e{i:02}") for i in range(40))
    index = SurroundingsIndex(SurroundingsConfig(drawn=5), star)
    question = Questions(star[:1], np.array([OBJECT]))
    assert len(index.around(question).edge_question) == 40
    random = np.random.default_rng(0)
    drawn = [index.around(question, random) for _ in range(60)]
    assert {len(part.edge_question) for part in drawn} == {5}
    assert {entity for part in drawn for entity in part.entity.tolist()} == set(range(41))


def test_questions_without_known_entities_or_statements_have_empty_surroundings():
    strange = Questions.of("nobody", "r1", None)
    table = replace(STATEMENTS[:0], entities=(*STATEMENTS.entities, "nobody"))
    asked = replace(
        strange.statements, entities=table.entities, relations=STATEMENTS.relations, subject=[60], object=[60]
    )
    found = SurroundingsIndex(SurroundingsConfig(), STATEMENTS).around(Questions(asked, strange.blank))
    assert len(found.entity) == len(found.edge_question) == 0
    nothing = SurroundingsIndex(SurroundingsConfig(hops=2), STATEMENTS[:0]).around(QUESTIONS)
    assert len(nothing.edge_question) == 0
    assert len(nothing.marked) == len(QUESTIONS.given()[0])


def test_added_scores_count_as_in_the_whole_matrix():
    torch.manual_seed(0)
    z, x = torch.randn(600, 8, dtype=torch.float64), torch.randn(30, 8, dtype=torch.float64)
    answers = torch.zeros(600, 30, dtype=torch.float64)
    answers[torch.arange(600), torch.arange(600) % 30] = 1
    near = (torch.rand(600, 30) < 0.2).nonzero().T
    score = torch.randn(near.shape[1], dtype=torch.float64, requires_grad=True)
    row, column = answers.nonzero().T
    lean = candidate_loss(SoftmaxLoss(), z, x, row, column, added=AddedScores(near[0], near[1], score))
    (grad,) = torch.autograd.grad(lean, score)
    scores = (z @ x.T).index_put(tuple(near), score, accumulate=True)
    dense = F.cross_entropy(scores, 0.9 * answers + 0.1 / 30, reduction="sum")
    torch.testing.assert_close(lean, dense)
    torch.testing.assert_close(grad, torch.autograd.grad(dense, score)[0])


def reading_model(**changes) -> TrainedModel:
    """A model that tells entities by their surroundings alone, with weights far from their simple beginnings."""
    torch.manual_seed(0)
    near = SurroundingsConfig(encoder=replace(HEAT, layers=2))
    config = ModelConfig(encoder=HEAT, decoder=DECODER, unknown=1.0, surroundings=near, **changes)
    trained = TrainedModel.new(config, names_of(STATEMENTS), STATEMENTS)
    with torch.no_grad():
        for parameter in trained.model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    trained.model.eval()
    return trained


def test_a_question_alone_has_the_scores_that_it_has_among_others():
    scorer = ModelScorer(reading_model())
    together = scorer(QUESTIONS)
    alone = np.concatenate([scorer(question) for question in QUESTIONS])
    np.testing.assert_allclose(together, alone, atol=1e-4)


def test_entities_are_told_apart_by_statements_alone_and_only_what_is_near_is_touched():
    trained = reading_model()
    renamed = dict(zip(STATEMENTS.entities, reversed(STATEMENTS.entities), strict=True))
    other = Statements.build(
        Statement(
            renamed[s.subject], s.relation, renamed[s.object], tuple((q, renamed[v]) for q, v in s.qualifiers)
        )
        for s in STATEMENTS
    )
    asked = Questions(other[:6], np.full(6, OBJECT))
    scores = ModelScorer(trained)(Questions(STATEMENTS[:6], np.full(6, OBJECT)))
    moved = ModelScorer(replace(trained, statements=other))(asked)
    np.testing.assert_allclose(moved[:, ::-1], scores, atol=1e-4)

    assert trained.model.surroundings is not None
    with torch.no_grad():
        trained.model.surroundings.out.bias.add_(3.0)
    near = SurroundingsIndex(SurroundingsConfig(), STATEMENTS).around(QUESTIONS)
    raised = ModelScorer(trained)(QUESTIONS) - ModelScorer(reading_model())(QUESTIONS)
    expected = np.zeros_like(raised)
    expected[near.question, near.entity] = 3.0
    np.testing.assert_allclose(raised, expected, atol=1e-4)


APART = SurroundingsConfig(encoder=replace(HEAT, layers=2, dropout=0.0), apart=1.0, drawn=None)


def apart_job(share: float) -> KgJob:
    """Training of a model without an encoder, beside which the surroundings of a share of the questions are read."""
    model = ModelConfig(
        encoder=NoEncoder(dim=16),
        decoder=replace(DECODER, dropout=0.0),
        entity_dropout=0.0,
        surroundings=replace(APART, apart=share),
    )
    settings = replace(RECIPES["smallest"](), model=model, batch=40, qualifier_questions=0.5)
    return KgJob(settings, dataset(STATEMENTS, STATEMENTS[:0], STATEMENTS[:0]))


def test_what_is_read_apart_has_a_loss_of_its_own():
    job = apart_job(1.0)
    batch = job.load(job.batches(0)[0])
    loss, _ = job.loss(batch)
    model = job.trained.model
    assert model.surroundings is not None
    table, expected = model.encode(batch.graph), torch.zeros(())
    for asked in (batch.main, batch.qualifier):
        z, entry = model.read(table, asked.tokens), asked.candidates.entry
        answers = torch.zeros(len(z), len(entry))
        answers[asked.candidates.row, asked.candidates.column] = 1
        target = 0.9 * answers / answers.sum(1, keepdim=True) + 0.1 / len(entry)
        assert asked.near is not None
        around = asked.near.around
        read = torch.zeros(len(z), len(table.entities))
        read = read.index_put((around.question, around.entity), model.surroundings(table, z, around))
        for scores in (z @ table.entities[entry].T, read[:, entry]):
            expected = expected + F.cross_entropy(scores, target, reduction="sum")
    torch.testing.assert_close(loss, expected)


def test_what_is_read_apart_learns_from_a_share_of_the_questions_and_reads_no_ids():
    job = apart_job(0.25)
    batch = job.load(job.batches(0)[0])
    near = batch.main.near
    assert near is not None
    assert len(near.around.asked) == len(batch.main.tokens.blank) // 4
    assert near.row.unique().tolist() == list(range(len(near.around.asked)))
    model = job.trained.model
    assert model.surroundings is not None
    table, z = model.encode(batch.graph), torch.zeros(len(near.around.asked), 16)
    scores = model.surroundings(table, z, near.around)
    other = model.surroundings(Table(torch.randn_like(table.entities), table.relations), z + 1, near.around)
    assert torch.equal(scores, other)


def test_rare_relations_stay_unknown():
    settings = replace(RECIPES["smallest"](), model=reading_model(unknown_relations=0.5, rare=40).config)
    job = KgJob(settings, dataset(STATEMENTS, STATEMENTS[:0], STATEMENTS[:0]))
    uses = np.concatenate([STATEMENTS.relation, STATEMENTS.qualifier])
    rare = np.bincount(uses, minlength=len(STATEMENTS.relations)) < 40
    assert 0 < rare.sum() < len(rare)
    model = job.trained.model
    model.eval()
    mask = torch.as_tensor(rare)
    assert model.unknown_relation is not None
    forward, backward = model.first_relations().split(len(rare))
    for part, unknown, own in zip(
        (forward, backward), model.unknown_relation, model.relation.split(len(rare)), strict=True
    ):
        assert torch.equal(part[mask], unknown.expand(int(rare.sum()), -1))
        assert torch.equal(part[~mask], own[~mask])
    model.train()
    assert not torch.equal(model.first_relations(), model.first_relations())


def village(first: int, count: int, seed: int) -> StatementDataset:
    """Teachers with pupils and siblings; the answer to whom somebody teaches is a pupil, as near as a sibling."""
    random = np.random.default_rng(seed)
    facts, asked = [], []
    for i in range(first, first + count):
        pair = [Statement(f"a{i}", "sibling of", f"t{i}"), Statement(f"p{i}", "pupil of", f"t{i}")]
        facts += [pair[k] for k in random.permutation(2)]
        asked.append(Statement(f"t{i}", "teaches", f"p{i}"))
    every = Statements.build([*facts, *asked])
    held = len(asked) // 2
    end = len(every) - held
    return StatementDataset(
        source="village", format="none", train=every[:end], valid=every[end:], test=every[end:], labels={}
    )


def written(data: StatementDataset, folder: Path) -> Path:
    folder.mkdir()
    for name, split in data.splits.items():
        lines = [f"{s.subject},{s.relation},{s.object}" for s in split]
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    return folder


def test_a_model_answers_about_entities_of_another_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    known, other = (
        written(village(0, 40, 0), tmp_path / "known"),
        written(village(100, 30, 1), tmp_path / "other"),
    )
    settings = (
        "model.encoder.dim=16",
        "model.encoder.ff=32",
        "model.surroundings.encoder.dim=16",
        "model.surroundings.encoder.ff=32",
        "batch=64",
        "train.max_steps=120",
        "train.warmup=5",
        "train.ema=none",
        "train.lr=5e-3",
        "train.validate_every=40",
        "train.threads=1",
    )
    train(
        data=str(known), out=tmp_path / "run", recipe="heat-inductive", set=settings, validate_on=str(other)
    )
    model = str(tmp_path / "run" / "best")
    evaluate(model=model, data=str(other), train_on="train", candidates="training", inductive=True)
    shown = capsys.readouterr().out
    assert "15 statements" in shown
    assert "90 candidates" in shown
    protocol = kg.Protocol(train_on="train", candidates="training")
    ours = kg.evaluate(model, other, protocol, inductive=True).metrics()["object"].mrr
    heuristic = kg.evaluate("heuristic", other, protocol).metrics()["object"].mrr
    assert heuristic < 0.8 < 0.95 < ours
    with pytest.raises(ValueError, match="trained on other data"):
        kg.evaluate(model, other, protocol)


def test_graphs_that_a_model_could_not_read_are_refused_before_training(tmp_path: Path):
    known, other = village(0, 4, 0), village(100, 4, 1)
    for recipe in ("heat", "no-encoder"):
        with pytest.raises(ValueError, match=r"village: .* a100, a101, a102, a103, p100 and 7 more"):
            kg.train(known, tmp_path / recipe, recipe=recipe, validate_on=other)
    strange = Statements.build([*other.train, Statement("a100", "envies", "t100")])
    with pytest.raises(ValueError, match="village: the model was not trained on the relations envies"):
        kg.train(
            known,
            tmp_path / "run",
            recipe="heat-inductive",
            validate_on=replace(other, train=strange, valid=strange[:0], test=strange[:0]),
        )
    assert list(tmp_path.iterdir()) == []


def test_bounds_that_surroundings_cannot_have_are_refused():
    near = replace(RECIPES["heat-inductive"]().model)
    for name in ("negatives", "answers", "fan_out"):
        with pytest.raises(ValueError, match=f"{name}: must be none with surroundings"):
            replace(
                RECIPES["heat-large"](),
                model=near,
                **{"negatives": None, "answers": None, "fan_out": None, name: 4},
            )
    with pytest.raises(ValueError, match="hops: expected at least 1, got 0"):
        SurroundingsConfig(hops=0)
    with pytest.raises(ValueError, match="apart: expected a share above 0 up to 1, or none, got 0"):
        SurroundingsConfig(apart=0)
    with pytest.raises(ValueError, match="unknown_relations: expected a share from 0 to 1, got 2"):
        ModelConfig(encoder=HEAT, unknown_relations=2)
