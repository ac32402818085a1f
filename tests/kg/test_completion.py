"""Completing statements: answers, flags, candidates, unseen names, speed."""

from dataclasses import replace
from time import process_time

import numpy as np
import pytest
import torch
from tests.kg.neural_data import HEAT, new_model, random_statements

from hyperheat import kg
from hyperheat.kg import Completer, Statement, Statements
from hyperheat.kg.completion import _best
from hyperheat.kg.heuristic import _NEW_THERE as NEW
from hyperheat.kg.heuristic import Heuristic
from hyperheat.kg.neural.decoder import tokenise
from hyperheat.kg.neural.graph_encoders import NoEncoder, Table
from hyperheat.kg.neural.labels import BpeLabels, train_tokenizer
from hyperheat.kg.neural.stare import StareConfig, StareDecoder
from hyperheat.kg.neural.statement_model import ModelConfig, ModelNames
from hyperheat.kg.neural.trained_model import ModelScorer, TrainedModel, save_model
from hyperheat.kg.questions import OBJECT, Practice, join_questions
from hyperheat.tensors.indices import to_tensors

FACTS = [
    Statement("film", "award", "Oscar", (("winner", "Ann"),)),
    Statement("film", "award", "Globe"),
    Statement("play", "award", "Tony", (("winner", "Ann"),)),
    Statement("film", "country", "France"),
]
STATEMENTS = Statements.build(FACTS)
LABELS = {"film": "The Film", "award": "award received", "Oscar": "Academy Award"}


@pytest.fixture
def completer() -> Completer:
    return Completer(Heuristic(STATEMENTS), STATEMENTS, LABELS)


def table(completion) -> list[tuple[str, float, str]]:
    return [(a.id, round(a.probability, 4), a.known) for a in completion]


def test_objects(completer: Completer):
    # Of film's three statements one holds each of Oscar, Globe, France and Ann; France never answered `award`,
    # and Ann is neither subject nor object, so no candidate: shares of 1 + 1 + NEW.
    found = completer.complete("the film", "AWARD received", None)
    share = round(1 / (2 + NEW), 4)
    assert table(found) == [
        ("Globe", share, "known"),
        ("Oscar", share, "known"),
        ("France", round(NEW / (2 + NEW), 4), "new"),
    ]
    assert [a.label for a in found] == [None, "Academy Award", None]
    assert [a.rank for a in found] == [1, 2, 3]


def test_qualifiers_decide_what_is_known(completer: Completer):
    # film gives Oscar, Globe 1/3 each and France NEW/3; Ann gives film, play NEW/2 each and Oscar, Tony 1/2 each
    found = completer.complete("film", "award", None, {"winner": "Ann"})
    total = 1 / 3 + 1 / 2 + 1 / 2 + 1 / 3 + NEW / 3 + NEW
    assert table(found)[:3] == [
        ("Oscar", round((1 / 3 + 1 / 2) / total, 4), "known"),
        ("Tony", round(1 / 2 / total, 4), "new"),
        ("Globe", round(1 / 3 / total, 4), "with other qualifiers"),
    ]


def test_subjects_and_values(completer: Completer):
    assert table(completer.complete(None, "award", "Tony")) == [("play", 1.0, "known")]
    # France never answered `award`: nobody has evidence for it but film, which is in all of its statements
    assert completer.complete(None, "country", "France")[0].known == "known"
    found = completer.complete("film", "award", "Oscar", [("winner", None)])
    assert table(found) == [("Ann", 1.0, "known")]
    found = completer.complete("film", "award", "Globe", [("winner", None)])
    assert table(found) == [("Ann", 1.0, "new")]


def test_other_qualifiers_of_an_asked_value():
    statements = Statements.build(
        [
            Statement("s", "r", "o", (("q", "x"), ("t", "1"))),
            Statement("s", "r", "o", (("q", "y"), ("t", "2"))),
        ]
    )
    completer = Completer(Heuristic(statements), statements, {})
    found = completer.complete("s", "r", "o", [("t", "1"), ("q", None)])
    flags = {a.id: a.known for a in found}
    assert (flags["x"], flags["y"]) == ("known", "with other qualifiers")


def test_known_answers_can_be_left_out(completer: Completer):
    found = completer.complete("film", "award", None, exclude_known=True)
    assert table(found) == [("France", 1.0, "new")]
    found = completer.complete("film", "award", None, {"winner": "Ann"}, exclude_known=True)
    assert [a.id for a in found][:2] == ["Tony", "Globe"]


def test_candidates_can_be_named(completer: Completer):
    found = completer.complete("film", "award", None, candidates=["academy award", "France"])
    assert table(found) == [
        ("Oscar", round(1 / (1 + NEW), 4), "known"),
        ("France", round(NEW / (1 + NEW), 4), "new"),
    ]
    with pytest.raises(ValueError, match="candidates: expected at least one entity, got none"):
        completer.complete("film", "award", None, candidates=[])


def test_k(completer: Completer):
    assert len(completer.ask("film | award | ?", k=1)) == 1
    with pytest.raises(ValueError, match="k: expected at least 1, got 0"):
        completer.ask("film | award | ?", k=0)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("flim | award | ?", r"unknown entity 'flim'; did you mean"),
        (
            "film | awards | ?",
            r"unknown relation 'awards'; did you mean award received \(award\)\?",
        ),
        ("award | award | ?", "unknown entity 'award': there is a relation of that name"),
        ("film | Oscar | ?", "unknown relation 'Oscar': there is an entity of that name"),
        ("film | award | ? | Ann=Ann", "unknown relation 'Ann': there is an entity of that name"),
        ("film | award | ? | winner=Bob", "unknown entity 'Bob'"),
        ("film | ? | Bob", "unknown entity 'Bob'"),
    ],
)
def test_what_cannot_be_asked_is_said(question: str, message: str, completer: Completer):
    with pytest.raises(ValueError, match=message):
        completer.ask(question)


def test_it_prints_as_a_table(completer: Completer):
    assert str(completer.ask("? | award | Tony")) == (
        "? | award | Tony\n         p    score  answer\n  1  1.000     0.00  play  known"
    )
    lines = str(completer.ask("The Film | award | ?", k=2)).splitlines()
    assert lines[2].endswith("  Globe                  known")
    assert lines[3].endswith("  Academy Award (Oscar)  known")


MANY = random_statements(60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("model")
    save_model(new_model(MANY), folder)
    return folder


def test_a_folder_is_all_that_is_needed(folder):
    model = kg.load(folder)
    statement = MANY[int(np.flatnonzero(MANY.num_qualifiers == 2)[0])]
    found = model.complete(statement.subject, statement.relation, None, statement.qualifiers, k=100)
    scorer = ModelScorer(new_model(MANY))
    row = MANY[[int(np.flatnonzero(MANY.num_qualifiers == 2)[0])]]
    scores = scorer.logits(kg.Questions(row, np.array([1])))[0]
    expected = torch.softmax(torch.as_tensor(scores[MANY.main_entities()]).double(), 0)
    assert sum(a.probability for a in found) == pytest.approx(1)
    assert sorted(a.probability for a in found) == pytest.approx(sorted(expected.tolist()))
    assert {a.id: a.known for a in found}[statement.object] == "known"
    again = kg.complete(found.question, model=folder, k=100)
    assert again == found
    assert kg.complete(str(found.question), model=model, k=100) == found


def test_of_answers_that_tie_for_the_last_place_the_first_are_taken():
    scores = np.array([1.0, 2.0, 1.0, -np.inf, 1.0, 3.0, 1.0])
    allowed = np.ones(7, bool)
    nothing = np.zeros(0, np.int64)
    assert _best(scores, allowed, 4, first=nothing).tolist() == [5, 1, 0, 2]
    assert _best(scores, allowed, 4, first=np.array([6])).tolist() == [6, 5, 1, 0]
    assert _best(scores, allowed, 9, first=nothing).tolist() == [5, 1, 0, 2, 4, 6]


def test_many_questions_are_scored_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch):
    statements = random_statements()
    scorer = ModelScorer(new_model(statements))
    completer = Completer(scorer, statements, {})
    questions = [f"{s.subject} | {s.relation} | ?" for s in statements]
    expected = [completion.to_json() for completion in completer.ask_all(questions)]
    asked, logits = [], scorer.logits
    monkeypatch.setattr(scorer, "logits", lambda some: asked.append(len(some)) or logits(some))
    monkeypatch.setattr("hyperheat.kg.questions._SCORES_AT_ONCE", 7 * len(statements.entities))
    found = [completion.to_json() for completion in completer.ask_all(questions)]
    assert asked == [7] * 8 + [4]
    for one, other in zip(found, expected, strict=True):
        assert [a["id"] for a in one["answers"]] == [a["id"] for a in other["answers"]]


def test_questions_together_are_answered_as_alone(folder):
    model = kg.load(folder)
    questions = kg.Questions(MANY[:8], np.full(8, OBJECT))
    for together, question in zip(model.ask_all(questions, k=3), questions, strict=True):
        alone = model.ask(question, k=3)
        assert [a.id for a in together] == [a.id for a in alone]
        assert [a.score for a in together] == pytest.approx([a.score for a in alone], rel=1e-4)


def test_few_rows_of_the_table_are_read_as_all():
    """The decoder gets the rows of the question alone; the answer is that of the whole table."""
    trained = new_model(MANY)
    scorer = ModelScorer(trained)
    questions = kg.Questions(MANY, np.arange(len(MANY)) % 2)
    tokens, order = tokenise(questions)
    with torch.no_grad():
        z = trained.model.read(scorer.table, to_tensors(tokens, "cpu"))
        expected = (z @ scorer.table.entities.T).numpy()
    np.testing.assert_allclose(scorer.logits(questions)[order], expected, atol=1e-5)


def labelled(encoder) -> TrainedModel:
    labels = {name: f"thing {name[1:]}" for name in MANY.entities}
    config = ModelConfig(encoder=encoder, labels=BpeLabels(tokens=300))
    names = ModelNames(
        entities=MANY.entities,
        relations=MANY.relations,
        labels=labels,
        tokenizer=train_tokenizer(sorted(labels.values()), BpeLabels(tokens=300)),
    )
    torch.manual_seed(0)
    trained = TrainedModel.new(config, names, MANY)
    trained.model.eval()
    return trained


@pytest.mark.parametrize("encoder", [NoEncoder(dim=16), HEAT, StareConfig(dim=16, layers=1)], ids=repr)
@torch.no_grad()
def test_an_unseen_entity_is_known_by_its_text(encoder):
    """Its vector is that of an entity without statements and without an id of its own in the whole graph."""
    trained = labelled(encoder)
    model = trained.model
    entities = (*MANY.entities, "thing 99 of another kind")
    wider = Statements(
        entities=entities,
        **{name: getattr(MANY, name) for name in MANY.__dataclass_fields__ if name != "entities"},
    )
    assert model.entity_label is not None
    assert model.relation_label is not None
    first = torch.cat([model.entity + model.entity_label(), model.entity_label.of(entities[-1:])])
    relations = model.relation + model.relation_label().repeat(2, 1)
    expected = model.encoder(Table(first, relations), to_tensors(model.plan(wider), "cpu")).entities[-1:]
    scorer = ModelScorer(trained)
    torch.testing.assert_close(scorer._encode_unseen(entities[-1:]), expected)

    completer = Completer(scorer, MANY, trained.names.labels)
    found = completer.complete(entities[-1], "r0", None, k=1)
    assert found.notes[0].startswith(
        "unknown entity 'thing 99 of another kind': the model goes by its text alone"
    )
    other = completer.complete("something else", "r0", None, k=1)
    assert other[0].score != found[0].score
    known = completer.complete("thing 1", "r0", None, k=1)
    assert known.notes == ()
    together = list(completer.ask_all(join_questions([known.question, found.question, other.question]), k=1))
    assert [c[0].score for c in together] == pytest.approx(
        [c[0].score for c in (known, found, other)], rel=1e-4
    )


def test_an_unseen_entity_is_refused_by_a_model_that_reads_no_labels(folder):
    with pytest.raises(ValueError, match=r"unknown entity 'e99'; did you"):
        kg.load(folder).complete("e99", "r0", None)


def test_a_decoder_that_cannot_read_a_blank_value_says_so():
    trained = new_model(MANY, StareConfig(dim=16, layers=1), StareDecoder(layers=1, ff=24))
    completer = Completer(ModelScorer(trained), MANY, {})
    assert len(completer.complete("e0", "r0", None, k=3)) == 3
    with pytest.raises(ValueError, match="this model cannot fill in relations or values of qualifiers"):
        completer.complete("e0", "r0", "e1", [("r1", None)])


def test_labels_may_come_later(folder, tmp_path):
    (tmp_path / "labels.tsv").write_text("e0\tZero\n")
    assert kg.load(folder, labels=tmp_path / "labels.tsv").complete("zero", "r0", None).answers


@pytest.mark.parametrize(
    ("model", "data", "message"),
    [
        ("heuristic", None, "data: the heuristic needs the statements that it is made from"),
        ("nowhere", None, "model: expected demo, heuristic or the folder of a trained model, got 'nowhere'"),
        ("nowhere", "x", "data: a trained model has its own statements, got x"),
    ],
)
def test_what_cannot_be_loaded_is_said(model, data, message):
    with pytest.raises(ValueError, match=message):
        kg.load(model, data=data)


def test_the_best_of_50_000_entities_are_found_at_once():
    """Measured: 8 ms on one core. Time of the processor is taken, since other processes may run."""
    count = 50_000
    random = np.random.default_rng(0)
    base = random_statements(20)
    statements = replace(
        base,
        entities=tuple(f"e{i}" for i in range(count)),
        subject=random.integers(0, count, len(base)),
        object=random.integers(0, count, len(base)),
    )
    trained = new_model(statements, NoEncoder(dim=128))
    completer = Completer(ModelScorer(trained), statements, {})
    everyone = np.ones(count, bool)
    times = []
    for start in range(12):
        question = kg.Questions.of(f"e{start}", "r0", None, (("r1", "e5"),))
        begun = process_time()
        (found,) = completer.ask_all(question, k=10, mask=everyone)
        times.append(process_time() - begun)
        assert len(found) == 10
    assert min(times) < 0.05


def test_known_answers_come_first_however_low_they_score():
    statements = random_statements()
    completer = Completer(ModelScorer(new_model(statements)), statements, {})
    asked = 0
    for s in statements:
        found = completer.complete(s.subject, s.relation, None, k=20)
        flags = [a.known == "known" for a in found]
        assert flags == sorted(flags, reverse=True)
        assert s.object in [a.id for a in found if a.known == "known"]
        for group in (True, False):
            scores = [a.score for a, known in zip(found, flags, strict=True) if known == group]
            assert scores == sorted(scores, reverse=True)
        asked += max(a.score for a in found) > found[0].score
    assert asked > 10  # questions that a new answer would have won


def test_the_demo_gives_the_year_that_its_data_has():
    found = kg.load("demo").ask("Richard Feynman | award received | Nobel Prize in Physics | point in time=?")
    assert (found[0].id, found[0].known) == ("1965", "known")
    assert found.notes == ()


def test_a_model_that_never_filled_in_qualifiers_says_so(tmp_path):
    statements = random_statements()
    trained = new_model(statements)
    save_model(trained, tmp_path / "never")
    save_model(replace(trained, practice=Practice(values=True)), tmp_path / "often")
    note = "the model was not trained to fill in values of qualifiers, so new answers are guesses"
    (s,) = [s for s in statements if s.qualifiers][:1]
    qualifiers = [(s.qualifiers[0][0], None)]
    for folder, notes in (("never", (note,)), ("often", ())):
        model = kg.load(tmp_path / folder)
        assert model.complete(s.subject, s.relation, s.object, qualifiers).notes == notes
        assert model.complete(s.subject, s.relation, None).notes == ()


def test_relations(completer: Completer):
    # award: 2/3 of film's statements, all of Oscar's; country: 1/3 of film's
    found = completer.complete("film", None, "Oscar")
    assert table(found) == [
        ("award", round((2 / 3 + 1) / 2, 4), "known"),
        ("country", round(1 / 6, 4), "new"),
    ]
    assert found[0].label == "award received"
    assert completer.ask("film | ? | Oscar", exclude_known=True)[0].id == "country"
    assert [a.id for a in completer.ask("film | ? | Oscar", candidates=["country"])] == ["country"]
    assert completer.ask("play | ? | Oscar")[0].known == "new"
    # winner is the relation of qualifiers only, so no candidate
    assert completer.candidates(completer.resolve(found.question)).tolist() == [True, True, False]
    with pytest.raises(ValueError, match="mask: expected one over the relation table, got"):
        list(completer.ask_all(["film | ? | Oscar"], mask=completer.mask(["film"])))


def test_questions_for_relations_and_entities_are_asked_together(completer: Completer):
    questions = ["film | ? | Oscar", "film | award | ?", "play | ? | Tony", "film | award | Oscar | winner=?"]
    together = list(completer.ask_all(questions))
    assert together == [completer.ask(question) for question in questions]
    assert [found[0].id for found in together] == ["award", "Globe", "award", "Ann"]


def test_relations_are_explained(completer: Completer):
    found = completer.complete("film", None, "Oscar", {"winner": "Ann"})
    why = completer.explain(found, 1)
    assert (why.answer.id, why.effects[0].qualifier, why.effects[0].rank) == ("award", "winner", 1)
    assert why.support[0].closeness == pytest.approx(1.0)
