"""`python -m benchmarks.why`, with a detector that knows every planted bug as long as it can see one variable."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.check.scores import scores_of

from benchmarks.why import FoundBug, find_bugs, measure_why
from benchmarks.why import main as bench_why
from hyperheat.check.analysis import make_question, read_module
from hyperheat.detector import SampleScores
from hyperheat.detector.sample import Sample
from hyperheat.pycode import extract_function
from hyperheat.rewrites import candidates

SOURCE = """\
def total(prices, rate, limit):
    result = 0
    for price in prices:
        if price > limit:
            result += price * rate
    return round(result, limit)
"""


class Oracle:
    """Sure of the repair of each bug in the function above, unless `rate` is hidden somewhere."""

    def __init__(self) -> None:
        module = read_module(SOURCE)
        (function,) = module.functions
        self.repairs: dict[str, int] = {}
        self.seen: dict[str, int] = {}
        for bug in candidates(function):
            broken = extract_function(bug.apply(SOURCE), function, module.facts)
            question = make_question(broken, None)
            self.repairs[broken.source] = question.rewrites.index(bug.inverse(SOURCE))
            self.seen[broken.source] = broken.graph.labels.count("rate")

    def __call__(self, sample: Sample) -> SampleScores:
        weights = np.full(len(sample.candidates), 1e-3)
        if sample.graph.labels.count("rate") == self.seen[sample.source]:
            weights[self.repairs[sample.source]] = 9.0
        return scores_of(sample, weights)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(SOURCE)
    (tmp_path / "old.py").write_text("print 'x'\n")
    (tmp_path / "tiny.py").write_text("def f(): pass\n")
    return tmp_path


def found(folder: Path, seed: int) -> list[FoundBug]:
    return list(find_bugs(folder.glob("*.py"), Oracle(), seed=seed))


def test_bugs_are_planted_and_kept_if_they_are_found(folder: Path) -> None:
    bugs = found(folder, 1)
    assert [bug.bug for bug in bugs] == [bug.bug for bug in found(folder, 1)]
    assert "variable-misuse" in {bug.bug.kind for bug in bugs}
    for bug in bugs:
        assert bug.question.rewrites[bug.repair].apply(bug.question.function.source) == SOURCE
    assert {tuple(b.bug for b in found(folder, seed)) for seed in range(5)} > {tuple(b.bug for b in bugs)}
    assert (
        list(find_bugs(folder.glob("*.py"), lambda s: scores_of(s, np.ones(len(s.candidates))), seed=1)) == []
    )


def test_what_the_detector_looks_at_is_named(folder: Path) -> None:
    bugs = [bug for seed in range(20) for bug in found(folder, seed)]
    measured = measure_why(bugs, Oracle(), seed=0, most=len(bugs))
    assert sum(measured["bugs"].values()) == len(bugs)
    deletion = measured["deletion"]
    assert deletion["before"] > 0.8
    assert deletion["named"] < 0.05
    assert deletion["named"] < deletion["random"] < deletion["before"]
    assert deletion["gone_named"] == 1.0
    misuses = [bug for bug in bugs if bug.bug.kind == "variable-misuse"]
    about_rate = sum("rate" in (bug.bug.original, bug.bug.replacement) for bug in misuses)
    assert measured["misuse"]["bugs"] == len(misuses)
    assert about_rate <= measured["misuse"]["named"] < len(misuses)
    assert 0 < measured["misuse"]["chance"] < len(misuses)
    assert [row["nodes"] for row in measured["seconds"]] == [100]
    assert measured["left_out"] == 0


def test_only_so_many_bugs_are_measured(folder: Path) -> None:
    bugs = [bug for seed in range(5) for bug in found(folder, seed)]
    assert sum(measure_why(bugs, Oracle(), seed=0, most=3)["bugs"].values()) == 3


def test_without_a_found_bug_it_says_so(folder: Path) -> None:
    with pytest.raises(ValueError, match="no planted bug was found"):
        measure_why([], Oracle(), seed=0, most=3)


def test_the_command_has_all_measures(capsys: pytest.CaptureFixture[str]) -> None:
    code = Path(read_module.__code__.co_filename).parent / "example"
    bench_why(code, bugs=2, json=True)
    measured = json.loads(capsys.readouterr().out)
    assert set(measured) == {
        *("code", "model", "asked", "seed"),
        *("bugs", "deletion", "first", "misuse", "seconds", "left_out"),
    }
    assert (measured["code"], sum(measured["bugs"].values())) == ("example", 2)
    bench_why(code, bugs=2)
    assert "2 planted bugs that the model finds" in capsys.readouterr().out


def test_a_folder_without_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        bench_why(tmp_path)
    assert capsys.readouterr().err == f"{tmp_path}: no Python files\n"
