"""`tools/bug_lists.py --join`: new packages come into the lists, and nothing that is there changes."""

import json
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hyperheat.bugs.corpus.packages import read_names, split_of
from hyperheat.bugs.mining.references import read_records, write_records

ROOT = Path(__file__).parents[3]
tool = SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "bug_lists.py")))

SPLITS = {
    split: [n for n in (f"p{i}" for i in range(99)) if split_of(n, 0) == split] for split in ("train", "test")
}
OLD, NEW, OTHER = SPLITS["train"][:3]
TEST = SPLITS["test"][0]


def fix(package: str, pair: tuple[str, str], **fields: Any) -> dict[str, Any]:
    """A fix as mining records it."""
    return {
        "package": package,
        "before": "1.0",
        "after": "1.1",
        "archive": f"{package}-1.0.tar.gz",
        "sha256": "0" * 64,
        "path": "a.py",
        "function": "f",
        "start_line": 1,
        "span": [2, 0, 2, 1],
        "before_text": "a",
        "after_text": "b",
        "kind": "variable-misuse",
        "pair": list(pair),
        **fields,
    }


def commit(repo: str, pair: tuple[str, str], released_as: str) -> dict[str, Any]:
    shas = {"sha": "a" * 40, "parent": "b" * 40}
    return {
        "repo": repo,
        **shas,
        "path": "a.py",
        "kind": "literal",
        "pair": list(pair),
        "released_as": released_as,
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Lists with one package of the training split, one of the test split, and one repository."""
    data = tmp_path / "data"
    data.mkdir()
    chosen = {"split": "train", "weight": 0.95}
    released = [fix(OLD, ("a", "b"), **chosen), fix(TEST, ("c", "d"), split="test", weight=0.95)]
    released.sort(key=lambda record: f"{record['package']}.json")
    write_records(released, data / "released_bugs.jsonl.gz")
    write_records([commit("o/old", ("e", "f"), OLD) | chosen], data / "committed_bugs.jsonl.gz")
    (data / "packages.txt").write_text(
        "# Packages whose releases were compared: those with three or more final releases that can be read.\n"
        + "".join(f"{name}\n" for name in sorted([OLD, TEST]))
    )
    return data


def mine(folder: Path, name: str, fixes: list[dict[str, Any]], *, releases: int = 3) -> None:
    """Write what mining a package or, with a `+` in its name, a repository leaves in a folder."""
    record: dict[str, Any] = {"fixes": fixes, "counts": {}, "problems": [], "settings": {}}
    if "+" not in name:
        record |= {"package": name, "releases": [f"1.{i}" for i in range(releases)]}
    path = folder / ".work" / "mined" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record))


def contents(data: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in data.iterdir()}


def test_new_packages_are_added_and_the_present_records_stay(data, tmp_path):
    before = read_records(data / "released_bugs.jsonl.gz")
    mine(tmp_path, NEW, [fix(NEW, ("g", "h"))])
    mine(tmp_path, "o+new", [commit("o/new", ("i", "j"), OTHER)])
    counts = tool.join_lists(tmp_path, data)
    after = read_records(data / "released_bugs.jsonl.gz")
    assert [record for record in after if record["package"] != NEW] == before
    (added,) = (record for record in after if record["package"] == NEW)
    assert (added["split"], added["weight"]) == ("train", 0.95)
    assert [r["repo"] for r in read_records(data / "committed_bugs.jsonl.gz")] == ["o/new", "o/old"]
    assert [package.name for package in read_names(data / "packages.txt")] == sorted([OLD, TEST, NEW])
    assert counts == {"added: released bugs": 1, "added: bugs in commits": 1, "added: packages": 1}


def test_nothing_new_changes_no_byte(data, tmp_path):
    before = contents(data)
    mine(tmp_path, OLD, [fix(OLD, ("k", "l"))])
    mine(tmp_path, "o+old", [commit("o/old", ("m", "n"), OLD)])
    assert tool.join_lists(tmp_path, data) == {"projects that the lists already have": 2}
    assert contents(data) == before


def test_the_test_split_never_changes(data, tmp_path):
    before = contents(data)
    other = SPLITS["test"][1]
    mine(tmp_path, other, [fix(other, ("o", "p"))])
    mine(tmp_path, "o+held", [commit("o/held", ("q", "r"), TEST)])
    assert tool.join_lists(tmp_path, data) == {"fixes in the test split": 2}
    assert contents(data) == before


def test_fixes_that_the_lists_have_are_dropped_either_way(data, tmp_path):
    mine(tmp_path, NEW, [fix(NEW, ("a", "b")), fix(NEW, ("d", "c")), fix(NEW, ("s", "t"))])
    mine(tmp_path, OTHER, [fix(OTHER, ("s", "t"))])
    counts = tool.join_lists(tmp_path, data)
    assert counts["added: released bugs"] == 1
    assert (counts["the same change again"], counts["the same change was taken back"]) == (2, 1)
    pairs = [frozenset(record["pair"]) for record in read_records(data / "released_bugs.jsonl.gz")]
    assert len(set(pairs)) == len(pairs) == 3


def test_packages_with_few_releases_and_those_that_failed_are_left_out(data, tmp_path):
    before = contents(data)
    mine(tmp_path, NEW, [fix(NEW, ("u", "v"))], releases=2)
    failed = {"fixes": [], "counts": {}, "problems": ["no such package"], "settings": {}}
    (tmp_path / ".work" / "mined" / "gone.json").write_text(json.dumps(failed))
    assert tool.join_lists(tmp_path, data) == {"packages with fewer than 3 releases": 1}
    assert contents(data) == before


def test_joining_needs_a_folder(capsys):
    with pytest.raises(SystemExit):
        tool.main(["--join"])
    assert "--join needs the folder MINED" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        tool.main(["nowhere", "--join"])
    assert "nowhere is not a folder that `hyperheat bugs mine` wrote" in capsys.readouterr().err
