"""Folders that get real bugs, and those that are left alone."""

import json

import pytest
from tests.bugs.mining.conftest import History

from hyperheat.bugs.dataset import HEAD, read_manifest
from hyperheat.cli.bugs_mine import mine, realise

PLUS = "def f(left, right):\n    both = left + right\n    return both, left, right\n"
MINUS = PLUS.replace("+", "-")


@pytest.fixture
def fixed(history):
    history.commit("begin", {"a.py": PLUS})
    history.commit("Fix", {"a.py": MINUS})
    return history


@pytest.fixture
def out(tmp_path):
    (tmp_path / "out" / "test").mkdir(parents=True)
    return tmp_path / "out"


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run_both(fixed, tmp_path, out):
    """What both commands say when they refuse a folder."""
    refs = tmp_path / "refs.jsonl"
    mine([fixed.folder], refs_only=refs)
    for run in (
        lambda: mine([fixed.folder], out=out),
        lambda: realise(refs, repos=tmp_path / "repos", out=out),
    ):
        with pytest.raises(SystemExit):
            run()


@pytest.mark.parametrize("name", ["train/a.parquet", "test/notes.txt", "test/d/a.parquet", "README.md"])
def test_a_folder_with_other_files_is_left_alone(fixed, tmp_path, out, capsys, name):
    (out / name).parent.mkdir(parents=True, exist_ok=True)
    (out / name).write_text("dear")
    (out / "test" / "other.parquet").write_text("dear")
    before = contents(out)
    run_both(fixed, tmp_path, out)
    assert contents(out) == before
    shown = name.split("/")[0] if name.startswith("train") else name.removesuffix("/a.parquet")
    message = f"{out}: expected a folder that is new or of real bugs, got one with {shown}\n"
    assert capsys.readouterr().err.count(message) == 2


def test_another_data_set_is_left_alone(fixed, tmp_path, out, capsys):
    manifest = {**HEAD, "settings": {}, "shards": []}
    (out / "manifest.json").write_text(json.dumps(manifest))
    (out / "test" / "other.parquet").write_text("dear")
    before = contents(out)
    run_both(fixed, tmp_path, out)
    assert contents(out) == before
    assert capsys.readouterr().err.count("got another data set\n") == 2


def test_what_an_earlier_run_left_is_replaced(fixed, tmp_path, out):
    (out / "test" / "unfinished.parquet").write_text("")
    mine([fixed.folder], out=out)
    assert sorted(p.name for p in (out / "test").iterdir()) == ["owner+name.parquet"]
    (out / "test" / "other.parquet").write_text("dear")
    fixed.git("config", "remote.origin.url", "https://host.example/new/name")
    mine([fixed.folder], out=out)
    assert sorted(p.name for p in (out / "test").iterdir()) == ["new+name.parquet", "other.parquet"]


def test_two_repositories_of_one_name_get_a_shard_each(tmp_path):
    for owner, sign in (("a", "-"), ("b", "*")):
        history = History(tmp_path / owner / "same")
        history.commit("begin", {"a.py": PLUS})
        history.commit("Fix", {"a.py": PLUS.replace("+", sign)})
    mine([tmp_path / "a" / "same", tmp_path / "b" / "same"], out=tmp_path / "out")
    shards = read_manifest(tmp_path / "out")["shards"]
    assert [shard["path"] for shard in shards] == ["test/local+same+2.parquet", "test/local+same.parquet"]
    assert {shard["project"] for shard in shards} == {"local/same"}
