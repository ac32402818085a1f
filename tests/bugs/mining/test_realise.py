"""References to samples."""

import gzip
import json

import pytest

from hyperheat.bugs.dataset import Dataset, read_manifest
from hyperheat.bugs.mining import GitError, Reference, read_references
from hyperheat.bugs.mining.real_bugs import FOUND, MISSING
from hyperheat.bugs.mining.samples import Checkout, commit_samples
from hyperheat.cli.bug_data import realise as command
from hyperheat.detector.sample import make_sample

PLUS = "def f(left, right):\n    both = left + right\n    return both, left, right\n"
MINUS = PLUS.replace("+", "-")
UNKNOWN = "1" * 40


@pytest.fixture
def fixed(history):
    parent = history.commit("begin", {"a.py": PLUS, "d/b\nc.py": PLUS, "p.py": "print 1\n" + PLUS})
    sha = history.commit(
        "Fix", {"a.py": MINUS, "d/b\nc.py": MINUS.replace("-", "*"), "p.py": "print 1\n" + MINUS}
    )
    facts = {"on_main": True, "fix_like": True, "is_test_file": False}
    return {
        "repo": "owner/name",
        "sha": sha,
        "parent": parent,
        "path": "a.py",
        "kind": "binary-operator",
        **facts,
    }


def write(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def run(tmp_path, *records, **options):
    refs = write(tmp_path / "refs.jsonl", *records)
    command(refs, repos=tmp_path / "repos", out=tmp_path / "out", **options)
    return read_manifest(tmp_path / "out")["report"]


def test_a_reference_becomes_a_sample(fixed, tmp_path, capsys):
    assert run(tmp_path, fixed) == {"found": {"": {"binary-operator": 1}}}
    (sample,) = Dataset(tmp_path / "out", "test")
    assert (sample.source, sample.kind, sample.origin.tags) == (PLUS, "binary-operator", ("fix", "main"))
    assert "s per reference" in capsys.readouterr().out


def test_the_published_form_of_pypibugs(fixed, tmp_path):
    record = {
        "repo": "https://github.com/owner/name.git",
        "hash": fixed["sha"],
        "diff": "@@ -2 +2 @@",
        "old_path": "a.py",
        "rewrite": "BinaryOperatorRewriteOp",
    }
    assert run(tmp_path, record) == {"found": {"": {"binary-operator": 1}}}
    (sample,) = Dataset(tmp_path / "out", "test")
    assert (sample.origin.project, sample.origin.version) == ("owner/name", fixed["sha"])


def test_all_that_is_left_out_is_counted_with_its_reason(fixed, tmp_path):
    records = [
        {**fixed, "path": "d/b\nc.py"},
        {**fixed, "repo": "owner/other"},
        {**fixed, "sha": UNKNOWN},
        {**fixed, "parent": UNKNOWN},
        {**fixed, "path": "none.py"},
        {**fixed, "path": "p.py"},
        {**fixed, "sha": fixed["parent"]},
    ]
    assert run(tmp_path, *records) == {
        "found": {"": {"binary-operator": 1}},
        "missing": {
            "the commit": {"binary-operator": 1},
            "the commit before": {"binary-operator": 1},
            "the file before": {"binary-operator": 1},
            "the repository": {"binary-operator": 1},
        },
        "not expressible": {
            "no code changes": {"binary-operator": 1},
            "the file before is not Python 3": {"binary-operator": 1},
        },
    }
    rows = [json.loads(line) for line in (tmp_path / "out" / "left_out.jsonl").read_text().splitlines()]
    assert len(rows) == 6
    assert {row["reason"] for row in rows if row["path"] == "p.py"} == {"the file before is not Python 3"}


def test_whether_the_rules_know_the_place(history, tmp_path):
    before = "def f(a, b):\n    c = not a\n    return b.x + a\n"
    parent = history.commit("begin", {"a.py": before, "b.py": before})
    sha = history.commit(
        "Fix", {"a.py": before.replace("not a", "a"), "b.py": before.replace("b.x + a", "b.x + f")}
    )
    shared = {"repo": "owner/name", "sha": sha, "parent": parent}
    removed = {**shared, "path": "a.py", "kind": "boolean-operator", "span": [2, 8, 2, 13]}
    other = {**shared, "path": "b.py", "kind": "variable-misuse", "span": [3, 17, 3, 18]}
    assert run(tmp_path, removed, other)["not expressible"] == {
        "its place has candidates, this one not among them": {"variable-misuse": 1},
        "its place has no candidates of the kind": {"boolean-operator": 1},
    }


@pytest.mark.parametrize("place", ["owner+name", "owner/name", "owner__name", "name", "name.git"])
def test_where_repositories_may_lie(history, fixed, tmp_path, place):
    target = tmp_path / "elsewhere" / place
    target.parent.mkdir(parents=True)
    history.folder.rename(target)
    refs = write(tmp_path / "refs.jsonl", fixed)
    command(refs, repos=tmp_path / "elsewhere", out=tmp_path / "out")
    assert len(Dataset(tmp_path / "out", "test")) == 1


def test_a_clone_that_fails_is_said_and_stops_nothing(fixed, tmp_path, capsys):
    away = {**fixed, "repo": "http://127.0.0.1:9/some/project"}
    report = run(tmp_path, away, fixed, clone=True)
    assert report["found"] == {"": {"binary-operator": 1}}
    assert report["missing"] == {"the repository": {"binary-operator": 1}}
    assert "http://127.0.0.1:9/some/project: cannot be cloned:" in capsys.readouterr().err
    assert not (tmp_path / "repos" / "some+project").exists()


def test_gzipped_references_are_selected_by_fields(fixed, tmp_path, capsys):
    packed = tmp_path / "refs.jsonl.gz"
    packed.write_bytes(gzip.compress(write(tmp_path / "r", fixed, {**fixed, "fix_like": False}).read_bytes()))
    command(packed, repos=tmp_path / "repos", out=tmp_path / "out", where=("fix_like=true", "path=a.py"))
    assert len(Dataset(tmp_path / "out", "test")) == 1
    for where, message in (
        ("fix=true", "got 'fix'"),
        ("x", "expected field=value"),
        ("sha=0", "match --where"),
    ):
        with pytest.raises(SystemExit):
            command(packed, repos=tmp_path / "repos", out=tmp_path / "out", where=(where,))
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", ":1: "),
        ("[]", ":1: expected a JSON object, got []"),
        ('{"repo": "a/b"}', ":1: sha: expected a text, got None"),
        ('{"repo": "a/b", "sha": "--all", "path": "x"}', "sha: expected the id of a commit, got '--all'"),
        ('{"repo": "ext::sh", "sha": "1234567", "path": "x"}', "repo: expected owner/name or the address"),
        ('{"repo": "../x", "sha": "1234567", "path": "x"}', "repo: expected owner/name or the address"),
        ('{"repo": "a/b", "sha": "1234567", "path": 1}', "path: expected a text, got 1"),
        *(
            (
                json.dumps({"repo": "a/b", "sha": "1234567", "path": path}),
                f"inside the repository, got {path!r}",
            )
            for path in ("/a.py", "../a.py", "a/../b.py", "a//b.py", ".", "a\0.py", "\ud800.py")
        ),
    ],
)
def test_wrong_references_name_their_line(tmp_path, text, message):
    (tmp_path / "refs.jsonl").write_text(text)
    with pytest.raises(ValueError, match=r"refs\.jsonl") as caught:
        read_references(tmp_path / "refs.jsonl")
    assert message in str(caught.value)


def test_broken_gzip_is_one_sentence(tmp_path):
    (tmp_path / "refs.gz").write_bytes(gzip.compress(b"{}" * 1000)[:-9])
    with pytest.raises(ValueError, match="not a file of JSON lines, gzipped or not"):
        read_references(tmp_path / "refs.gz")


def test_a_reference_without_a_parent_means_the_first():
    reference = Reference.of({"repo": "a/b", "hash": "1234567", "old_path": "x.py"})
    assert (reference.parent, reference.address) == ("1234567^", "https://github.com/a/b")


def test_parts_that_mean_the_folder_itself_are_dropped(fixed, tmp_path):
    assert run(tmp_path, {**fixed, "path": "././a.py"}) == {"found": {"": {"binary-operator": 1}}}
    (sample,) = Dataset(tmp_path / "out", "test")
    assert sample.origin.path == "a.py"


def samples_of(tmp_path, *records, with_clean=False):
    """What becomes of references in this process."""
    references = [Reference.of(record) for record in records]
    return commit_samples(references, tmp_path / "repos", clone=False, with_clean=with_clean)


def test_an_unreadable_reference_does_not_stop_the_others(fixed, tmp_path, monkeypatch):
    real = Checkout.extract

    def read(checkout, commit, path, contents):
        if path == "a.py":
            raise GitError("expected a commit, got a damaged one")
        return real(checkout, commit, path, contents)

    monkeypatch.setattr(Checkout, "extract", read)
    result = samples_of(tmp_path, fixed, {**fixed, "path": "d/b\nc.py"})
    assert sorted(result.counts) == [
        (FOUND, "", "binary-operator"),
        (MISSING, "unreadable", "binary-operator"),
    ]
    assert result.problems == [f"owner/name {fixed['sha']}: expected a commit, got a damaged one"]


def test_a_repaired_function_without_candidates_is_told_of(fixed, tmp_path, monkeypatch):
    def make(function, repair, origin):
        if repair is None:
            raise ValueError("f: expected candidate rewrites, got none")
        return make_sample(function, repair, origin)

    monkeypatch.setattr("hyperheat.bugs.mining.samples.make_sample", make)
    result = samples_of(tmp_path, fixed, with_clean=True)
    assert result.counts == [(FOUND, "", "binary-operator")]
    (problem,) = result.problems
    assert problem.endswith("or has no candidates, so there is no clean sample")


def test_a_list_of_commits_needs_their_repositories(fixed, tmp_path, capsys):
    refs = write(tmp_path / "refs.jsonl", fixed)
    with pytest.raises(SystemExit):
        command(refs, out=tmp_path / "out")
    message = f"{refs} refers to commits: give the folder of the repositories with --repos\n"
    assert capsys.readouterr().err == message


def test_a_reference_says_its_split(fixed, tmp_path):
    run(tmp_path, {**fixed, "split": "valid"})
    assert len(Dataset(tmp_path / "out", "valid")) == 1
    with pytest.raises(ValueError, match="split: expected one of train, valid, test, got 'dev'"):
        Reference.of({**fixed, "split": "dev"})
