"""The page of results from runs in miniature: training and evaluation by the real commands."""

import io
import json
import runpy
import shutil
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.kg.neural_data import random_statements

from hyperheat.cli.kg import evaluate, train

ROOT = Path(__file__).parents[2]
collecting = SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "collect_kg.py")))
kg_page = runpy.run_path(str(ROOT / "tools" / "write_results.py"))["kg_page"]

TRAINING = ("train.max_steps=3", "train.warmup=1", "train.log_every=1", "train.threads=1")
RUNS = {"heat": 0, "heat again": 1}
KEYS = ["row", "mrr", "h1", "h10", "protocol", "minutes", "seeds"]


def printed(model: str, data: Path, **options: bool) -> str:
    """What an evaluation prints as JSON."""
    with redirect_stdout(io.StringIO()) as shown:
        evaluate(model=model, data=str(data), json=True, **options)  # pyright: ignore[reportArgumentType]
    return shown.getvalue()


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data, two runs that differ in the seed, and the heuristic, as the commands of the page leave them."""
    work = tmp_path_factory.mktemp("results")
    data = work / "data"
    data.mkdir()
    every = random_statements(40)
    for name, split in {"train": every[:30], "valid": every[30:35], "test": every[35:]}.items():
        lines = (
            [s.subject, s.relation, s.object, *(x for pair in s.qualifiers for x in pair)] for s in split
        )
        (data / f"{name}.txt").write_text("".join(",".join(line) + "\n" for line in lines))
    for name, seed in RUNS.items():
        run, settings = work / name, (*TRAINING, f"train.seed={seed}")
        train(data=str(data), out=run, recipe="smallest", set=settings)
        (run / "eval-test.json").write_text(printed(str(run / "best"), data))
    (work / "heuristic").mkdir()
    (work / "heuristic" / "eval-test.json").write_text(printed("heuristic", data))
    (work / "heuristic" / "eval-fresh.json").write_text(printed("heuristic", data, without_leaks=True))
    return work


@pytest.fixture(scope="module")
def out(work: Path) -> Path:
    """What was collected."""
    out = work / "out"
    out.mkdir()
    runs = [f"--run=heat={work / name}" for name in RUNS]
    collecting.main([*runs, "--heuristic", str(work / "heuristic"), "--out", str(out)])
    return out


def test_rows_are_means_over_seeds(work: Path, out: Path):
    rows = json.loads((out / "kg.json").read_text())
    assert [(row["row"], row["protocol"], row["seeds"]) for row in rows] == [
        ("heuristic", "StarE's", 0),
        ("heat", "StarE's", 2),
        ("heuristic", "StarE's; without leaks", 0),
    ]
    assert all(list(row) == KEYS for row in rows)
    both = [json.loads((work / name / "eval-test.json").read_text())["metrics"]["both"] for name in RUNS]
    assert rows[1]["mrr"] == pytest.approx((both[0]["mrr"] + both[1]["mrr"]) / 2, abs=1e-4)
    assert rows[0]["minutes"] == 0


def test_details_say_what_was_run_and_asked(out: Path):
    details = json.loads((out / "kg-runs.json").read_text())
    (run,) = details["runs"]
    assert (run["recipe"], run["seeds"], run["steps"]) == ("smallest", [0, 1], 3)
    assert set(run["set"]) == set(TRAINING)
    assert [point["samples"] for point in run["curve"]] == sorted(p["samples"] for p in run["curve"])
    protocol = details["protocols"]["StarE's"]
    assert (protocol["statements"], protocol["candidate_set"], protocol["options"]) == (5, "main", [])
    assert details["protocols"]["StarE's; without leaks"]["options"] == ["--without-leaks"]
    assert details["evaluations"]["heat"]["StarE's"]["mrr_deviation"] >= 0
    assert (out / "kg-loss.png").read_bytes().startswith(b"\x89PNG")


def test_the_page_shows_the_figures_and_the_commands(work: Path, out: Path):
    speed = [
        {"encoder": "heat", "seconds_per_epoch": 30.5, "speedup_over_naive": 3.25, "with_memory_kept": 2.5}
    ]
    rows, details = (json.loads((out / f"{name}.json").read_text()) for name in ("kg", "kg-runs"))
    page = kg_page(rows, details, speed, [speed[0] | {"speedup_over_naive": 4.5}])
    assert f"| heat | **{rows[1]['mrr']:.3f}** ± " in page
    assert "Filter key: entity, relation and all qualifiers." in page
    assert "| object | 5 | " in page
    assert "| heat | 30.5 | **3.25x** | 2.50x | 30.5 | **4.50x** | 2.50x |" in page
    assert "paper: HEAT" not in page  # other data than the paper's
    assert f"hyperheat kg train --recipe smallest --data {work / 'data'} --out RUNS/heat-1 --set" in page
    assert "--json > RUNS/heuristic/eval-0.json" in page
    assert (
        "collect_kg.py --heuristic RUNS/heuristic --run 'heat=RUNS/heat-0' --run 'heat=RUNS/heat-1'" in page
    )


def test_the_paper_stands_beside_figures_of_its_data(out: Path):
    rows, details = (json.loads((out / f"{name}.json").read_text()) for name in ("kg", "kg-runs"))
    details["protocols"]["StarE's"]["dataset"] = "wd50k_100"
    assert "| paper: HEAT, max | 0.666 ± 0.003 | 0.605 ± 0.004 |" in kg_page(rows, details, [], [])


def test_protocols_are_named_by_what_differs_from_stare():
    protocol = {
        "train_on": "train",
        "evaluate_on": "valid",
        "filter_key": "triple",
        "candidates": "training",
        "without_leaks": True,
    }
    assert collecting.protocol_options(protocol) == [
        *("--train-on train", "--on valid", "--filter triple"),
        *("--candidates training", "--without-leaks"),
    ]
    assert collecting.protocol_name(protocol) == (
        "StarE's; train on train; evaluate on valid; filter key triple; candidates training; without leaks"
    )


def refusal(capsys: pytest.CaptureFixture[str], out: Path, *arguments: str) -> str:
    with pytest.raises(SystemExit):
        collecting.main([*arguments, "--out", str(out)])
    assert not (out / "kg.json").exists()
    return capsys.readouterr().err


def test_runs_of_one_row_differ_in_the_seed_alone(
    work: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    same = [f"--run=heat={work / 'heat'}"] * 2
    assert "heat: expected runs that differ in the seed alone" in refusal(capsys, tmp_path, *same)


@pytest.mark.parametrize(
    ("file", "keys", "value", "message"),
    [
        ("settings.json", ("train", "max_steps"), 9, "expected a run that has ended, got one that stands at step 3"),
        ("settings.json", ("job", "statements"), "other", "other: expected a run on the statements of the others"),
        ("eval-test.json", ("weights_sha256",), "0" * 64, "eval-test.json: expected an evaluation of the model in"),
        ("eval-test.json", ("sha256",), "other", "other: protocol StarE's: expected {"),
    ],
)  # fmt: skip
def test_what_does_not_belong_together_is_refused(
    file: str, keys: tuple[str, ...], value: object, message: str, work: Path, tmp_path: Path, capsys
):
    other = shutil.copytree(work / "heat again", tmp_path / "other")
    content = json.loads((other / file).read_text())
    *parts, last = keys
    inner = content
    for part in parts:
        inner = inner[part]
    inner[last] = value
    (other / file).write_text(json.dumps(content))
    runs = (f"--run=heat={work / 'heat'}", f"--run=other={other}")
    assert message in refusal(capsys, tmp_path, *runs)


def test_a_run_without_evaluations_is_named(work: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    ignored = shutil.ignore_patterns("eval-*")
    other = shutil.copytree(work / "heat", tmp_path / "other", ignore=ignored)
    assert "expected evaluations such as eval-test.json, got none" in refusal(
        capsys, tmp_path, f"--run=heat={other}"
    )
