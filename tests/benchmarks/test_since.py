"""`python -m benchmarks.since`: what counts, and how commits and bugs are read."""

import hashlib
import io
import json
import zipfile
from pathlib import Path

import pytest
from tests.check.believing_scores import believe
from tests.check.made_repairs import commit_all
from tests.check.scores import CALIBRATION
from tests.check.test_changes import git

from benchmarks import changed_code, since
from benchmarks.changed_code import read_bugs, read_commits, scan_changed
from benchmarks.since import measure_bugs, measure_commits, summarise_since
from hyperheat.check import old_versions
from hyperheat.check.analysis import Detail, analyse_parts
from hyperheat.detector.detector import Detector

GOOD = "def area(wrong90, b, c):\n    x = b + c\n    show(b, b)\n    return x\n"
BUGGY = GOOD.replace("show(b, b)", "show(wrong90, b)")
OTHER = "def other(a, wrong60, c):\n    return a + wrong60\n"
DETECTOR = Detector(Path("nowhere"), "believer", "0" * 64, CALIBRATION, "key")


class Scorer:
    """A detector that believes the code."""

    def problem(self, sample):
        return None

    def score_batch(self, samples):
        return [believe(sample) for sample in samples]


@pytest.fixture(autouse=True)
def scores(monkeypatch):
    def run(work, jobs, detector, *, workers, limits):
        for job in jobs:
            detail = Detail(compared=True, wanted=job.wanted)
            yield (
                job,
                list(
                    analyse_parts(job.data, job.known, believe, CALIBRATION, guesses=job.same, detail=detail)
                ),
            )

    monkeypatch.setattr(changed_code, "load_scorer", lambda _: Scorer())
    monkeypatch.setattr(old_versions, "run_in_workers", run)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-qb", "main")
    versions = {
        "begin": GOOD + "\n\n" + OTHER,
        "new alarm": BUGGY + "\n\n" + OTHER,
        "fix a bug": GOOD + "\n\n" + OTHER,
        "old alarm": GOOD + "\n\n" + OTHER.replace("return", "c = 1\n    return"),
    }
    for subject, text in versions.items():
        (folder / "a.py").write_text(text)
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", subject)
    (folder / "notes.txt").write_text("no code")
    commit_all(folder)
    return folder


def test_harmless_commits_are_the_newest_that_fix_nothing(repo):
    found = list(read_commits(repo, 5))
    assert len(found) == 2, "neither the first, which has no version before, nor the fix"
    _, changes, contents = found[0]
    assert [path.name for path in contents] == ["a.py"]
    assert next(iter(changes.old.values())).path.name == "a.py"
    assert len(list(read_commits(repo, 1))) == 1
    assert list(read_commits(repo, 1, without={found[0][0]})) == []


def test_only_functions_that_changed_are_scored_and_what_rose_is_told(repo):
    old, new = measure_commits(read_commits(repo, 5), DETECTOR)
    assert (old["functions"], new["functions"]) == (1, 1)
    assert [(f["confidence"], f["rose"]) for f in old["findings"]] == [(0.6, False)]
    assert [(f["confidence"], f["rose"]) for f in new["findings"]] == [(0.9, True)]
    figures = summarise_since([old, new], CALIBRATION, asked=5)["commits"]
    assert (figures["count"], figures["repositories"], figures["functions"]) == (2, {"project": 2}, 2)
    expected = {"since": 1, "since_commits": 1, "absolute": 2, "absolute_commits": 2}
    assert figures["alarms"]["A"] == figures["alarms"]["all"] == expected


def test_files_of_one_name_in_a_commit_are_told_apart(repo):
    for name in ("one", "two"):
        (repo / name).mkdir()
        (repo / name / "a.py").write_text(GOOD)
    commit_all(repo)
    (repo / "one" / "a.py").write_text(BUGGY)
    (repo / "two" / "a.py").write_text("limit = 1\n\n\n" + BUGGY)
    commit_all(repo)
    found = next(measure_commits(read_commits(repo, 1), DETECTOR))
    assert [(f["confidence"], f["rose"]) for f in found["findings"]] == [(0.9, True)] * 2


def test_bugs_are_made_by_reversing_their_fix(tmp_path, monkeypatch):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("shapes/area.py", OTHER + "\n\n" + BUGGY)
    contents = archive.getvalue()
    record = {
        "package": "shapes",
        "before": "1.0",
        "archive": "shapes-1.0-py3-none-any.whl",
        "sha256": hashlib.sha256(contents).hexdigest(),
        "path": "shapes/area.py",
        "function": "area",
        "start_line": 5,
        "span": [7, 9, 7, 16],
        "after_text": "b",
        "kind": "variable-misuse",
        "split": "valid",
        "weight": 0.9,
    }
    others = [{**record, "split": "test"}, {**record, "start_line": 4}]
    listed = tmp_path / "bugs.jsonl"
    listed.write_text("".join(json.dumps(line) + "\n" for line in [record, *others]))

    class Index:
        def releases(self, package):
            return type("Listing", (), {"archives": {record["archive"]: None}})

        def fetch(self, release):
            return contents

    monkeypatch.setattr(changed_code.Registry, "configured", Index)
    told: list[str] = []
    store = tmp_path / "store"
    store.mkdir()
    (result,) = measure_bugs(read_bugs(listed, "valid", store, tell=told.append), DETECTOR)
    assert result["kind"] == "variable-misuse"
    assert [(f["confidence"], f["rose"], f["right"]) for f in result["findings"]] == [(0.9, True, True)]
    assert told == ["shapes shapes/area.py:7:9: left out: the function, or its repair, is not there"]
    figures = summarise_since([result], CALIBRATION, asked=1)["bugs"]
    assert figures == {
        "count": 1,
        "found": {
            level: {"since": 1, "since_functions": 1, "absolute": 1, "absolute_functions": 1}
            for level in since.LEVELS
        },
    }


def test_a_file_that_cannot_be_read_has_no_findings(tmp_path):
    changes = changed_code.Changes({}, frozenset())
    assert scan_changed(b"what?", tmp_path / "a.py", changes, DETECTOR).functions == ()


def test_results_are_kept_and_not_computed_again(repo, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(since, "load_detector", lambda _: DETECTOR)
    since.main(repo, work=tmp_path / "work", json=True)
    first = capsys.readouterr().out
    monkeypatch.setattr(since, "find_rises", lambda *_, **__: pytest.fail("computed again"))
    since.main(repo, work=tmp_path / "work", json=True)
    assert capsys.readouterr().out == first
    assert json.loads(first)["commits"]["count"] == 2
    since.main(repo, work=tmp_path / "work")
    assert "0 bugs, 2 commits of 1 repositories" in capsys.readouterr().out
