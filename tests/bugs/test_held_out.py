"""Fitting and drawing functions; and the command on a small corpus with a scorer that knows."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.check.scores import tiered
from tests.detector.samples import all_samples

from hyperheat.bugs.dataset import HEAD
from hyperheat.bugs.held_out import draw_functions
from hyperheat.bugs.shards import write_shard
from hyperheat.cli.calibrate_detector import calibrate_detector as command
from hyperheat.detector import Scorer
from hyperheat.detector.calibration import HELD_OUT, REAL_FIXES, Calibration, add_calibration
from hyperheat.detector.manifest import FILES, FORMAT, VERSION, read_folder
from hyperheat.detector.measurement import Outcome, calibrate, fit, measure_fixes
from hyperheat.detector.sample import CLEAN, NO_BUG, Sample

BODY = """
def {name}(value, low, high):
    if value < low and not high:
        return low
    for step in range(low, high):
        value += step
    return min(value, high)

"""


def samples_of(package: str, functions: int = 20) -> list[Sample]:
    made = all_samples("".join(BODY.format(name=f"{package}{i}") for i in range(functions)), every=23)
    return [replace(sample, origin=replace(sample.origin, project=package)) for sample in made]


def write_folder(folder: Path, shards: dict[str, list[Sample]]) -> Path:
    """A folder of samples, whose shards are named split/package."""
    described = []
    for name, samples in shards.items():
        path = folder / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        count = write_shard(samples, path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        split = name.partition("/")[0]
        described.append({"path": f"{name}.parquet", "split": split, "samples": count, "sha256": digest})
    (folder / "manifest.json").write_text(json.dumps({**HEAD, "shards": described}))
    return folder


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = ("valid/cat", "valid/dog", "test/elk", "test/fox")
    shards = {name: samples_of(name.partition("/")[2]) for name in names}
    return write_folder(tmp_path_factory.mktemp("corpus"), shards)


@pytest.fixture(scope="module")
def fixes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    buggy = [sample for sample in samples_of("gnu", 30) if sample.target != NO_BUG]
    tagged = [
        replace(s, origin=replace(s.origin, tags=("fix",) if i % 2 else ())) for i, s in enumerate(buggy)
    ]
    return write_folder(tmp_path_factory.mktemp("fixes"), {"test/gnu": tagged})


class Knowing:
    """A scorer that is surer of a bug's repair than of anything in a clean function, and sometimes mistaken."""

    fingerprint = "f" * 64

    def problem(self, sample: Sample) -> None:
        return None

    def score(self, samples: list[Sample]) -> list[SimpleNamespace]:
        return [SimpleNamespace(findings=self.findings(sample)) for sample in samples]

    def findings(self, sample: Sample) -> np.ndarray:
        luck = int(hashlib.sha256(sample.source.encode()).hexdigest()[:4], 16) / 0xFFFF
        found = np.full(len(sample.candidates), -20.0)
        found[sample.target] = np.log(0.3 + 0.65 * luck if sample.target != NO_BUG else 0.5 * luck + 0.001)
        return found


KNOWING: Scorer = Knowing()  # type: ignore[assignment]


def outcomes(x: np.ndarray, right: np.ndarray, *, kind: str = "literal") -> list[Outcome]:
    """Outcomes with log-odds x [F]."""
    log_probability = -np.logaddexp(0, -x)
    return [
        Outcome(log_probability=float(p), right=bool(r), kind=kind, found="literal", group="a")
        for p, r in zip(log_probability, right, strict=True)
    ]


def test_the_fit_finds_the_map_that_made_the_data():
    rng = np.random.default_rng(0)
    x = rng.uniform(-6, 8, 20_000)
    right = rng.random(20_000) < 1 / (1 + np.exp(-(0.7 * x - 1.5)))
    rows = outcomes(x, right) + outcomes(np.full(1, -9.0), np.array([False]), kind=CLEAN)
    slope, intercept = fit(rows, bug_rate=20_000 / 20_001)  # as in the data
    assert slope == pytest.approx(0.7, abs=0.03)
    assert intercept == pytest.approx(-1.5, abs=0.1)


def test_rare_bugs_are_the_same_as_more_clean_functions():
    rng = np.random.default_rng(1)
    buggy = outcomes(rng.normal(2, 2, 1000), rng.random(1000) < 0.8)
    clean = outcomes(rng.normal(-2, 2, 1000), np.zeros(1000, bool), kind=CLEAN)
    assert fit(buggy + clean, bug_rate=0.1) == pytest.approx(fit(buggy + clean * 9, bug_rate=0.1), rel=0.02)
    assert fit(buggy + clean, bug_rate=0.1)[1] < fit(buggy + clean, bug_rate=0.5)[1]


def test_a_model_without_mistakes_gets_a_finite_map():
    x = np.array([-3.0, -2.0, 2.0, 3.0])
    rows = outcomes(x[2:], np.ones(2, bool)) + outcomes(x[:2], np.zeros(2, bool), kind=CLEAN)
    slope, _ = fit(rows, bug_rate=0.5)
    assert 0 < slope < 5


def test_findings_of_one_kind_cannot_be_fitted():
    with pytest.raises(ValueError, match="expected some that are right and some that are wrong"):
        fit(outcomes(np.zeros(3), np.zeros(3, bool)), bug_rate=0.05)


def test_functions_come_as_they_are_and_with_one_bug(corpus: Path):
    drawn = list(draw_functions(corpus, "test", 1000))
    assert len(drawn) == 80
    assert [sample.target == NO_BUG for sample in drawn] == [True, False] * 40
    assert all(clean.origin == buggy.origin for clean, buggy in zip(drawn[::2], drawn[1::2], strict=True))
    assert len({buggy.target for buggy in drawn[1::2]}) > 1


def test_a_limit_takes_some_of_every_package(corpus: Path):
    drawn = list(draw_functions(corpus, "test", 20))
    assert [sample.origin.project for sample in drawn] == ["elk"] * 10 + ["fox"] * 10
    everything = [sample.source for sample in draw_functions(corpus, "test", 1000)]
    assert {sample.source for sample in drawn} < set(everything)


def test_fixes_are_drawn_by_tag(fixes: Path):
    tagged = list(draw_functions(fixes, "test", 1000, tags=["fix"]))
    assert tagged
    assert all(sample.origin.tags == ("fix",) for sample in tagged)
    others = list(draw_functions(fixes, "test", 1000, without=["fix"]))
    assert others
    assert all(sample.origin.tags == () for sample in others)


def test_a_fix_comes_with_the_repaired_function(tmp_path: Path):
    samples = [
        replace(sample, origin=replace(sample.origin, tags=("repaired",) if sample.target == NO_BUG else ()))
        for sample in samples_of("gnu", 3)
    ]
    drawn = list(draw_functions(write_folder(tmp_path, {"test/gnu": samples}), "test", 1000))
    assert [sample.target == NO_BUG for sample in drawn] == [True, False] * 3


def test_a_split_without_samples_is_named(fixes: Path):
    with pytest.raises(ValueError, match="expected samples in the split 'valid', got none"):
        list(draw_functions(fixes, "valid", 10))


def test_real_fixes_are_measured_anew_with_the_same_map(corpus: Path, tmp_path: Path):
    valid, test = (draw_functions(corpus, split, 4_000) for split in ("valid", "test"))
    before = calibrate(KNOWING, valid, test).calibration
    with_clean = write_folder(tmp_path, {"test/gnu": samples_of("gnu", 10)})
    after = measure_fixes(KNOWING, before, draw_functions(with_clean, "test", 1000))
    assert after.calibration.curves[0] == before.curves[0]
    (real,) = after.calibration.curves[1:]
    assert (real.data, real.functions, real.bugs) == (REAL_FIXES, 20, 10)
    again = measure_fixes(KNOWING, after.calibration, draw_functions(with_clean, "test", 1000))
    assert again.calibration == after.calibration
    assert measure_fixes(KNOWING, before, ()).calibration is before


def test_a_detector_that_knows_is_found_to_know(corpus: Path, fixes: Path):
    valid, test = (draw_functions(corpus, split, 4_000) for split in ("valid", "test"))
    measured = calibrate(KNOWING, valid, test, fixes=draw_functions(fixes, "test", 1000), bug_rate=0.2)
    held_out, real = measured.calibration.curves
    assert (held_out.data, held_out.functions, held_out.bugs) == (HELD_OUT, 80, 40)
    assert (real.data, real.functions - real.bugs) == (REAL_FIXES, 40)  # clean functions of held-out packages
    quiet = next(point for point in held_out.points if not point.alarms)
    assert quiet.found > 10  # with no alarm at all
    assert (measured.calibration.alarms, measured.calibration.tiers) == (None, {})
    assert set(measured.outcomes) == {HELD_OUT, REAL_FIXES}


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """A folder with the files of an exported detector, of which only the manifest matters here."""
    folder = tmp_path / "model"
    folder.mkdir()
    for name in FILES:
        (folder / name).write_text(name)
    (folder / "MODEL_CARD.md").write_text("# A detector\n\n## Limits\n\n- Some.\n")
    listed = {
        name: {"bytes": len(name), "sha256": hashlib.sha256(name.encode()).hexdigest()} for name in FILES
    }
    (folder / "manifest.json").write_text(json.dumps({"format": FORMAT, "version": VERSION, "files": listed}))
    return folder


def calibration(slope: float) -> Calibration:
    return replace(tiered(A=0.6, B=0.3), slope=slope)


def test_a_folder_gets_its_calibration_and_another_replaces_it(exported: Path):
    assert "calibration.json" not in read_folder(exported)
    for slope in (0.5, 0.7):
        add_calibration(exported, calibration(slope))
        assert Calibration.parse(read_folder(exported)["calibration.json"]) == calibration(slope)
    card = (exported / "MODEL_CARD.md").read_text()
    assert card.startswith(
        "# A detector\n\n## Limits\n\n- Some.\n\n## What was measured\n\nFunctions with fewer"
    )
    assert card.count("## What was measured") == 1
    assert "Alarms are findings in 1,000,000 functions of 100 packages outside the training data" in card
    assert (
        "| A | 1 alarm in 3,000 functions | 0.600 | 250 (at most 0.26 per 1,000 functions) | 100 of 100 (100.0%) |"
        in card
    )
    assert "| safe repairs | 1 alarm in 30,000 functions | empty |  |  |" in card


def test_a_changed_calibration_is_refused(exported: Path):
    add_calibration(exported, calibration(0.5))
    path = exported / "calibration.json"
    path.write_text(path.read_text().replace("0.5", "0.6", 1))
    with pytest.raises(ValueError, match=r"calibration\.json: the file was changed: its sha256 differs"):
        read_folder(exported)


def test_a_folder_that_is_left_in_between_can_be_loaded(exported: Path, monkeypatch: pytest.MonkeyPatch):
    add_calibration(exported, calibration(0.5))
    monkeypatch.setattr("hyperheat.detector.calibration.describe_file", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        add_calibration(exported, calibration(0.7))
    assert set(read_folder(exported)) == set(FILES)


def test_the_command(
    exported: Path,
    corpus: Path,
    fixes: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(Scorer, "load", lambda folder: KNOWING)
    command(model=exported, data=corpus, realbugs=fixes, tag=("fix",), bug_rate=0.2)
    printed = capsys.readouterr()
    assert "held-out packages: 80 functions, 40 with a bug; calibration error" in printed.out
    assert "if 20.0% of functions have a bug" in printed.out
    assert "no tiers: alarms were not measured (--unedited)" in printed.out
    assert "validation packages: 80 functions" in printed.err
    command(model=exported, data=corpus, bug_rate=0.2, json=True)
    content = json.loads(capsys.readouterr().out)
    written = Calibration.parse((exported / "calibration.json").read_bytes())
    assert content["calibration"]["slope"] == written.slope
    assert content["options"]["limit"] == 4000
    assert (content["options"]["realbugs"], content["options"]["unedited"]) == (False, False)
    assert (content["tiers"], content["surest"]) == ({}, [])
    assert "not measured" in content["empty"]["A"]


def test_the_command_refuses_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        command(model=tmp_path, data=tmp_path)
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give at least one of --data, --realbugs and --unedited"),
        ({"unedited": Path("a")}, "--unedited and --workspace are given together"),
        ({"data": Path("a"), "workspace": Path("b")}, "--unedited and --workspace are given together"),
    ],
    ids=str,
)
def test_options_that_do_not_fit(options: dict, message: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        command(model=Path("model"), **options)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
