"""Folders that get real bugs, and those that are left alone."""

import fcntl
import json
import shutil

import pytest
from tests.bugs.mining.conftest import History

from hyperheat.bugs.dataset import HEAD, Dataset, read_manifest
from hyperheat.bugs.mining import Reference
from hyperheat.bugs.mining.real_bugs import ProjectResult, RealBugs
from hyperheat.cli.bug_data import mine, realise

PLUS = "def f(left, right):\n    both = left + right\n    return both, left, right\n"
MINUS = PLUS.replace("+", "-")


def make_fixed(folder, sign="-"):
    """A repository with one fix."""
    history = History(folder)
    history.commit("begin", {"a.py": PLUS})
    history.commit("Fix", {"a.py": PLUS.replace("+", sign)})
    return history


@pytest.fixture
def fixed(tmp_path):
    return make_fixed(tmp_path / "repos" / "owner+name")


@pytest.fixture
def out(tmp_path):
    (tmp_path / "out" / "test").mkdir(parents=True)
    return tmp_path / "out"


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "lock"
    }


def run_both(fixed, tmp_path, out):
    """Let both commands refuse a folder."""
    mine((fixed.folder,), out=tmp_path / "refs", refs_only=True)
    refs = tmp_path / "refs" / "references.jsonl.gz"
    for run in (
        lambda: mine((fixed.folder,), out=out),
        lambda: realise(refs, repos=tmp_path / "repos", out=out),
    ):
        with pytest.raises(SystemExit):
            run()


@pytest.mark.parametrize("name", ["train/a.parquet", "test/notes.txt", "test/d/a.parquet"])
def test_samples_of_unknown_origin_are_left_alone(fixed, tmp_path, out, capsys, name):
    (out / name).parent.mkdir(parents=True, exist_ok=True)
    (out / name).write_text("dear")
    before = contents(out)
    run_both(fixed, tmp_path, out)
    assert contents(out) == before
    message = f"{out} holds samples without a manifest; choose another folder\n"
    assert capsys.readouterr().err.count(message) == 2


def test_a_folder_with_other_files_is_left_alone(fixed, tmp_path, out, capsys):
    (out / "README.md").write_text("dear")
    run_both(fixed, tmp_path, out)
    assert contents(out) == {"README.md": b"dear"}
    message = f"{out} holds README.md; choose a folder that is new or holds real bugs\n"
    assert capsys.readouterr().err.count(message) == 2


def test_a_file_is_no_folder(fixed, tmp_path, capsys):
    (tmp_path / "file").write_text("dear")
    run_both(fixed, tmp_path, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "dear"
    assert capsys.readouterr().err.count(f"{tmp_path / 'file'} is a file; choose a folder") == 2


@pytest.mark.parametrize(
    ("report", "message"),
    [
        ({}, "holds another data set; choose another folder\n"),
        ({"report": {}}, "was made by an earlier version, which cannot be added to; choose another folder\n"),
    ],
)
def test_another_data_set_is_left_alone(fixed, tmp_path, out, capsys, report, message):
    (out / "manifest.json").write_text(json.dumps({**HEAD, "settings": {}, "shards": [], **report}))
    (out / "test" / "other.parquet").write_text("dear")
    before = contents(out)
    run_both(fixed, tmp_path, out)
    assert contents(out) == before
    assert capsys.readouterr().err.count(message) == 2


def test_only_one_command_at_a_time(fixed, tmp_path, capsys):
    mine((fixed.folder,), out=tmp_path / "out")
    capsys.readouterr()
    before = contents(tmp_path / "out")
    with (tmp_path / "out" / ".work" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(SystemExit):
            mine((fixed.folder,), out=tmp_path / "out")
    message = f"another `hyperheat bugs` command is already writing to {tmp_path / 'out'}\n"
    assert capsys.readouterr().err == message
    assert contents(tmp_path / "out") == before


def test_half_written_files_of_a_killed_run_are_removed(fixed, tmp_path):
    out = tmp_path / "out"
    mine((fixed.folder,), out=out)
    (out / "train").mkdir(exist_ok=True)
    (out / "train" / ".a.parquet.1-2.tmp").write_text("half")
    (out / ".work" / "samples" / ".a.json.1-2.tmp").write_text("half")
    mine((fixed.folder,), out=out)
    assert not list(out.rglob("*.tmp"))


def test_another_repository_is_added_and_what_is_there_is_kept(fixed, tmp_path):
    other = make_fixed(tmp_path / "repos" / "me+other", "*")
    mine((fixed.folder,), out=tmp_path / "out")
    (shard,) = read_manifest(tmp_path / "out")["shards"]
    written = (tmp_path / "out" / shard["path"]).stat()
    mine((other.folder,), out=tmp_path / "out")
    shards = read_manifest(tmp_path / "out")["shards"]
    assert sorted(shard["project"] for shard in shards) == ["me/other", "owner/name"]
    assert (tmp_path / "out" / shard["path"]).stat() == written
    mine(
        (
            fixed.folder,
            other.folder,
        ),
        out=tmp_path / "both",
    )
    assert contents(tmp_path / "out") == contents(tmp_path / "both")


@pytest.mark.parametrize("damage", [None, b"", b"PAR1"])
def test_a_damaged_shard_is_made_again(fixed, tmp_path, damage):
    out = tmp_path / "out"
    mine((fixed.folder,), out=out)
    before = contents(out)
    (shard,) = read_manifest(out)["shards"]
    if damage is None:
        (out / shard["path"]).unlink()
    else:
        (out / shard["path"]).write_bytes(damage)
    mine((fixed.folder,), out=out)
    assert contents(out) == before


def test_a_fix_that_an_added_repository_has_too_is_there_once(fixed, tmp_path):
    """The one that comes first by name has it, whatever came first in time."""
    other = make_fixed(tmp_path / "repos" / "first+copy")
    for order in ([fixed, other], [other, fixed]):
        out = tmp_path / order[0].folder.name
        for each in order:
            mine((each.folder,), out=out)
        (shard,) = read_manifest(out)["shards"]
        assert shard["project"] == "first/copy"
        assert [path.relative_to(out).as_posix() for path in out.glob("*/*.parquet")] == [shard["path"]]
        assert len(Dataset(out, shard["split"])) == 1


def test_other_references_to_a_project_that_is_there_are_refused(fixed, tmp_path, capsys):
    make_fixed(tmp_path / "repos" / "me+other", "*")
    mine(tuple(sorted((tmp_path / "repos").iterdir())), out=tmp_path / "refs", refs_only=True)
    refs = tmp_path / "refs" / "references.jsonl.gz"
    realise(refs, repos=tmp_path / "repos", out=tmp_path / "out", where=("repo=owner/name",))
    before = contents(tmp_path / "out")
    capsys.readouterr()
    with pytest.raises(SystemExit):
        realise(refs, repos=tmp_path / "repos", out=tmp_path / "out", with_clean=True)
    assert contents(tmp_path / "out") == before
    message = (
        "already has samples of owner/name, made from other references or with other options; choose another"
    )
    assert message in capsys.readouterr().err
    realise(refs, repos=tmp_path / "repos", out=tmp_path / "out")
    assert len(read_manifest(tmp_path / "out")["shards"]) == 2


def test_samples_that_are_replaced_leave_nothing_behind(fixed, tmp_path):
    out = tmp_path / "out"
    mine((fixed.folder,), out=out, with_clean=True)
    (shard,) = read_manifest(out)["shards"]
    reference = Reference.of({"repo": "owner/name", "sha": "1234567", "path": "a.py", "split": "valid"})
    samples = list(Dataset(out, shard["split"]))
    folder = RealBugs(out)
    folder.write([reference], ProjectResult(samples=samples), with_clean=False)
    assert [path.relative_to(out).as_posix() for path in out.glob("*/*.parquet")] == [
        "valid/owner+name.parquet"
    ]
    assert not (out / "manifest.json").exists(), "expected no manifest that lists the old samples"
    folder.write([reference], ProjectResult(), with_clean=False)
    assert not list(out.glob("*/*.parquet"))
    assert folder.finish({})[0]["shards"] == []


def test_a_full_disk_does_not_cost_the_samples_that_were_there(fixed, tmp_path, monkeypatch):
    out = tmp_path / "out"
    mine((fixed.folder,), out=out)
    (shard,) = read_manifest(out)["shards"]
    copy = shutil.copytree(out, tmp_path / "copy")

    def full(*_):
        raise OSError(28, "No space left on device")

    reference = Reference.of({"repo": "owner/name", "sha": "1234567", "path": "a.py"})
    monkeypatch.setattr("hyperheat.bugs.mining.real_bugs.write_shard", full)
    with pytest.raises(OSError, match="No space left"):
        RealBugs(out).write(
            [reference], ProjectResult(samples=list(Dataset(copy, shard["split"]))), with_clean=True
        )
    assert RealBugs(out).finish({})[0]["shards"] == [shard]
    assert len(Dataset(out, shard["split"])) == 1


def test_a_folder_in_which_nothing_was_found_is_added_to(fixed, tmp_path):
    nothing = History(tmp_path / "repos" / "owner+nothing")
    nothing.commit("begin", {"a.py": PLUS})
    mine((nothing.folder,), out=tmp_path / "new")
    mine((fixed.folder,), out=tmp_path / "new")
    assert [shard["project"] for shard in read_manifest(tmp_path / "new")["shards"]] == ["owner/name"]
