"""The page of results, from runs with fixed figures; `test_neural_training.py` checks that real runs are read as well."""

import json
import runpy
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hyperheat.configuration import override, to_dict
from hyperheat.files import file_sha256
from hyperheat.kg import Protocol
from hyperheat.kg.neural.recipes import RECIPES
from hyperheat.kg.ranking import STARE, RankEvaluation, Ranking
from hyperheat.train.run import State

ROOT = Path(__file__).parents[2]
collecting = SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "collect_kg.py")))
kg_page = runpy.run_path(str(ROOT / "tools" / "write_results.py"))["kg_page"]

TRAINING = ("train.max_steps=3", "train.warmup=1", "train.log_every=1", "train.threads=1")
RANKS = {
    "heat": [[1, 2, 3, 4, 5], [1, 1, 2, 10, 20]],
    "heat again": [[1, 1, 3, 4, 6], [1, 2, 2, 8, 20]],
    "heuristic": [[2, 2, 3, 40, 5.5], [1, 9, 2, 10, 20]],
}
KEYS = ["row", "mrr", "h1", "h10", "protocol", "minutes", "seeds"]


def write_json(path: Path, values: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values))


def evaluation(name: str, protocol: Protocol = STARE) -> dict[str, Any]:
    """What `hyperheat kg eval --json` prints after the name of the model and its weights."""
    ranks = np.array(RANKS[name], float)
    ranking = Ranking(ranks=ranks, answers=np.zeros((2, 5), np.int64), statement=np.arange(5), tied=1)
    qualifiers = np.broadcast_to([0, 1, 1, 2, 0], ranks.shape)
    made = RankEvaluation(
        protocol=protocol,
        dataset="data",
        sha256="5" * 64,
        statements=5,
        candidates=20,
        ranking=ranking,
        groups={
            "0 qualifiers": qualifiers == 0,
            "1 qualifier": qualifiers == 1,
            "2 qualifiers": qualifiers == 2,
        },
    )
    return made.to_json()


def write_run(folder: Path, seed: int) -> None:
    """The folder of a run that has ended, with an evaluation of its model."""
    settings = override(RECIPES["smallest"](), [*TRAINING, f"train.seed={seed}"])
    settings = replace(settings, train=replace(settings.train, watch="questions"))
    job = to_dict(settings)
    started = {"train": job.pop("train"), "job": {**job, "statements": "3" * 64, "tokenizer": "0" * 64}}
    write_json(folder / "settings.json", started)
    state = State(step=3, epoch=3, samples=180.0, seconds=90.0, validated=3, best=180.0, best_step=3)
    write_json(folder / "checkpoints" / "step-000000003" / "training.json", {"state": asdict(state)})
    progress = {"epoch": 1, "seconds": 30.0}
    log = [{"step": i, "samples": 60.0 * i, "loss": 3.0 / i, "lr": 1e-3, **progress} for i in (1, 2, 3)]
    log.append({"step": 3, "epoch": 3, "samples": 180.0, "seconds": 90.0, "valid": {"questions": 180.0}})
    (folder / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in log))
    weights = folder / "best" / "model.safetensors"
    weights.parent.mkdir()
    weights.write_bytes(f"weights of seed {seed}".encode())
    model = {"model": str(folder / "best"), "weights_sha256": file_sha256(weights), "parameters": 1_234}
    write_json(folder / "eval-test.json", model | evaluation(folder.name))


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs that differ in the seed, and the heuristic, as the commands of the page leave them."""
    work = tmp_path_factory.mktemp("results")
    write_run(work / "heat", 0)
    write_run(work / "heat again", 1)
    model = {"model": "heuristic", "weights_sha256": None, "parameters": 0}
    write_json(work / "heuristic" / "eval-test.json", model | evaluation("heuristic"))
    fresh = evaluation("heuristic", Protocol(without_leaks=True))
    write_json(work / "heuristic" / "eval-fresh.json", model | fresh)
    return work


@pytest.fixture(scope="module")
def out(work: Path) -> Path:
    """What was collected."""
    out = work / "out"
    out.mkdir()
    runs = [f"--run=heat={work / name}" for name in ("heat", "heat again")]
    collecting.main([*runs, "--heuristic", str(work / "heuristic"), "--out", str(out)])
    return out


def test_rows_are_means_over_seeds(out: Path):
    rows = json.loads((out / "kg.json").read_text())
    assert [(row["row"], row["protocol"], row["seeds"]) for row in rows] == [
        ("heuristic", "StarE's", 0),
        ("heat", "StarE's", 2),
        ("heuristic", "StarE's; without leaks", 0),
    ]
    assert all(list(row) == KEYS for row in rows)
    both = [(1 / np.array(RANKS[name])).mean() for name in ("heat", "heat again")]
    assert rows[1]["mrr"] == pytest.approx((both[0] + both[1]) / 2, abs=1e-4)
    assert (rows[0]["minutes"], rows[1]["minutes"]) == (0, 1.5)


def test_details_say_what_was_run_and_asked(out: Path):
    details = json.loads((out / "kg-runs.json").read_text())
    (run,) = details["runs"]
    assert (run["recipe"], run["seeds"], run["steps"]) == ("smallest", [0, 1], 3)
    assert set(run["set"]) == set(TRAINING)
    assert run["curve"] == [{"samples": 60 * i, "loss": 3 / i} for i in (1, 2, 3)]
    protocol = details["protocols"]["StarE's"]
    assert (protocol["statements"], protocol["candidate_set"], protocol["options"]) == (5, "stare", [])
    assert details["protocols"]["StarE's; without leaks"]["options"] == ["--without-leaks"]
    both = [(1 / np.array(RANKS[name])).mean() for name in ("heat", "heat again")]
    deviation = details["evaluations"]["heat"]["StarE's"]["mrr_deviation"]
    assert deviation == pytest.approx(abs(both[0] - both[1]) / 2**0.5)
    assert (out / "kg-loss.png").read_bytes().startswith(b"\x89PNG")


def test_the_page_shows_the_figures_and_the_commands(out: Path):
    speed = [
        {"encoder": "heat", "seconds_per_epoch": 30.5, "speedup_over_naive": 3.25, "with_memory_kept": 2.5}
    ]
    rows, details = (json.loads((out / f"{name}.json").read_text()) for name in ("kg", "kg-runs"))
    growth = [
        {
            "recipe": "heat-large",
            "statements": 10_000,
            "entities": 2_000,
            "training_ms_per_question": 0.314,
            "training_growth": 2.51,
            "training_peak_mb": 700,
            "encoding_s": 0.4,
            "answering_ms_per_question": 0.2,
            "answering_growth": None,
            "peak_mb": 1_234,
        }
    ]
    page = kg_page(rows, details, speed, [speed[0] | {"speedup_over_naive": 4.5}], growth, growth)
    assert page.count("| heat-large | 10,000 | 2,000 | 0.31 | 2.5x | 0.4 | 0.20 |  | 1,234 |") == 2
    assert f"| heat | **{rows[1]['mrr']:.3f}** ± " in page
    assert "Filter key: entity, relation and all qualifiers." in page
    assert "| object | 5 | " in page
    assert "| heat | 30.5 | **3.25x** | 2.50x | 30.5 | **4.50x** | 2.50x |" in page
    assert "paper: HEAT" not in page  # other data than the paper's
    assert "hyperheat kg train --recipe smallest --data data --out RUNS/heat-1 --set" in page
    assert "--json > RUNS/heuristic/eval-0.json" in page
    assert (
        "collect_kg.py --heuristic RUNS/heuristic --run 'heat=RUNS/heat-0' --run 'heat=RUNS/heat-1'" in page
    )


def test_the_paper_stands_beside_figures_of_its_data(out: Path):
    rows, details = (json.loads((out / f"{name}.json").read_text()) for name in ("kg", "kg-runs"))
    details["protocols"]["StarE's"]["dataset"] = "wd50k_100"
    assert "| paper: HEAT, max | 0.666 ± 0.003 | 0.605 ± 0.004 |" in kg_page(rows, details, [], [], [], [])


def test_evaluations_of_earlier_versions_have_todays_names():
    earlier = {"dataset": "wd50k_100", "protocol": {**asdict(STARE), "candidates": "main"}}
    assert collecting._named_as_now(earlier)["protocol"] == asdict(STARE)
    elsewhere = {**earlier, "dataset": "jf17k"}
    assert collecting._named_as_now(elsewhere) == elsewhere


def test_a_dump_of_a_hundred_millions_is_projected(out: Path):
    rows, details = (json.loads((out / f"{name}.json").read_text()) for name in ("kg", "kg-runs"))
    rates = {"core_seconds": 30.0, "statements_per_s": 25_000, "mb_per_s": 20.5, "dump_mb": 800}
    sizes = [
        {"statements": 10**6, "entities": 2 * 10**5, "peak_mb": 400},
        {"statements": 11 * 10**6, "entities": 2 * 10**6, "peak_mb": 2_400},
    ]
    page = kg_page(rows, details, [], [], [], [], imported=[{**size, **rates} for size in sizes])
    assert "| 1,000,000 | 200,000 | 800 | 30.0 | 25,000 | 20.5 | 400 |" in page
    assert "a statement takes at most 0.20 KB" in page
    assert "about\n20 GB and 1.1 hours of one core" in page


def test_rows_are_added_to_those_of_before(work: Path, out: Path, tmp_path: Path):
    for file in out.iterdir():
        shutil.copy(file, tmp_path)
    collecting.main([f"--run=again={work / 'heat again'}", "--add", "--out", str(tmp_path)])
    before, after = (json.loads((folder / "kg.json").read_text()) for folder in (out, tmp_path))
    assert [row["row"] for row in after] == ["heuristic", "heat", "again", "heuristic"]
    assert [row for row in after if row["row"] != "again"] == before
    collecting.main([f"--run=heat={work / 'heat again'}", "--add", "--out", str(tmp_path)])
    rows, details = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("kg", "kg-runs"))
    assert [(row["row"], row["seeds"]) for row in rows[:3]] == [("heuristic", 0), ("again", 1), ("heat", 1)]
    assert [run["row"] for run in details["runs"]] == ["again", "heat"]
    details["protocols"]["StarE's"]["sha256"] = "6" * 64
    write_json(tmp_path / "kg-runs.json", details)
    with pytest.raises(ValueError, match="other rows were evaluated on other statements"):
        collecting.collect([("heat", work / "heat")], None, tmp_path, add=True)


def test_figures_of_other_graphs_have_a_section_of_their_own(work: Path, tmp_path: Path):
    runs = [f"--run=heat={work / name}" for name in ("heat", "heat again")]
    told = ["--heuristic", str(work / "heuristic"), "--out", str(tmp_path), "--name", "kg-inductive-v1"]
    collecting.main([*runs, *told])
    assert not (tmp_path / "kg.json").exists()
    rows, details = (
        json.loads((tmp_path / f"kg-inductive-v1{end}.json").read_text()) for end in ("", "-runs")
    )
    for protocol in details["protocols"].values():
        protocol["dataset"] = "wd20k_100_v1-inference"
    page = kg_page(rows, details, [], [], [], [], [(rows, details)])
    assert "### wd20k_100_v1-inference" in page
    assert f"| heat | test | qualifiers | **{rows[1]['mrr']:.3f}** ± " in page
    assert "| published: QBLP | test | triple | 0.107 |" in page
    train = "kg train --recipe smallest --data wd20k_100_v1 --validate-on wd20k_100_v1-inference --out"
    assert f"hyperheat {train} RUNS/wd20k_100_v1-inference/heat-1 --set" in page
    assert "collect_kg.py --name kg-inductive-v1 --heuristic RUNS/wd20k_100_v1-inference/heuristic" in page


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
    assert "heat: the runs of a row must differ in the seed only" in refusal(capsys, tmp_path, *same)


@pytest.mark.parametrize(
    ("file", "keys", "value", "message"),
    [
        ("settings.json", ("train", "max_steps"), 9, "expected a run that has ended, got one that stands at step 3"),
        ("settings.json", ("job", "statements"), "other", "other: the run was trained on other statements than the rest"),
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
    assert "there are no evaluations such as eval-test.json" in refusal(
        capsys, tmp_path, f"--run=heat={other}"
    )
