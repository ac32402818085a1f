"""`kg.fit` and what its model offers: from data to answers, vectors and a folder."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from tests.kg.neural_data import dataset, names_of, new_model, random_statements

from hyperheat import kg
from hyperheat.kg import FittedModel, Statement, Statements
from hyperheat.kg.demo import DATA
from hyperheat.kg.neural.graph_encoders import NoEncoder
from hyperheat.kg.neural.trained_model import TrainedModel
from hyperheat.kg.statements import append
from hyperheat.kg.temperature import Temperature
from hyperheat.tensors.indices import to_tensors

ALL = random_statements(80, entities=15)
FAST = ["train.max_steps=3", "train.warmup=1", "train.threads=1", "model.encoder.dim=16"]


@pytest.fixture(scope="module")
def model() -> FittedModel:
    return kg.fit(ALL, recipe="smallest", set=FAST, hold_out=0.2)


def test_held_out_statements_are_ranked_by_the_default_protocol(model: FittedModel):
    result = model.evaluate()
    assert (result.protocol.train_on, result.protocol.evaluate_on) == ("train+valid", "test")
    assert result.statements + len(model.statements) == 80
    assert str(result).splitlines()[0].startswith(f"the statements: {result.statements} statements")
    assert list(model.evaluate(by="degree").metrics())[:3] == ["both", "object", "subject"]
    relations = model.evaluate(protocol=kg.Protocol(ask="relations"))
    assert next(iter(relations.metrics())) == "relation"


def test_validation_statements_are_ranked_if_they_were_held_out():
    data = dataset(ALL[:60], ALL[60:], ALL[:0])
    held_out = kg.fit(data, recipe="smallest", set=[*FAST, "train_on=train"])
    assert held_out.evaluate().protocol.evaluate_on == "valid"
    with pytest.raises(ValueError, match=r"nothing of made up was held out; fit with hold_out=0\.1"):
        kg.fit(data, recipe="smallest", set=FAST).evaluate()


def test_frames_files_and_statements_give_the_same_model(tmp_path: Path):
    lines = (DATA / "train.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "facts.csv").write_text("".join(lines[:41]), encoding="utf-8")
    frame = pd.read_csv(tmp_path / "facts.csv", dtype=str)
    for name in ("one", "two"):
        kg.fit(
            frame if name == "one" else tmp_path / "facts.csv",
            recipe="smallest",
            set=FAST,
            out=tmp_path / name,
        )
    one, two = (kg.load(tmp_path / name / "best") for name in ("one", "two"))
    assert one.statements == two.statements
    np.testing.assert_array_equal(one.embeddings().entities, two.embeddings().entities)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (3, "data: expected a path, statements or a data frame, got int"),
        ({"h": [], "r": [], "t": []}, "data: expected at least one statement, got none"),
        ("nowhere.csv", "nowhere.csv: no such file or folder"),
    ],
)
def test_what_cannot_be_fitted_is_said(data, message):
    with pytest.raises(ValueError, match=message):
        kg.fit(data)


def test_labels_are_given_as_a_mapping_or_a_file(tmp_path: Path):
    (tmp_path / "labels.tsv").write_text("e1\tfirst\n")
    for labels in ({"e1": "first"}, tmp_path / "labels.tsv"):
        labelled = kg.fit(ALL, recipe="smallest", set=FAST, labels=labels)
        assert labelled.entities.label(labelled.entities.find("first")) == "first"


def test_neighbours_are_nearest_by_cosine(model: FittedModel):
    vectors = model.embeddings()
    assert vectors.entities.shape == (len(ALL.entities), 16)
    assert vectors.relations.shape == (len(ALL.relations), 16)
    unit = torch.nn.functional.normalize(torch.as_tensor(vectors.entities))
    index = vectors.entity_names.index("e3")
    expected = (unit @ unit[index]).tolist()
    del expected[index]
    found = model.neighbours("E3", k=5)
    assert [n.similarity for n in found] == pytest.approx(sorted(expected, reverse=True)[:5], abs=1e-5)
    assert "e3" not in [n.id for n in found]
    assert len(model.neighbours("e3", k=99)) == len(ALL.entities) - 1
    with pytest.raises(ValueError, match="unknown entity 'e333'"):
        model.neighbours("e333")


def test_a_saved_model_answers_alike(model: FittedModel, tmp_path: Path):
    model.save(tmp_path / "model")
    again = kg.load(tmp_path / "model")
    frame = pd.DataFrame({"head": ["e1", "e2"], "relation": ["r1", "r2"]})
    pd.testing.assert_frame_equal(model.predict(frame, k=3), again.predict(frame, k=3))
    assert repr(again) == repr(model)
    with pytest.raises(ValueError, match="a model that was loaded needs the data to evaluate on"):
        again.evaluate()
    with pytest.raises(ValueError, match="the model was not trained on made up"):
        again.evaluate(dataset(ALL[:9], ALL[:0], ALL[9:]))


def test_a_saved_model_keeps_its_temperature(tmp_path: Path):
    temperature = Temperature(temperature=2.0, questions=3, error_before=0.2, error=0.1)
    FittedModel(new_model(ALL), temperature=temperature).save(tmp_path)
    sharp, flat = FittedModel(new_model(ALL)), kg.load(tmp_path)
    assert flat.ask("e1 | r1 | ?")[0].probability != sharp.ask("e1 | r1 | ?")[0].probability


def test_new_statements_are_known_and_change_vectors(model: FittedModel):
    new = [Statement("e1", "r1", f"e{i}", (("r2", "e0"),)) for i in range(8, 15)]
    assert not set(new) & set(ALL)
    more = model.with_statements(new)
    assert more.complete("e1", "r1", None, {"r2": "e0"}, k=99)[0].known == "known"
    assert not np.array_equal(more.embeddings().entities, model.embeddings().entities)
    assert len(more.statements) == len(model.statements) + 7
    assert len(model.with_statements(model.statements).statements) == len(model.statements)
    with pytest.raises(ValueError, match="was not trained on the relations r77"):
        model.with_statements([Statement("e1", "r77", "e2")])
    with pytest.raises(
        ValueError, match=r"no vector for entities .* stranger; train it with model\.unknown above 0"
    ):
        model.with_statements([Statement("e1", "r1", "stranger")])


def test_the_heuristic_takes_new_statements_too():
    statements = Statements.build([Statement("a", "r", "b")])
    more = kg.Completer(kg.load("heuristic", data="demo")._model, statements, {})
    assert more.with_statements([Statement("c", "new", "d")]).ask("c | new | ?")[0].id == "d"


def inductive_model() -> FittedModel:
    """A model with a vector for unknown entities, whose weights are far from their simple beginnings."""
    torch.manual_seed(0)
    config = replace(new_model(ALL).config, unknown=0.5)
    trained = TrainedModel.new(config, names_of(ALL), ALL)
    with torch.no_grad():
        for parameter in trained.model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    trained.model.eval()
    return FittedModel(trained)


def test_entities_never_seen_are_told_apart_by_their_statements_alone(tmp_path: Path):
    known = inductive_model()
    new = [
        Statement("new1", "r1", "e1", (("r2", "e4"),)),
        Statement("new2", "r1", "e1", (("r2", "e4"),)),
        Statement("new3", "r1", "e2", (("r2", "e4"),)),
    ]
    more = known.with_statements(new)
    vectors = dict(zip(more.entities.names, more.embeddings().entities, strict=True))
    np.testing.assert_allclose(vectors["new1"], vectors["new2"], rtol=1e-5, atol=1e-6)
    assert np.abs(vectors["new1"] - vectors["new3"]).max() > 1e-3
    assert more.entities.names[: len(ALL.entities)] == ALL.entities
    assert more.ask("new1 | r1 | ?")[0].id == "e1"
    more.save(tmp_path)
    np.testing.assert_array_equal(kg.load(tmp_path).embeddings().entities, more.embeddings().entities)


def test_new_entities_are_answered_for_by_what_their_statements_say():
    def person(i: int) -> list[Statement]:
        return [Statement(f"person{i}", relation, f"place{i % 8}") for relation in ("lives in", "works in")]

    people = Statements.build(s for i in range(48) for s in person(i))
    settings = [
        "model.unknown=0.2",
        "model.entity_dropout=0.0",
        "model.encoder.dropout=0.0",
        "model.decoder.dropout=0.0",
    ]
    settings += [
        "loss.smoothing=0.0",
        "batch=32",
        "train.schedule=constant",
        "train.ema=0.98",
        "train.max_steps=250",
    ]
    fitted = kg.fit(people, recipe="smallest", set=[*settings, "train.threads=1"])
    newcomers = fitted.with_statements(person(i)[0] for i in range(100, 116))
    found = newcomers.predict(
        {"head": [f"person{i}" for i in range(100, 116)], "relation": ["works in"] * 16}
    )
    right = sum(answer == f"place{i % 8}" for i, answer in zip(range(100, 116), found["answer"], strict=True))
    assert right >= 12, right  # two by chance


def test_an_unknown_entity_is_encoded_as_a_known_one_whose_id_was_replaced():
    known = inductive_model()
    new = Statement("new1", "r1", "e1", (("r2", "e4"),))
    more = known.with_statements([new])
    # The same by hand: an entity that is in the table from the beginning, with the vector of unknown entities as its id.
    statements = append(ALL, [new])
    by_hand = TrainedModel.new(known.trained.config, names_of(statements), statements)
    weights = dict(known.trained.model.state_dict())
    assert known.trained.model.unknown is not None
    weights["entity"] = torch.cat([known.trained.model.entity, known.trained.model.unknown]).detach()
    by_hand.model.load_state_dict(weights)
    by_hand.model.eval()
    np.testing.assert_allclose(
        more.embeddings().entities, FittedModel(by_hand).embeddings().entities, rtol=1e-5, atol=1e-6
    )


def test_training_replaces_ids_by_the_vector_of_unknown_entities():
    model = inductive_model().trained.model
    graph = to_tensors(model.plan(ALL), "cpu")

    def touched() -> tuple[int, float]:
        """How many ids have a gradient, and the size of that of the unknown vector."""
        model.zero_grad()
        model.encode(graph).entities.square().sum().backward()
        assert model.entity.grad is not None
        grad = None if model.unknown is None else model.unknown.grad
        return int((model.entity.grad.abs().sum(1) > 0).sum()), 0.0 if grad is None else float(
            grad.abs().sum()
        )

    torch.manual_seed(1)
    model.train()
    ids, unknown = touched()
    assert 0 < ids < len(ALL.entities)
    assert unknown > 0
    model.eval()
    assert touched() == (len(ALL.entities), 0.0)


def test_unknown_entities_need_an_encoder():
    with pytest.raises(ValueError, match="unknown: must be 0 without an encoder"):
        kg.fit(ALL, recipe="no-encoder", set=["model.unknown=0.5"])
    without = FittedModel(new_model(ALL, NoEncoder(dim=16)))
    with pytest.raises(
        ValueError, match="without an encoder cannot tell new entities from their statements: who"
    ):
        without.with_statements([Statement("who", "r1", "e1")])
