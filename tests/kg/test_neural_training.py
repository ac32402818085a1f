"""Training through the one loop: learning by heart, resuming, folders, and the commands."""

import json
import runpy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from tests.kg.neural_data import HEAT, dataset, new_model, random_statements

from hyperheat.cli.kg import evaluate, train
from hyperheat.kg import Questions, Statement, Statements
from hyperheat.kg.neural.decoder import MaskDecoder
from hyperheat.kg.neural.graph_encoders import NoEncoder
from hyperheat.kg.neural.labels import BpeLabels
from hyperheat.kg.neural.loss import BinaryLoss
from hyperheat.kg.neural.recipes import RECIPES, KgSettings
from hyperheat.kg.neural.stare import StareConfig, StareDecoder
from hyperheat.kg.neural.statement_model import ModelConfig
from hyperheat.kg.neural.trained_model import (
    ModelScorer,
    export_embeddings,
    load_model,
    save_model,
    scorer_for,
)
from hyperheat.kg.neural.training import KgJob, train_model
from hyperheat.kg.ranking import Protocol, rank
from hyperheat.kg.ranking import evaluate as evaluate_scorer
from hyperheat.nn.aggregate import CrossAttentionAggregate
from hyperheat.tensors.indices import to_tensors
from hyperheat.train import TrainSettings

COLLECTING = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "collect_kg.py"))
ALL = random_statements(40)
DATA = dataset(ALL[:30], ALL[30:35], ALL[35:])
FEW = random_statements(16, entities=10)
FEW_DATA = dataset(FEW[:12], FEW[12:14], FEW[14:])
QUICK = TrainSettings(lr=5e-3, max_steps=120, warmup=5, watch="mrr", mode="max", threads=1)
BY_HEART = KgSettings(
    model=ModelConfig(encoder=HEAT, decoder=MaskDecoder(layers=1, ff=32), entity_dropout=0.0),
    hide_asked=False,
    drop_statements=0.0,
    batch=32,
    train=QUICK,
)
MODELS = {
    "none": ModelConfig(encoder=NoEncoder(dim=16), decoder=MaskDecoder(layers=1, ff=32), entity_dropout=0.0),
    "heat": BY_HEART.model,
    "heat-crossatt": replace(BY_HEART.model, encoder=replace(HEAT, aggregate=CrossAttentionAggregate)),
    "stare": ModelConfig(
        encoder=StareConfig(dim=16, layers=1), decoder=StareDecoder(layers=1, ff=32), entity_dropout=0.0
    ),
}


def training_mrr(folder: Path) -> float:
    scorer = ModelScorer(load_model(folder))
    everyone = np.ones(len(FEW.entities), bool)
    return rank(scorer, FEW_DATA.train, known=FEW, candidates=everyone).metrics()["both"].mrr


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_a_small_graph_is_learnt_by_heart(model: ModelConfig, tmp_path: Path):
    outcome = train_model(replace(BY_HEART, model=model), FEW_DATA, tmp_path / "run")
    assert (outcome.ended_by, outcome.step) == ("max_steps", 120)
    assert training_mrr(tmp_path / "run" / "best") > 0.9


def test_the_binary_loss_learns_too(tmp_path: Path):
    train_model(replace(BY_HEART, loss=BinaryLoss(), candidates="all"), FEW_DATA, tmp_path / "run")
    assert training_mrr(tmp_path / "run" / "best") > 0.9


def test_values_of_qualifiers_can_be_learnt(tmp_path: Path):
    train_model(replace(BY_HEART, qualifier_questions=1.0), FEW_DATA, tmp_path / "run")
    with_one = FEW_DATA.train[FEW_DATA.train.num_qualifiers == 1]
    assert len(with_one) > 1
    scores = ModelScorer(load_model(tmp_path / "run" / "best")).logits(
        Questions(with_one, np.full(len(with_one), 2))
    )
    assert (scores.argmax(1) == with_one.value).all()


@pytest.mark.parametrize("model", ["none", "heat"])
def test_few_candidates_and_statements_per_batch_are_enough_to_learn(model: str, tmp_path: Path):
    settings = replace(BY_HEART, model=MODELS[model], negatives=3, answers=1, fan_out=2, batch=4)
    train_model(replace(settings, train=replace(QUICK, max_steps=300)), FEW_DATA, tmp_path / "run")
    assert training_mrr(tmp_path / "run" / "best") > 0.9


@pytest.mark.parametrize("model", ["none", "heat"])
def test_relations_can_be_learnt(model: str, tmp_path: Path):
    settings = replace(BY_HEART, model=MODELS[model], relation_questions=1.0)
    train_model(settings, FEW_DATA, tmp_path / "run")
    trained = load_model(tmp_path / "run" / "best")
    assert trained.practice.relations
    relations = np.ones(len(FEW.relations), bool)
    ranking = rank(ModelScorer(trained), FEW_DATA.train, known=FEW, candidates=relations, ask="relations")
    assert ranking.metrics()["relation"].mrr > 0.9
    assert training_mrr(tmp_path / "run" / "best") > 0.8  # while subjects and objects are not forgotten


@pytest.mark.parametrize("drawn", [{}, {"negatives": 3, "answers": 1, "fan_out": 2}], ids=["all", "drawn"])
def test_a_resumed_run_ends_with_the_same_bits(drawn: dict[str, int], tmp_path: Path):
    settings = replace(
        BY_HEART,
        hide_asked=True,
        drop_statements=0.3,
        qualifier_questions=0.5,
        relation_questions=0.5,
        **drawn,
    )
    short, whole = (replace(settings, train=replace(QUICK, max_steps=n)) for n in (7, 12))
    train_model(whole, DATA, tmp_path / "whole")
    train_model(replace(short, train=replace(short.train, schedule="constant")), DATA, tmp_path / "parts")
    train_model(whole, DATA, tmp_path / "parts", resume=True)
    one, other = (load_model(tmp_path / run / "best").model.state_dict() for run in ("whole", "parts"))
    for name, tensor in one.items():
        assert torch.equal(tensor, other[name]), name


def test_what_was_practised_is_kept_and_other_users_may_read_the_weights(tmp_path: Path):
    (tmp_path / "plain").touch()
    for share in (0.0, 0.5):
        run = tmp_path / f"run{share}"
        settings = replace(BY_HEART, qualifier_questions=share, train=replace(QUICK, max_steps=6))
        train_model(settings, DATA, run)
        assert load_model(run / "best").practice.values == (share > 0)
        written = [path for path in run.rglob("*") if path.is_file()]
        assert len([path for path in written if path.suffix == ".safetensors"]) == 5
        assert {path.stat().st_mode for path in written} == {(tmp_path / "plain").stat().st_mode}


def test_with_nothing_held_out_the_last_model_is_kept(tmp_path: Path):
    outcome = train_model(replace(BY_HEART, train=replace(QUICK, max_steps=9)), DATA, tmp_path / "run")
    assert outcome.best_step == 9
    assert load_model(tmp_path / "run" / "best").model.questions_seen == outcome.samples


def test_held_out_statements_choose_the_best_model(tmp_path: Path):
    settings = replace(BY_HEART, train_on="train", train=replace(QUICK, max_steps=9, ema=0.9))
    outcome = train_model(settings, DATA, tmp_path / "run")
    assert outcome.best is not None
    assert 0 < outcome.best < 1
    assert load_model(tmp_path / "run" / "best").statements == DATA.train


def test_asked_statements_are_hidden_from_the_encoder():
    job = KgJob(replace(BY_HEART, hide_asked=True, batch=10), DATA)
    batch = job.batches(0)[0]
    hidden = set(job.main_groups.statement[job.main_groups.answers(batch.main)[1]].tolist())
    assert 0 < len(hidden) < 35
    edges = job.load(batch).graph.plan.edges.offsets
    assert len(edges) - 2 == 35 - len(hidden)


def test_qualifiers_are_left_out_of_questions():
    def given(share: float) -> list[int]:
        job = KgJob(replace(BY_HEART, drop_qualifiers=share, qualifier_questions=1.0, batch=100), DATA)
        loaded = job.load(job.batches(0)[0])
        asked = loaded.main.tokens, loaded.qualifier.tokens
        return [len(tokens.entry) - 3 * len(tokens.blank) for tokens in asked]

    (all_given, _), (some, others), (none, same) = given(0.0), given(0.5), given(1.0)
    assert all_given > some > none == 0
    assert others == same > 0


def test_an_epoch_asks_every_question_once_and_a_share_of_the_qualifiers():
    job = KgJob(replace(BY_HEART, qualifier_questions=0.5, batch=10), DATA)
    batches = job.batches(3)
    assert sorted(np.concatenate([b.main for b in batches]).tolist()) == list(range(len(job.main_groups)))
    assert sum(len(b.qualifier) for b in batches) == len(job.trained.statements.value) // 2
    again = job.batches(3)
    assert all((a.main == b.main).all() for a, b in zip(batches, again, strict=True))
    assert any((a.main != b.main).any() for a, b in zip(batches[:-1], job.batches(4)[:-1], strict=True))


def test_labels_can_stand_instead_of_ids():
    labels = {"e0": "Zurich", "e1": "zurich", "r0": "located in"}
    for beside_ids in (True, False):
        config = replace(BY_HEART.model, labels=BpeLabels(tokens=300, beside_ids=beside_ids))
        job = KgJob(replace(BY_HEART, model=config), replace(DATA, labels=labels))
        model = job.trained.model
        assert model.entity_label is not None
        first = model.entity_label.first(model.entity, beside_ids=beside_ids)
        named = [name in labels for name in job.trained.names.entities]
        assert torch.equal(first[0], first[1]) == (not beside_ids)
        assert torch.equal(first[[not has for has in named]], model.entity[[not has for has in named]])
        relations = model.first_relations()
        assert torch.equal(relations[0], relations[len(relations) // 2]) == (not beside_ids)


def test_the_encoder_can_be_given_the_first_qualifiers_of_statements_alone():
    statements = DATA.train
    assert max(statements.num_qualifiers) > 1
    numbers = statements.qualifier_numbers()
    for number, owner in enumerate(np.repeat(np.arange(len(statements)), statements.num_qualifiers)):
        assert numbers[number] == number - statements.offsets[owner]
    torch.manual_seed(0)
    whole = KgJob(BY_HEART, DATA).trained.model
    cut = KgJob(replace(BY_HEART, model=replace(BY_HEART.model, most_qualifiers=1)), DATA).trained.model
    cut.load_state_dict(whole.state_dict())
    shortened = statements.with_qualifiers(numbers < 1)
    tables = [
        model.eval().encode(to_tensors(model.plan(read), "cpu")).entities
        for model, read in ((cut, statements), (whole, shortened), (whole, statements))
    ]
    assert torch.equal(tables[0], tables[1])
    assert not torch.equal(tables[0], tables[2])


def test_labels_give_equal_entities_equal_vectors(tmp_path: Path):
    labels = {"e0": "Zurich", "e1": "Zürich Nord", "r0": "located in"}
    settings = replace(
        BY_HEART,
        model=replace(BY_HEART.model, labels=BpeLabels(tokens=300)),
        train=replace(QUICK, max_steps=3),
    )
    train_model(settings, replace(DATA, labels=labels), tmp_path / "run")
    trained = load_model(tmp_path / "run" / "best")
    assert trained.names.labels == labels
    assert trained.model.entity_label is not None
    vectors = trained.model.entity_label()
    unlabelled = [name not in labels for name in trained.names.entities]
    assert (vectors.abs().sum(1) == 0).tolist() == unlabelled
    with pytest.raises(ValueError, match="there are no labels for BpeLabels to read"):
        KgJob(settings, DATA)


def test_a_folder_gives_back_the_model_and_refuses_others(tmp_path: Path):
    trained = new_model(DATA.train)
    save_model(trained, tmp_path)
    blank = np.ones(len(DATA.train), np.int64)
    expected = ModelScorer(trained).logits(Questions(DATA.train, blank))
    np.testing.assert_array_equal(
        ModelScorer(load_model(tmp_path)).logits(Questions(DATA.train, blank)), expected
    )
    (tmp_path / "names.json").write_text("{}")
    with pytest.raises(ValueError, match=r"names.json: not a file of a trained model"):
        load_model(tmp_path)
    with pytest.raises(ValueError, match=r"not the folder of a trained model: it has no config.json"):
        load_model(tmp_path / "elsewhere")


def test_a_model_is_evaluated_only_on_what_it_was_not_trained_on():
    trained = new_model(DATA.train)
    protocol = Protocol(train_on="train", evaluate_on="valid")
    evaluation = evaluate_scorer(DATA, lambda training: scorer_for(trained, training), protocol)
    assert evaluation.statements == 5
    with pytest.raises(ValueError, match="--train-on must name the splits"):
        evaluate_scorer(DATA, lambda training: scorer_for(trained, training))
    other = Statements.build([Statement("x", "y", "z")])
    with pytest.raises(ValueError, match="it knows 20 entities and 5 relations"):
        scorer_for(trained, other)


def test_embeddings_are_exported_with_their_ids(tmp_path: Path):
    trained = new_model(DATA.train)
    export_embeddings(trained, tmp_path / "x.safetensors")
    with safe_open(tmp_path / "x.safetensors", "numpy") as file:
        assert json.loads(file.metadata()["entities"]) == list(ALL.entities)
        assert file.get_tensor("entities").shape == (20, 16)
        assert file.get_tensor("relations").shape == (5, 16)
    export_embeddings(trained, tmp_path / "x.parquet")
    from pyarrow import parquet

    rows = parquet.read_table(tmp_path / "x.parquet").to_pylist()
    assert [row["id"] for row in rows] == [*ALL.entities, *ALL.relations]
    assert len(rows[0]["vector"]) == 16
    with pytest.raises(ValueError, match=r"expected a name that ends in .safetensors or .parquet"):
        export_embeddings(trained, tmp_path / "x.txt")


def test_every_recipe_can_be_built():
    for name, recipe in RECIPES.items():
        settings = recipe()
        labels = {"e0": "Zurich"} if isinstance(settings.model.labels, BpeLabels) else {}
        job = KgJob(settings, replace(DATA, labels=labels))
        loss, _ = job.loss(job.load(job.batches(0)[0]))
        loss.backward()
        unused = [n for n, p in job.model.named_parameters() if p.grad is None]
        assert unused == [], name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, split in DATA.splits.items():
        lines = [
            ",".join([s.subject, s.relation, s.object, *(x for pair in s.qualifiers for x in pair)])
            for s in split
        ]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_the_commands_train_and_evaluate(folder: Path, capsys: pytest.CaptureFixture[str]):
    quick = ("train.max_steps=4", "train.warmup=1", "train.threads=1")
    train(data=str(folder), out=folder / "run", recipe="smallest", set=quick)
    vectors = folder / "vectors.safetensors"
    evaluate(model=str(folder / "run" / "best"), data=str(folder), export=vectors, json=True)
    printed = capsys.readouterr().out
    shown = json.loads(printed)
    assert shown["protocol"]["name"] == "stare"
    assert shown["metrics"]["both"]["queries"] == 10
    assert vectors.exists()
    # the tool that makes the page of results reads the folder
    (folder / "run" / "eval-test.json").write_text(printed)
    ((run,),) = COLLECTING["read_rows"]([("heat", folder / "run")]).values()
    assert run.log[-1]["step"] == 4
    recipe, changes = COLLECTING["find_recipe"](RECIPES, run.settings)
    assert (recipe, sorted(changes)) == ("smallest", sorted(quick))


def test_two_processes_share_the_batches_of_one(folder: Path):
    few = ("train.max_steps=3", "train.warmup=1", "train.threads=1", "train.batches_per_step=2", "batch=8")
    drawn = ("negatives=4", "answers=1", "fan_out=2", "model.entity_dropout=0", "model.encoder.dropout=0")
    changes = (*few, *drawn, "model.decoder.dropout=0")
    train(data=str(folder), out=folder / "one", recipe="smallest", set=changes)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m"]
    command = ["hyperheat", "kg", "train", "--data", folder, "--out", folder / "two", "--recipe", "smallest"]
    subprocess.run([*torchrun, *command, "--set", *changes], check=True, capture_output=True)
    one, two = (load_model(folder / run / "best").model for run in ("one", "two"))
    assert int(two.questions_seen) == int(one.questions_seen) > 40
    assert two.entity.detach() == pytest.approx(one.entity.detach(), abs=1e-4)


@pytest.mark.parametrize(
    ("recipe", "assignments", "message"),
    [
        ("heet", (), "recipe: expected one of heat, "),
        ("heat", ("model.encoder.dims=4",), "dims"),
        ("heat", ("batch=many",), "batch: expected an int, got 'many'"),
        ("heat", ("drop_statements=2",), "drop_statements: expected a share from 0 to 1, got 2.0"),
        ("heat", ("fan_out=0",), "fan_out: expected at least 1, or none, got 0"),
        ("published-heat", ("negatives=10",), "negatives: must be none with BinaryLoss"),
        ("stare", ("fan_out=4",), "fan_out: must be none with StareConfig"),
        ("published-heat", ("qualifier_questions=0.5",), "must be 0 with StareDecoder"),
        ("heat", ("model.encoder.dim=30", "model.encoder.heads=3"), "expected a multiple of decoder.heads=4"),
    ],
)
def test_unknown_recipes_and_settings_are_refused(
    recipe: str, assignments: tuple[str, ...], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit):
        train(data=str(folder), out=folder / "run", recipe=recipe, set=assignments)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "export", "message"),
    [
        ("nowhere", None, "expected demo, heuristic or the folder of a trained model, got 'nowhere'"),
        (
            "heuristic",
            Path("x.parquet"),
            "--export: the heuristic has no vectors",
        ),
    ],
)
def test_what_cannot_be_evaluated_is_said(model, export, message, folder: Path, capsys):
    with pytest.raises(SystemExit):
        evaluate(model=model, data=str(folder), export=export)
    assert message in capsys.readouterr().err


def test_without_the_graph_the_encoder_reads_no_statement(tmp_path: Path):
    heat, none = new_model(ALL), new_model(ALL, NoEncoder(dim=16))
    questions = Questions(ALL[:5], np.ones(5, int))
    for trained, changes in ((heat, True), (none, False)):
        scores = [scorer_for(trained, ALL, without_graph=w).logits(questions) for w in (False, True)]
        assert np.array_equal(scores[0], scores[1]) != changes
    alone = replace(heat, statements=ALL[:0])
    np.testing.assert_array_equal(
        ModelScorer(alone).logits(questions), ModelScorer(heat, without_graph=True).logits(questions)
    )
