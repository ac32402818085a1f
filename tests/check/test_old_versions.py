"""`--since` from git to the report: renamed, moved, new, broken and unsaved files, with scores that believe the code."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.check.believing_scores import believe
from tests.check.caches import open_cache
from tests.check.made_repairs import commit_all
from tests.check.notebooks import code, notebook
from tests.check.scores import CALIBRATION
from tests.check.test_changes import git

from hyperheat.check import old_versions, scan
from hyperheat.check.analysis import Detail, analyse_parts
from hyperheat.check.baseline import make_baseline
from hyperheat.check.checker import Checker
from hyperheat.check.notebook_analysis import analyse_notebook
from hyperheat.check.settings import Settings
from hyperheat.detector.detector import Detector, load_detector
from hyperheat.report import Report
from hyperheat.workers.limits import Limits
from hyperheat.workers.outcomes import Lost

AREA = """def area(wrong90, b, c):
    x = b + c
    show(wrong90, b)
    return x
"""
GOOD = AREA.replace("show(wrong90", "show(b")
OTHER = """def other(a, b, c):
    return a + b
"""


class Work:
    """A repository, and scans of it in this process."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        self.detector = Detector(folder, "believer", "0" * 64, CALIBRATION, "key")
        self.cache = open_cache(cache, self.detector)
        self.scored: list[str] = []
        self.lost: Lost | None = None

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.folder / f"{name}.py").write_text(text, newline="")

    def commit(self, **files: str) -> None:
        self.write(**files)
        commit_all(self.folder)

    def run(self, work, jobs, detector, *, workers, limits, on_part=None):
        """Do jobs in this process."""

        def score(sample):
            self.scored.append(sample.source.split("(")[0])
            return believe(sample)

        for job in jobs:
            old = isinstance(job, old_versions._OldJob)
            is_notebook = job.file.path.suffix == ".ipynb" if old else job.is_notebook
            analyse_job = analyse_notebook if is_notebook else analyse_parts
            options: dict[str, Any] = {"detail": Detail(compared=True, wanted=job.wanted)} if old else {}
            if old and not is_notebook:
                options["guesses"] = job.same
            result = list(analyse_job(job.data, job.known, score, CALIBRATION, **options))
            parts = [part for part in result if part is not None]
            yield job, replace(self.lost, parts=tuple(parts[:1])) if old and self.lost else parts

    def check(self, since: str = "HEAD", *, cached: bool = False, **options) -> Report:
        paths = options.pop("paths", ["."])
        text = options.pop("text", None)
        self.scored.clear()
        one = Checker(
            settings=Settings(),
            detector=self.detector,
            root=self.folder,
            since=since,
            cache=self.cache if cached else None,
            **options,
        )
        scanned = one.scan_paths(paths) if text is None else one.scan_data(text.encode(), paths[0])
        return scanned.report(show_all=True)

    def found(self, since: str = "HEAD", **options) -> list[tuple[str, int]]:
        return [(finding.path, finding.line) for finding in self.check(since, **options).findings]


@pytest.fixture
def work(tmp_path, monkeypatch) -> Work:
    monkeypatch.setenv("HYPERHEAT_CACHE", str(tmp_path / "home"))
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-qb", "main")
    made = Work(folder, tmp_path / "cache")
    for module in (scan, old_versions):
        monkeypatch.setattr(module, "run_in_workers", made.run)
    monkeypatch.setattr(scan.ModelCheck, "begin", lambda self: None)  # this detector has no files
    return made


def test_only_what_rose_is_reported(work):
    work.commit(a=AREA + "\n\n" + OTHER, b=OTHER)
    new = AREA.replace("area", "volume").replace("b + c", "b * c")
    work.write(a=AREA.replace("b + c", "b - c") + "\n\n" + OTHER, b=OTHER + "\n\n" + new)
    report = work.check()
    assert [(finding.path, finding.line) for finding in report.findings] == [("b.py", 7)]
    assert report.findings[0].previous is None
    assert (report.summary.unrisen, report.summary.functions) == (1, 2)
    assert work.found(absolute=True) == [("a.py", 3), ("b.py", 7)]


def test_the_previous_confidence_is_told(work):
    work.commit(a=AREA.replace("wrong90", "wrong20"))
    work.write(a=AREA.replace("b + c", "b - c"))
    (finding,) = work.check().findings
    assert (finding.confidence, finding.previous) == (0.9, 0.2)


def test_nothing_is_read_from_git_if_nothing_is_found(work, monkeypatch):
    work.commit(a=AREA + "\n\n" + OTHER)
    work.write(a=AREA + "\n\n" + OTHER.replace("+", "-"))
    monkeypatch.setattr(old_versions, "read_old_files", lambda *_, **__: pytest.fail("read"))
    assert work.found() == []


def test_of_the_earlier_version_only_what_differs_is_scored(work):
    work.commit(a="\n\n".join(AREA.replace("area", f"area{n}") for n in range(5)))
    edited = (work.folder / "a.py").read_text().replace("b + c", "b - c", 1)
    work.write(a=edited)
    assert work.found() == []
    assert work.scored == [f"def area{n}" for n in range(5)] + ["def area0"]


def test_scores_of_earlier_versions_are_kept(work):
    work.commit(a=AREA + "\n\n" + AREA.replace("area", "field"))
    work.write(a=(work.folder / "a.py").read_text().replace("b + c", "b - c", 1))
    assert work.found(cached=True) == []
    assert work.scored == ["def area", "def field", "def area"]
    assert work.found(cached=True) == []
    assert work.scored == []
    work.write(a=(work.folder / "a.py").read_text().replace("b + c", "b * c"))
    assert work.found(cached=True) == []
    assert work.scored == ["def field", "def field"], "now and before"
    commit_all(work.folder)
    work.write(a=(work.folder / "a.py").read_text().replace("b - c", "b / c"))
    assert work.found(cached=True) == []
    assert work.scored == ["def area", "def area"]


def test_a_scan_of_the_file_itself_does_not_see_what_is_kept_of_an_earlier_version(work):
    work.commit(a=AREA)
    work.write(a=AREA.replace("b + c", "b - c"))
    assert work.found(cached=True) == []
    git(work.folder, "checkout", "-q", "a.py")
    assert work.found("HEAD", cached=True) == []
    (work.folder / "c.py").write_text(GOOD)
    assert work.found(cached=True) == []


@pytest.mark.parametrize("add", [True, False], ids=["added", "untracked"])
def test_a_renamed_file_raises_nothing(work, add):
    work.commit(a=AREA, b=OTHER)
    (work.folder / "a.py").rename(work.folder / "c.py")
    work.write(c=AREA.replace("b + c", "b - c"))
    if add:
        git(work.folder, "add", "-A")
    assert work.found() == []
    assert work.found(absolute=True) == [("c.py", 3)]


def test_code_that_moves_to_another_file_raises_nothing(work):
    work.commit(a=AREA + "\n\n" + OTHER, b=OTHER)
    work.write(a=OTHER, b=OTHER + "\n\n" + AREA)
    assert work.found() == []
    work.write(b=OTHER + "\n\n" + AREA.replace("area", "surface").replace("x", "y"))
    assert work.found() == []
    assert work.found(paths=["b.py"]) == []
    work.write(a=OTHER, b=OTHER + "\n\n" + AREA.replace("area", "surface").replace("b + c", "b - c"))
    assert work.found() == [("b.py", 7)], "neither its name nor its code was there"


def test_code_that_moves_between_files_that_are_both_reported_raises_nothing(work):
    field = AREA.replace("area", "field").replace("b + c", "b / c")
    work.commit(a=AREA + "\n\n" + field, b=OTHER + "\n\n" + AREA.replace("area", "third"))
    work.write(a=AREA.replace("+", "-"), b=OTHER + "\n\n" + AREA.replace("area", "third") + "\n\n" + field)
    assert work.check().summary.unrisen == 2
    assert work.found() == []


def test_a_copy_of_code_that_did_not_change_is_new(work):
    work.commit(a=AREA, b=OTHER)
    work.write(a=AREA + "\n\n" + OTHER, b=OTHER + "\n\n" + AREA)
    assert work.found() == [("b.py", 7)]


def test_line_ends_raise_nothing(work):
    work.commit(a=AREA)
    work.write(a=AREA.replace("\n", "\r\n"))
    assert work.found() == []
    assert work.check().summary.unrisen == 1


def test_a_branch_is_compared_with_its_merge_base(work):
    work.commit(a=GOOD)
    git(work.folder, "checkout", "-qb", "work")
    work.commit(a=AREA)
    git(work.folder, "checkout", "-q", "main")
    work.commit(a=AREA.replace("b + c", "b - c"), b=OTHER)
    git(work.folder, "checkout", "-q", "work")
    assert work.found("main") == [("a.py", 3)]
    git(work.folder, "checkout", "-q", "main")
    git(work.folder, "-c", "merge.conflictStyle=merge", "merge", "-q", "-X", "theirs", "-m", "x", "work")
    assert work.found("HEAD~1") == []
    assert work.found("work") == []


def test_an_unfinished_merge(work):
    work.commit(a=GOOD)
    git(work.folder, "checkout", "-qb", "work")
    work.commit(a=AREA)
    git(work.folder, "checkout", "-q", "main")
    work.commit(a=GOOD.replace("show(b", "show(c"))
    with pytest.raises(subprocess.CalledProcessError):
        git(work.folder, "merge", "-q", "work")
    work.write(a=AREA)
    assert work.found() == [("a.py", 3)]


def test_text_from_an_editor_is_compared_with_the_commit_not_with_the_disk(work):
    text = AREA + "\n\n" + GOOD.replace("area", "second")
    work.commit(a=text)
    edited = text.replace("show(b", "show(wrong90")
    assert work.found(paths=["a.py"], text=text) == []
    assert work.found(paths=["a.py"], text=edited) == [("a.py", 9)]
    assert work.found(paths=["a.py"], text=edited, absolute=True) == [("a.py", 9)]
    assert work.check(paths=["a.py"], text=edited).summary.functions == 1
    work.write(a=edited)
    assert work.found(paths=["a.py"], text=text) == []
    assert work.found(paths=["new.py"], text=text.replace("b + c", "b - c").replace("area", "x")) == [
        ("new.py", 3)
    ]
    git(work.folder, "mv", "-f", "a.py", "b.py")
    assert work.found(paths=["b.py"], text=text) == []


def test_comments_and_baselines_come_first(work):
    work.commit(a=GOOD)
    work.write(a=AREA.replace("show(wrong90, b)", "show(wrong90, b)  # hyperheat: ignore"))
    report = work.check()
    assert (report.findings, report.summary.suppressed, report.summary.unrisen) == ((), 1, 0)
    work.write(a=AREA)
    one = Checker(settings=Settings(), detector=work.detector, root=work.folder, since="HEAD")
    scanned = one.scan_paths(["."])
    baseline = make_baseline(scanned.report(show_all=True).findings, scanned.sources)
    report = scanned.report(baseline=baseline, show_all=True)
    assert (report.findings, report.summary.known) == ((), 1)


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("what is this?\n", "invalid syntax"),
        ("# " + "x" * 21_000 + "\n", "expected lines of at most 20000 characters, got 21002"),
        ("#" * 300 + "\n#" * 600, "expected at most 1000 bytes, got 1500"),
    ],
    ids=["syntax", "lines", "size"],
)
def test_an_earlier_version_that_cannot_be_read_is_told(work, before, reason):
    work.commit(a=before)
    work.write(a=AREA)
    report = work.check(max_bytes=1_000 if "bytes" in reason else 100_000)
    assert [finding.line for finding in report.findings] == [3]
    (note,) = report.summary.notes
    assert note.startswith(
        "a.py: not all of its earlier version was compared, and findings may count as new: "
    )
    assert reason in note


def test_an_earlier_version_that_takes_too_long_is_told_and_not_tried_again(work):
    work.commit(a=AREA)
    work.write(a=AREA.replace("b + c", "b - c"))
    work.lost = Lost("it took more than 3 s", late=True, limited=True, parts=())
    limits = Limits(seconds=3, work_seconds=1, memory=1 << 30)
    for _ in range(2):
        report = work.check(cached=True, limits=limits)
        assert [finding.line for finding in report.findings] == [3]
        assert "not checked: it took more than 3 s" in report.summary.notes[0]
    assert work.scored == []
    work.lost = None
    report = work.check(cached=True, limits=replace(limits, seconds=4))
    assert (report.findings, report.summary.notes) == ((), ())


def test_a_link_that_became_a_file_is_new(work):
    work.commit(b=AREA)
    (work.folder / "a.py").symlink_to("b.py")
    commit_all(work.folder)
    (work.folder / "a.py").unlink()
    work.write(a=AREA)
    assert ("a.py", 3) in work.found()


def test_submodules_are_compared_with_the_commit_that_was_recorded(work, tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-qb", "main")
    (inner / "m.py").write_text(GOOD)
    (inner / "n.py").write_text(AREA)
    commit_all(inner)
    work.commit(a=OTHER)
    allow = ("-c", "protocol.file.allow=always")
    git(work.folder, *allow, "submodule", "--quiet", "add", str(inner), "sub")
    assert sorted(work.found()) == [("sub/n.py", 3)], "a new submodule is new"
    commit_all(work.folder)
    assert work.found() == []
    (work.folder / "sub" / "m.py").write_text(AREA)
    (work.folder / "sub" / "n.py").write_text(AREA.replace("b + c", "b - c"))
    assert work.found() == [("sub/m.py", 3)]
    commit_all(work.folder / "sub")
    assert work.found() == [("sub/m.py", 3)]
    commit_all(work.folder)
    assert work.found() == []
    assert work.found("HEAD~1") == [("sub/m.py", 3)]


def test_notebooks_are_compared_by_the_code_of_their_cells(work):
    path = work.folder / "a.ipynb"
    path.write_bytes(notebook(code(AREA), code(OTHER)))
    commit_all(work.folder)
    edited = AREA.replace("b + c", "b - c")
    path.write_bytes(notebook(code("x = 1\n"), code(OTHER), code(edited)))
    assert work.found() == []
    new = AREA.replace("area", "volume").replace("show(wrong90, b)", "show(wrong90)")
    path.write_bytes(notebook(code(OTHER), code(edited), code(new)))
    report = work.check()
    assert [(finding.path, finding.cell, finding.line) for finding in report.findings] == [("a.ipynb", 3, 3)]


def test_absolute_without_since_is_refused(work):
    with pytest.raises(ValueError, match="--absolute requires --since"):
        Checker(settings=Settings(), detector=work.detector, absolute=True)


def test_an_interrupt_while_comparing_leaves_what_was_found(work, monkeypatch):
    work.commit(a=AREA)
    work.write(a=AREA.replace("b + c", "b - c"))

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(old_versions, "find_rises", interrupted)
    report = work.check()
    assert [finding.line for finding in report.findings] == [3]
    assert report.summary.notes == (
        "Interrupted: 0 of 1 files were not checked.",
        "Findings were not compared with the versions before the change.",
    )


@pytest.mark.parametrize("cached", [False, True], ids=["no cache", "cache"])
def test_in_worker_processes(exported_detector, tmp_path, monkeypatch, cached):
    monkeypatch.setenv("HYPERHEAT_CACHE", str(tmp_path / "home"))
    detector = load_detector(exported_detector)
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-qb", "main")
    body = "(left, right, size):\n    total = left + right\n    if total > size:\n        return left\n    return total\n"
    (folder / "a.py").write_text(f"def one{body}\n\ndef two{body}")
    commit_all(folder)
    three = body.replace("left", "first").replace("total > size", "size < total and not right")
    (folder / "a.py").write_text(f"def two{body}\n\ndef uno{body.replace('left', 'l')}\n\ndef three{three}")

    def report(*, absolute: bool) -> Report:
        cache = open_cache(tmp_path / "cache", detector) if cached else None
        one = Checker(
            settings=Settings(), detector=detector, root=folder, since="HEAD", absolute=absolute, cache=cache
        )
        return one.scan_paths(["."]).report(show_all=True)

    every = [finding for finding in report(absolute=True).findings if finding.function == "three"]
    assert every, "a detector that finds nothing would test nothing"
    for _ in range(2):
        risen = report(absolute=False)
        assert list(risen.findings) == every
        assert risen.summary.notes == ()
