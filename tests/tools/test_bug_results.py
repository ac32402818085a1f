"""The page of results, from runs with fixed figures; `bugs/test_pipeline.py` checks that real runs are read as well."""

import json
import runpy
import shutil
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.detector.samples import all_samples

from hyperheat.bugs.corpus import CorpusSettings, build_corpus, source_packages
from hyperheat.bugs.metrics import Metrics
from hyperheat.bugs.mining import Reference
from hyperheat.bugs.mining.real_bugs import ProjectResult, RealBugs
from hyperheat.bugs.recipes import RECIPES
from hyperheat.configuration import override, to_dict
from hyperheat.files import file_sha256
from hyperheat.train.run import State

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "tests" / "bugs" / "corpus" / "project"
collecting = SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "collect_bugs.py")))
bugs_page = runpy.run_path(str(ROOT / "tools" / "write_results.py"))["bugs_page"]

TRAINING = ["train.max_steps=4", "train.warmup=1", "train.validate_every=2", "train.threads=1", "budget=3000"]
RUNS = {"heat": ["smallest"], "gnn": ["gnn", "model.dim=8", "model.subtokens=false"]}
JOINT = {"heat": {"heldout": 0.4375, "realbugs": 0.25}, "gnn": {"heldout": 0.3125, "realbugs": 0.125}}
PARAMETERS = {"heat": 12_345, "gnn": 12_346}
KEYS = {"row", "data", "joint", "loc", "repair", "false_alarms", "samples_seen", "parameters", "minutes"}


def write_json(path: Path, values: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values))


def metrics(samples: int, joint: float, *, false_alarms: float | None) -> dict[str, Any]:
    """Figures of some samples, of which a quarter has no bug unless all of them have one."""
    buggy = samples if false_alarms is None else samples - samples // 4
    shares = {"joint": joint, "loc": joint + 0.0625, "repair": joint + 0.125, "false_alarms": false_alarms}
    findings = {"found": joint + 0.0625, "quiet": joint / 2}
    return asdict(Metrics(samples=samples, buggy=buggy, unread=1, **shares, **findings, ece=0.0625, loss=1.5))


def evaluation(row: str, data: str) -> dict[str, Any]:
    """What `hyperheat bugs eval --json` prints after the name of the model and its weights."""
    joint, false_alarms = JOINT[row][data], 0.125 if data == "heldout" else None
    kinds = {"variable-misuse": 8, "literal": 4}
    return {
        "data": data,
        "split": "test",
        "tag": [],
        "without": [],
        "limit": None,
        "parameters": PARAMETERS[row],
        "all": metrics(16, joint, false_alarms=false_alarms),
        "by_kind": {kind: metrics(count, joint, false_alarms=None) for kind, count in kinds.items()},
        "curve": [{"threshold": 0.5, "precision": 0.75, "recall": 0.25}],
    }


def write_run(folder: Path, recipe: str, changes: list[str], corpus: Path) -> None:
    """The folder of a run that has ended, with evaluations of its model."""
    shards = json.loads((corpus / "manifest.json").read_text())["shards"]
    hashes = {split: [s["sha256"] for s in shards if s["split"] == split] for split in ("train", "valid")}
    job = to_dict(override(RECIPES[recipe](), [*TRAINING, *changes]))
    train = job.pop("train")
    described = {**job, "vocabulary": "0" * 64, "shards": hashes["train"], "valid": hashes["valid"]}
    write_json(folder / "settings.json", {"train": train, "job": described})
    state = State(step=4, epoch=1, samples=78.0, seconds=90.0, validated=4, best=0.5, best_step=2)
    write_json(folder / "checkpoints" / "step-000000004" / "training.json", {"state": asdict(state)})
    log = [
        {
            "step": step,
            "epoch": 0,
            "samples": 19.5 * step,
            "seconds": 20.0 * step,
            "valid": metrics(21, 0.5 / step, false_alarms=0.25),
        }
        for step in (2, 4)
    ]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in log))
    weights = folder / "best" / "model.safetensors"
    weights.parent.mkdir()
    weights.write_bytes(f"weights of {folder.name}".encode())
    model = {"model": str(folder / "best"), "weights_sha256": file_sha256(weights)}
    for data in ("heldout", "realbugs"):
        write_json(folder / f"eval-{data}.json", model | evaluation(folder.name, data))


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus, real fixes and two runs, as the commands of the page leave them."""
    work = tmp_path_factory.mktemp("results")
    build_corpus(source_packages(PROJECT), work / "corpus", CorpusSettings(clean=0.34), workers=1)
    fixes = RealBugs(work / "realbugs")
    reference = Reference.of({"repo": "owner/box", "sha": "1234567", "path": "a.py"})
    samples = [sample for sample in all_samples(every=9) if sample.kind != "clean"]
    fixes.write([reference], ProjectResult(samples=samples), with_clean=False)
    fixes.finish({"refs": "refs.jsonl.gz", "where": ["fix_like=true"], "with_clean": False}, {})
    for name, (recipe, *changes) in RUNS.items():
        write_run(work / name, recipe, changes, work / "corpus")
    return work


def arguments(work: Path, out: Path) -> list[str]:
    named = [f"--run=heat={work / 'heat'}", f"--extra=gnn={work / 'gnn'}"]
    data = ["--heldout", str(work / "corpus"), "--realbugs", str(work / "realbugs")]
    return [*named, *data, "--corpus-seconds", "2", "--out", str(out)]


@pytest.fixture(scope="module")
def out(work: Path) -> Path:
    """What was collected."""
    out = work / "out"
    out.mkdir()
    collecting.main(arguments(work, out))
    return out


def test_rows_are_the_figures_of_the_evaluations(out: Path):
    rows = json.loads((out / "bugs.json").read_text())
    assert [(row["row"], row["data"]) for row in rows] == [
        (name, data) for data in ("heldout", "realbugs") for name in RUNS
    ]
    assert all(set(row) == KEYS for row in rows)
    for row in rows:
        assert row["joint"] == JOINT[row["row"]][row["data"]]
        assert row["parameters"] == PARAMETERS[row["row"]]
        assert (row["samples_seen"], row["minutes"]) == (78, 1.3)
    assert {row["false_alarms"] for row in rows if row["data"] == "realbugs"} == {None}
    assert len({row["samples_seen"] for row in rows}) == 1  # the same batches for both encoders


def test_details_say_what_was_run(work: Path, out: Path):
    details = json.loads((out / "bugs-runs.json").read_text())
    heat, gnn = details["runs"]
    assert heat["recipe"] == "smallest"
    assert "budget=3000" in heat["set"]
    assert gnn["recipe"] == "gnn"
    assert "model.subtokens=false" in gnn["set"]
    assert override(RECIPES["gnn"](), gnn["set"]) == override(RECIPES["gnn"](), [*TRAINING, *RUNS["gnn"][1:]])
    assert heat["steps"] == 4
    assert [point["samples"] for point in heat["curve"]] == sorted({p["samples"] for p in heat["curve"]})
    assert len(heat["curve"]) == 2
    assert heat["best"] == {"step": 2, "samples": 39}
    manifest = json.loads((work / "corpus" / "manifest.json").read_text())
    made = sum(shard["samples"] for shard in manifest["shards"])
    assert details["corpus"]["samples_per_second"] == made / 2
    assert details["corpus"]["options"] == ["--clean 0.34"]
    assert details["realbugs"]["repositories"] == 1


def test_pictures_are_small(out: Path):
    for name in collecting.PICTURES:
        content = (out / name).read_bytes()
        assert content.startswith(b"\x89PNG")
        assert len(content) < 200_000


def test_the_page_shows_the_figures_and_the_commands(work: Path, out: Path):
    speed = [{"what": "making", "encoder": None, "per_second": 100.0}]
    speed += [{"what": what, "encoder": "heat", "per_second": 7.5} for what in ("training", "inference")]
    (out / "bugs-speed.json").write_text(json.dumps(speed))
    page = bugs_page(out)
    assert "| heat | **43.8 %** |" in page
    assert "hyperheat bugs corpus --packages docs/results/bugs-packages.txt --out CORPUS --clean 0.34" in page
    assert "hyperheat bugs realise refs.jsonl.gz --repos REPOS --out REALBUGS --where fix_like=true\n" in page
    assert "hyperheat bugs eval --model RUNS/gnn/best --data REALBUGS --json > RUNS/gnn/eval-realbugs" in page
    assert "--run heat=RUNS/heat --extra gnn=RUNS/gnn --heldout CORPUS --realbugs REALBUGS" in page
    assert "| model | HeatConfig | GnnConfig |" in page
    assert "| heat | 7.5 | 7.5 |" in page
    assert str(work) not in page
    assert "| samples | 39 | 21 | 17 |" in page  # train, valid, test


@pytest.fixture
def other(work: Path, tmp_path: Path) -> Path:
    """A copy of a run that a test may change."""
    return shutil.copytree(work / "gnn", tmp_path / "other")


def change(path: Path, *keys: str | int, value: object) -> None:
    """Put a value into a JSON file."""
    content = json.loads(path.read_text())
    inner = content
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    path.write_text(json.dumps(content))


def refusal(work: Path, other: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What is said of a run that is not collected; nothing is written."""
    with pytest.raises(SystemExit):
        collecting.main([*arguments(work, other.parent), f"--run=other={other}"])
    assert not (other.parent / "bugs.json").exists()
    return capsys.readouterr().err


def test_runs_on_other_data_are_refused(work: Path, other: Path, capsys: pytest.CaptureFixture[str]):
    change(other / "settings.json", "job", "shards", 0, value="0" * 64)
    assert "other: expected a run on the corpus of --heldout" in refusal(work, other, capsys)


def test_evaluations_on_other_samples_are_refused(
    work: Path, other: Path, capsys: pytest.CaptureFixture[str]
):
    change(other / "eval-heldout.json", "limit", value=2)
    assert "other: eval-heldout.json: expected the test samples of" in refusal(work, other, capsys)


def test_evaluations_of_other_weights_are_refused(
    work: Path, other: Path, capsys: pytest.CaptureFixture[str]
):
    shutil.copy(work / "heat" / "eval-realbugs.json", other / "eval-realbugs.json")
    message = refusal(work, other, capsys)
    assert "eval-realbugs.json: expected an evaluation of the model in" in message
    assert "evaluate it again" in message


def test_runs_that_have_not_ended_are_refused(work: Path, other: Path, capsys: pytest.CaptureFixture[str]):
    change(other / "settings.json", "train", "max_steps", value=5)
    assert "expected a run that has ended, got one that stands at step 4" in refusal(work, other, capsys)


def test_models_of_other_sizes_are_not_compared(work: Path, other: Path, capsys: pytest.CaptureFixture[str]):
    change(other / "eval-heldout.json", "parameters", value=1_000_000)
    assert "other: expected at most 10 % more parameters than heat has, " in refusal(work, other, capsys)
    collecting.main([*arguments(work, other.parent), f"--extra=other={other}"])
    details = json.loads((other.parent / "bugs-runs.json").read_text())
    assert [(run["row"], run["extra"]) for run in details["runs"]] == [
        *(("heat", False), ("gnn", True), ("other", True)),
    ]


def test_models_of_nearly_one_size_are_compared():
    collecting.check_parameters({"one": 100, "other": 110})
    with pytest.raises(
        ValueError, match="other: expected at most 10 % more parameters than one has, 100, got 111"
    ):
        collecting.check_parameters({"one": 100, "other": 111})


def test_a_run_that_was_not_evaluated_is_named(
    work: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert "settings.json: expected a JSON file of a run, got none" in refusal(
        work, tmp_path / "none", capsys
    )


@pytest.mark.parametrize(
    ("run", "message"),
    [("heat", "expected NAME=DIR, got 'heat'"), ("gnn=elsewhere", "expected every name once")],
)
def test_runs_have_names_of_their_own(
    work: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], run: str, message: str
):
    with pytest.raises(SystemExit):
        collecting.main([*arguments(work, tmp_path), "--run", run])
    assert message in capsys.readouterr().err
