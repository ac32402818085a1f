"""`bugs mine` and `bugs realise` on released bugs: folders, failures and interruptions."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event

import pytest
from tests.bugs.mining.conftest import History
from tests.bugs.mining.local_index import LocalIndex

from hyperheat.bugs.corpus.packages import PassingError, split_of
from hyperheat.bugs.dataset import Dataset, read_manifest
from hyperheat.bugs.mining import read_references
from hyperheat.bugs.mining.references import write_records
from hyperheat.cli import bug_data
from hyperheat.cli.bug_data import mine, realise

F = "def f(left, right):\n    both = left + right\n    return both, left, right\n"
PACKAGES = {"one": "-", "two": "*", "three": "/"}


def fill(index: LocalIndex) -> LocalIndex:
    """Three packages with a bug each."""
    for name, sign in PACKAGES.items():
        index.release(name, "1.0", {f"{name}/a.py": F})
        index.release(name, "1.1", {f"{name}/a.py": F.replace("+", sign)})
    return index


@pytest.fixture
def filled(index: LocalIndex) -> LocalIndex:
    return fill(index)


@pytest.fixture
def run(filled, tmp_path):
    """The command in this process."""

    def run(out="out", **options):
        mine(out=tmp_path / out, index=filled.registry.address, workers=1, **options)
        return tmp_path / out

    return run


def contents(folder: Path) -> dict[str, bytes]:
    """All files but what changes from run to run: the seconds that mining took."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "lock":
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
            if path.parent.name == "mined":
                record = json.loads(path.read_bytes())
                found[path.relative_to(folder).as_posix()] = json.dumps({**record, "seconds": 0}).encode()
    return found


def test_packages_from_a_file_and_by_name(run, tmp_path, capsys):
    (tmp_path / "names.txt").write_text("One\ntwo==1.0  # a comment\nleft-out\n")
    (tmp_path / "exclude.txt").write_text("left_out\n")
    out = run(packages=tmp_path / "names.txt", package=("Three", "one"), exclude=tmp_path / "exclude.txt")
    references = read_references(out / "references.jsonl.gz")
    assert [(r.project, r.split) for r in references] == [
        (name, split_of(name, 0)) for name in ("one", "three", "two")
    ]
    shards = {shard["project"]: shard for shard in read_manifest(out)["shards"]}
    for name in PACKAGES:
        assert shards[name]["path"] == f"{split_of(name, 0)}/{name}.parquet"
    printed = capsys.readouterr()
    assert "3 of 3 projects, 3 samples" in printed.err
    assert printed.out.splitlines()[1].split() == ["found", "3", "3"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "nothing to mine: give git repositories, --package NAME or --packages FILE"),
        ({"package": ("../x",)}, "expected `name` or `name==version`, got '../x'"),
        ({"package": ("one",), "ray": "local"}, "give either --workers or --ray, which uses all processors"),
    ],
)
def test_what_is_refused_before_anything_is_written(run, tmp_path, capsys, options, message):
    with pytest.raises(SystemExit) as ended:
        run(**options)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith(message)
    assert not (tmp_path / "out").exists()


def test_packages_are_added_and_what_is_there_is_kept(run, filled, tmp_path):
    out = run(package=("two",))
    written = (out / ".work" / "mined" / "two.json").stat(), filled.asked["/simple/two/"]
    run(package=("one", "two", "three"))
    assert written == ((out / ".work" / "mined" / "two.json").stat(), filled.asked["/simple/two/"])
    assert contents(out) == contents(run("other", package=tuple(PACKAGES)))


def test_another_number_of_releases_is_refused(run, capsys):
    out = run(package=("one",))
    before = contents(out)
    with pytest.raises(SystemExit):
        run(package=("one",), max_releases=2)
    message = (
        f"{out} already has what was mined from one with a different max_releases; choose another folder\n"
    )
    assert capsys.readouterr().err.endswith(message)
    assert contents(out) == before


def test_a_package_and_its_repository_go_together(run, tmp_path):
    history = History(tmp_path / "repos" / "me+something")
    history.commit("begin", {"a.py": F, "setup.cfg": "[metadata]\nname = One\n"})
    history.commit("Fix", {"a.py": F.replace("+", "%")})
    mine((history.folder,), out=tmp_path / "out", workers=1)
    out = run(package=("one",))
    assert len(Dataset(out, split_of("one", 0))) == 2
    assert len(read_manifest(out)["shards"]) == 2


def test_realising_twice_gives_the_same_bytes(run, filled, tmp_path, capsys):
    out = run(package=tuple(PACKAGES))
    refs = out / "references.jsonl.gz"
    for name in ("first", "second"):
        realise(refs, out=tmp_path / name, index=filled.registry.address, workers=1)
    assert contents(tmp_path / "first") == contents(tmp_path / "second")
    shards = {path: text for path, text in contents(out).items() if path.endswith(".parquet")}
    assert len(shards) == 3
    assert shards.items() <= contents(tmp_path / "first").items(), "expected what mining made"
    assert "s per reference" in capsys.readouterr().out


def test_what_can_no_longer_be_had_is_said(run, filled, tmp_path, capsys):
    refs = run(package=tuple(PACKAGES), refs_only=True) / "references.jsonl.gz"
    del filled.files["one"], filled.files["two"]["two-1.0-py3-none-any.whl"]
    realise(refs, out=tmp_path / "samples", index=filled.registry.address, workers=1)
    report = read_manifest(tmp_path / "samples")["report"]
    assert report == {
        "found": {"": {"binary-operator": 1}},
        "missing": {"the release": {"binary-operator": 2}},
    }
    rows = [json.loads(line) for line in (tmp_path / "samples" / "left_out.jsonl").read_text().splitlines()]
    assert [(row["package"], row["reason"]) for row in rows] == [
        ("one", "the release"),
        ("two", "the release"),
    ]
    assert "one: the package index has no package of this name\n" in capsys.readouterr().err


def test_other_references_are_refused(run, filled, tmp_path, capsys):
    refs = run(package=tuple(PACKAGES), refs_only=True) / "references.jsonl.gz"
    realise(refs, out=tmp_path / "samples", index=filled.registry.address, workers=1)
    before = contents(tmp_path / "samples")
    records = [dict(reference.record) for reference in read_references(refs)]
    write_records([{**record, "split": "valid"} for record in records[1:]], tmp_path / "other.jsonl.gz")
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        realise(
            tmp_path / "other.jsonl.gz", out=tmp_path / "samples", index=filled.registry.address, workers=1
        )
    assert ended.value.code == 2
    message = f"{tmp_path / 'samples'} already has samples of three, made from other references or with other options"
    assert capsys.readouterr().err == f"{message}; choose another folder\n"
    assert contents(tmp_path / "samples") == before


def test_without_an_index_each_package_is_told_of_and_tried_again(run, filled, tmp_path, capsys, monkeypatch):
    history = History(tmp_path / "repos" / "me+other")
    history.commit("begin", {"a.py": F})
    history.commit("Fix", {"a.py": F.replace("+", "%")})
    monkeypatch.setattr(bug_data, "_registry", lambda _: _Silent())
    mine((history.folder,), package=("one", "two"), out=tmp_path / "out", workers=1)
    printed = capsys.readouterr().err
    for name in ("one", "two"):
        assert printed.count(f"{name}: the package index could not be reached: nobody is there\n") == 1
    assert printed.endswith("2 of 3 failed; run the same command again to retry them\n")
    assert [shard["project"] for shard in read_manifest(tmp_path / "out")["shards"]] == ["me/other"]
    monkeypatch.undo()
    mine(
        (history.folder,),
        package=("one", "two"),
        out=tmp_path / "out",
        index=filled.registry.address,
        workers=1,
    )
    assert len(read_manifest(tmp_path / "out")["shards"]) == 3


class _Silent:
    """An index that never answers."""

    def releases(self, package: str):
        raise PassingError("the package index could not be reached: nobody is there")


def test_nothing_that_can_be_mined_is_an_error(run, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(bug_data, "_registry", lambda _: _Silent())
    with pytest.raises(SystemExit) as ended:
        run(package=("one",))
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith("\nnothing could be mined\n")


def test_a_package_that_is_not_there_is_no_failure(run, capsys):
    out = run(package=("one", "absent"))
    assert "absent: the package index has no package of this name\n" in capsys.readouterr().err
    assert len(read_manifest(out)["shards"]) == 1


SCRIPT = """
import sys
from pathlib import Path
{before}
from hyperheat.cli.bug_data import mine
if __name__ == "__main__":
    mine(out=Path(sys.argv[1]), index=sys.argv[2], package=("one", "two", "three"), workers=2)
"""


def start(index: LocalIndex, out: Path, before: str = "", **options) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SCRIPT.format(before=before), str(out), index.registry.address]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def test_killed_at_any_step_and_started_again_it_gives_the_same(run, filled, tmp_path):
    whole = contents(run("whole", package=tuple(PACKAGES)))
    out = tmp_path / "out"
    for step in (".work/mined/*.json", "references.jsonl.gz", ".work/samples/*.json"):
        process = start(filled, out)
        while not any(out.glob(step)) and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    run(package=tuple(PACKAGES))
    assert contents(out) == whole


def test_an_interrupt_is_one_sentence(run, filled, tmp_path):
    whole = contents(run("whole", package=tuple(PACKAGES)))
    out = tmp_path / "out"
    filled.held["/simple/three/"] = Event()
    process = start(filled, out)
    while not any(out.glob(".work/mined/*.json")) and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    filled.held.pop("/simple/three/").set()
    assert process.returncode == 130
    message = "stopped; finished work is kept, run the same command again to continue\n"
    assert said.endswith(message)
    assert "Traceback" not in said
    run(package=tuple(PACKAGES))
    assert contents(out) == whole


def test_a_full_disk_is_one_sentence_and_costs_nothing(run, filled, tmp_path):
    """A limit for the size of files stands for the disk: writing fails in the same way."""
    whole = contents(run("whole", package=tuple(PACKAGES)))
    out = tmp_path / "out"
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4000, -1))"
    process = start(filled, out, limit)
    _, said = process.communicate()
    assert process.returncode == 2
    last = said.splitlines()[-1]
    assert last.startswith(f"{out}: no space left to write (")
    assert last.endswith("); free some space and run the same command again, finished projects are kept")
    assert "Traceback" not in said
    mined = sorted(path.name for path in out.glob(".work/mined/*.json"))
    assert mined == ["one.json", "three.json", "two.json"], "expected only the shards to be too large"
    assert not (out / "manifest.json").exists()
    run(package=tuple(PACKAGES))
    assert contents(out) == whole


@pytest.mark.parametrize("function", ["write_records", "RealBugs.finish"])
def test_a_disk_that_is_full_at_the_end(run, monkeypatch, capsys, function):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "x")

    with monkeypatch.context() as patch:
        place = (
            "hyperheat.bugs.mining.pipeline"
            if function == "write_records"
            else "hyperheat.bugs.mining.real_bugs"
        )
        patch.setattr(f"{place}.{function}", full)
        with pytest.raises(SystemExit) as ended:
            run(package=("one",))
    assert ended.value.code == 2
    assert "No space left on device" in capsys.readouterr().err.splitlines()[-1]
    assert len(read_manifest(run(package=("one",)))["shards"]) == 1
