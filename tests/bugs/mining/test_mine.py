"""Mining of small histories."""

import json
from collections import Counter

import pytest
from tests.bugs.mining.conftest import History

from hyperheat.bugs.corpus.packages import split_of
from hyperheat.bugs.dataset import Dataset, read_manifest
from hyperheat.bugs.mining import GitError, Mining, Reference, Repository, mine, read_references
from hyperheat.bugs.mining.fix_selection import distinct_fixes
from hyperheat.bugs.mining.pipeline import RepositorySource, gather
from hyperheat.bugs.mining.samples import repository_samples
from hyperheat.cli.bug_data import mine as command

PLUS = "def f(left, right):\n    both = left + right\n    return both, left, right\n"
MINUS = PLUS.replace("+", "-")
OTHER = PLUS.replace("def f", "def g")
SPLIT = split_of("name", 0)
"""Of a repository that is called name and declares no other name."""


def found(history, **settings):
    counts = Counter()
    newest_first = list(mine(Repository.open(history.folder), Mining(**settings), counts))
    return [Reference.of(record) for record in distinct_fixes([newest_first[::-1]], counts)], counts


def test_a_fix_becomes_a_reference_and_a_sample(history, tmp_path):
    parent = history.commit("begin", {"a.py": PLUS})
    sha = history.commit("Fix the sign", {"a.py": MINUS})
    command((history.folder,), out=tmp_path / "out", with_clean=True)
    shards = read_manifest(tmp_path / "out")["shards"]
    assert [shard["kinds"] for shard in shards] == [{"binary-operator": 1, "clean": 1}]
    assert [shard["path"] for shard in shards] == [f"{SPLIT}/owner+name.parquet"]
    buggy, clean = Dataset(tmp_path / "out", SPLIT)
    assert (buggy.source, buggy.kind) == (PLUS, "binary-operator")
    assert (clean.source, clean.kind) == (MINUS, "clean")
    assert (buggy.origin.project, buggy.origin.version) == ("owner/name", sha)
    assert (buggy.origin.path, buggy.origin.function, buggy.origin.line) == ("a.py", "f", 1)
    assert buggy.origin.tags == ("fix", "main", "likely")
    assert clean.origin.tags == ("fix", "main", "likely", "repaired")
    (reference,) = read_references(tmp_path / "out" / "references.jsonl.gz")
    assert isinstance(reference, Reference)
    record = reference.record
    assert (reference.sha, reference.parent, reference.kind) == (sha, parent, "binary-operator")
    assert (record["before_text"], record["after_text"], record["span"]) == ("+", "-", [2, 16, 2, 17])
    assert (record["role"], record["released_as"], record["split"]) == ("Assign.value", "name", SPLIT)


def test_references_alone_and_samples_later(history, tmp_path):
    history.commit("begin", {"a.py": PLUS})
    history.commit("Fix the sign", {"a.py": MINUS})
    command((history.folder,), out=tmp_path / "out", refs_only=True)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [".work", "references.jsonl.gz"]
    command((history.folder,), out=tmp_path / "out")
    assert len(Dataset(tmp_path / "out", SPLIT)) == 1


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject.toml", '[project]\nname = "Some.Name"\n'),
        ("pyproject.toml", '[tool.poetry]\nname = "some_name"\n'),
        ("pyproject.toml", '[tool.flit.metadata]\nmodule = "x"\ndist-name = "some-name"\n'),
        ("setup.cfg", "[metadata]\nname = some-name\n"),
        ("setup.py", "from setuptools import setup\nsetup(\n    name='Some-Name',\n)\n"),
        ("setup.py", "NAME = 'some.name'\nsetup(name=NAME)\n"),
        (
            "setup.py",
            "parts = [Extension(name='fast')]\nsetuptools.setup(name='some-name', ext_modules=parts)\n",
        ),
        ("setup.py", "title = 'some-name'\nsetup(ext_modules=[Extension(name='fast')], name=title)\n"),
        ("setup.py", "keywords = dict(name='some-name')\nsetup(**keywords)\n"),
        ("setup.py", "print 'Python 2'\nsetup(name='some-name')\n"),
    ],
)
def test_a_repository_is_split_by_the_name_it_is_released_under(history, tmp_path, file, text):
    history.commit("begin", {"a.py": PLUS, file: text})
    history.commit("Fix", {"a.py": MINUS})
    command((history.folder,), out=tmp_path / "out", refs_only=True)
    (reference,) = read_references(tmp_path / "out" / "references.jsonl.gz")
    assert reference.record["released_as"] == "some-name"
    assert reference.split == split_of("some-name", 0)


@pytest.mark.parametrize("text", ["name = [", "[tool]\npoetry = 1\n", '[project]\nname = "no name!"\n'])
def test_a_name_that_cannot_be_read_is_that_of_the_repository(history, tmp_path, text):
    history.commit("begin", {"a.py": PLUS, "pyproject.toml": text, "setup.cfg": text})
    history.commit("Fix", {"a.py": MINUS})
    command((history.folder,), out=tmp_path / "out", refs_only=True)
    (reference,) = read_references(tmp_path / "out" / "references.jsonl.gz")
    assert reference.record["released_as"] == "name"


def test_equal_runs_write_equal_bytes(history, tmp_path):
    history.commit("begin", {"a.py": PLUS})
    history.commit("Fix the sign", {"a.py": MINUS})
    for out in ("one", "two"):
        command((history.folder,), out=tmp_path / out)
    names = ["manifest.json", "references.jsonl.gz", f"{SPLIT}/owner+name.parquet"]
    assert all((tmp_path / "one" / n).read_bytes() == (tmp_path / "two" / n).read_bytes() for n in names)


def test_messages_and_tests_are_chosen(history):
    history.commit("begin", {"a.py": PLUS, "test_a.py": "\n" + PLUS})
    history.commit("Improve", {"a.py": MINUS})
    history.commit("Fix", {"test_a.py": "\n" + PLUS.replace("+", "*")})
    assert found(history)[0] == []
    assert [r.tags for r in found(history, tests=True)[0]] == [("fix", "test", "main")]
    assert [r.tags for r in found(history, any_message=True)[0]] == [("main",)]


def test_repeated_and_reverted_changes(history):
    history.commit("begin", {"a.py": PLUS, "b.py": PLUS})
    history.commit("Fix a", {"a.py": MINUS})
    history.commit("Fix b", {"b.py": MINUS})
    history.commit('Revert "Fix b"', {"b.py": PLUS})
    references, counts = found(history)
    assert [r.path for r in references] == ["b.py"]
    assert counts["the same change again"] == counts["the commit takes another one back"] == 1


@pytest.mark.parametrize(("last", "kept"), [("Fix back", 1), ("Change back", 0)])
def test_a_pair_that_goes_both_ways(history, last, kept):
    history.commit("begin", {"a.py": PLUS})
    history.commit("Fix", {"a.py": MINUS})
    history.commit(last, {"a.py": PLUS})
    references, counts = found(history, any_message=True)
    assert [r.record["after_text"] for r in references] == ["+"] * kept
    assert counts["the same change was taken back"] == 2 - kept


def test_merges_branches_and_limits(history):
    history.commit("begin", {"a.py": PLUS})
    history.git("checkout", "--quiet", "-b", "side")
    side = history.commit("Fix on the side", {"a.py": MINUS})
    history.git("checkout", "--quiet", "main")
    history.commit("Fix other", {"b.py": "\n"})
    assert found(history)[0] == []
    (reference,) = found(history, all_refs=True)[0]
    assert (reference.sha, reference.tags) == (side, ("fix",))
    history.git("merge", "--quiet", "--no-ff", "-m", "Fix by merging", "side")
    assert [(r.sha, r.tags) for r in found(history)[0]] == [(side, ("fix", "main"))]
    history.commit("Fix more", {"a.py": MINUS.replace("-", "*")})
    assert [r.record["after_text"] for r in found(history, max_commits=1)[0]] == ["*"]
    assert found(history, since="2021-01-01")[0] == []


@pytest.mark.parametrize("name", ['a "b".py', "a\nb.py", "a\tb c.py", "ä.py", "-a.py", "a:b.py"])
def test_odd_names(history, name):
    history.commit("begin", {f"d/{name}": PLUS})
    history.commit("Fix", {f"d/{name}": MINUS})
    assert [r.path for r in found(history)[0]] == [f"d/{name}"]


def test_calls_lead_to_the_project_of_the_time(history):
    calling = "from p.b import g\ndef f(left, right):\n    return g(left + right, left)\n"
    history.commit(
        "begin", {"p/__init__.py": "", "p/a.py": calling, "p/b.py": "def g(width, height): pass\n"}
    )
    history.commit("Fix", {"p/a.py": calling.replace("+", "-")})
    history.commit("later", {"p/b.py": "def g(x, y): pass\n"})
    repository = Repository.open(history.folder)
    references = [Reference.of(record) for record in mine(repository, Mining(), Counter())]
    (sample,) = repository_samples(references, repository, with_clean=False).samples
    assert "height" in str(sample.graph)


def test_files_that_do_not_parse_or_are_renamed_are_counted(history):
    old = "print 'a'\n" + PLUS
    history.commit("begin", {"a.py": old, "b.py": PLUS, "c.py": PLUS.replace("\n", "\r\n")})
    history.commit("Fix Python 2", {"a.py": old.replace("+", "-")})
    history.commit("Fix and move", {"b.py": None, "d.py": MINUS})
    history.commit("Fix line ends too", {"c.py": PLUS.replace("\n", "\r\n").replace("+", "*")})
    references, counts = found(history)
    assert [r.path for r in references] == ["c.py"]
    assert counts["the file before is not Python 3"] == 1


def test_a_missing_blob_is_counted(history):
    history.commit("begin", {"a.py": PLUS, "b.py": OTHER})
    history.commit("Fix b", {"b.py": OTHER.replace("+", "*")})
    history.commit("Fix a", {"a.py": MINUS})
    id = history.git("rev-parse", "HEAD:a.py")
    (history.folder / ".git" / "objects" / id[:2] / id[2:]).unlink()
    references, counts = found(history)
    assert [r.path for r in references] == ["b.py"]
    assert counts["a version of the file is missing"] == 1


def test_a_subject_with_a_mark_of_ours_spoils_only_itself(history):
    history.commit("begin", {"a.py": PLUS, "b.py": OTHER})
    history.commit("Fix \x01 a", {"a.py": MINUS})
    history.commit("Fix b", {"b.py": OTHER.replace("+", "*")})
    assert [r.path for r in found(history)[0]] == ["b.py"]


def test_what_is_no_history(history, tmp_path, capsys):
    with pytest.raises(GitError, match="the repository has no commits"):
        found(history)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    for folder, got in (("empty", "a folder"), ("file", "a file"), ("no", "missing")):
        with pytest.raises(GitError, match=f"{folder} is {got}, not a git repository"):
            Repository.open(tmp_path / folder)
    with pytest.raises(SystemExit):
        command((tmp_path / "no",), out=tmp_path / "out")
    assert "is missing, not a git repository" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    with pytest.raises(SystemExit):
        command(out=tmp_path / "out")
    message = "nothing to mine: give git repositories, --package NAME or --packages FILE\n"
    assert capsys.readouterr().err == message


def test_one_bad_repository_does_not_stop_the_others(history, tmp_path, capsys):
    history.commit("begin", {"a.py": PLUS})
    history.commit("Fix", {"a.py": MINUS})
    command(
        (
            tmp_path / "no",
            history.folder,
        ),
        out=tmp_path / "out",
    )
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert [shard["samples"] for shard in manifest["shards"]] == [1]
    assert list(manifest["report"]["failed"]) == [str(tmp_path / "no")]
    printed = capsys.readouterr()
    assert "found" in printed.out
    assert printed.err.count(str(tmp_path / "no")) == 1
    assert printed.err.endswith("1 of 2 failed; run the same command again to retry them\n")


def test_bare_repositories_and_names_from_addresses(history, tmp_path):
    history.commit("begin", {"a.py": PLUS})
    history.git("clone", "--quiet", "--bare", str(history.folder), str(tmp_path / "x" / "repo"))
    assert Repository.open(tmp_path / "x").folder == tmp_path / "x" / "repo"
    history.git("remote", "add", "origin", "git@host.example:some/project.git")
    assert Repository.open(history.folder).name == "some/project"


@pytest.mark.parametrize(
    ("folder", "origin", "name"),
    [
        ("r1", None, "local/r1"),
        ("a b.git", None, "local/a-b"),
        ("..x..", None, "local/.x."),
        ("me+r 1+x", None, "me/r-1-x"),
        ("r1", "https://host.example/some one/pro..ject (2).git", "some-one/pro.ject-2-"),
        ("r1", "/", "local/r1"),
    ],
)
def test_every_repository_has_a_name_that_references_take(tmp_path, folder, origin, name):
    history = History(tmp_path / folder)
    history.commit("begin", {"a.py": PLUS})
    history.commit("Fix", {"a.py": MINUS})
    if origin is not None:
        history.git("config", "remote.origin.url", origin)
    command((history.folder,), out=tmp_path / "out")
    assert [shard["project"] for shard in read_manifest(tmp_path / "out")["shards"]] == [name]


def test_an_error_in_one_repository_does_not_stop_the_others(history, tmp_path, capsys):
    for each in (history, History(tmp_path / "bad")):
        each.commit("begin", {"a.py": PLUS})
        each.commit("Fix", {"a.py": MINUS})
    tree = (tmp_path / "bad" / ".git" / "objects").joinpath(*_in_store(tmp_path / "bad"))
    tree.chmod(0o644)
    tree.write_bytes(b"nonsense")
    command(
        (
            tmp_path / "bad",
            history.folder,
        ),
        out=tmp_path / "out",
    )
    manifest = read_manifest(tmp_path / "out")
    assert [shard["project"] for shard in manifest["shards"]] == ["owner/name"]
    assert list(manifest["report"]["failed"]) == ["local+bad"]
    assert capsys.readouterr().err.count("local+bad: ") == 1


def _in_store(folder):
    """Where the tree of the last commit lies among the objects."""
    id = Repository.open(folder).resolve(f"{Repository.open(folder).head()}^{{tree}}")
    assert id is not None
    return id[:2], id[2:]


def test_finished_repositories_outlive_an_interruption(history, tmp_path, monkeypatch, capsys):
    history.commit("begin", {"a.py": PLUS})
    history.commit("Fix", {"a.py": MINUS})

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("hyperheat.cli.bug_data.realise_references", interrupt)
        with pytest.raises(SystemExit) as caught:
            command((history.folder,), out=tmp_path / "out")
    assert caught.value.code == 130
    message = "\nstopped; finished work is kept, run the same command again to continue\n"
    assert capsys.readouterr().err.endswith(message)
    record = tmp_path / "out" / ".work" / "mined" / "owner+name.json"
    before = record.stat()
    command((history.folder,), out=tmp_path / "out")
    assert record.stat() == before
    assert len(Dataset(tmp_path / "out", SPLIT)) == 1


def test_two_repositories_of_one_name_are_not_confused(tmp_path, capsys):
    for owner, sign in (("a", "-"), ("b", "*")):
        same = History(tmp_path / owner / "same")
        same.commit("begin", {"a.py": PLUS})
        same.commit("Fix", {"a.py": PLUS.replace("+", sign)})
    folders = (tmp_path / "a" / "same", tmp_path / "b" / "same")
    command(folders, out=tmp_path / "out")
    (reference,) = read_references(tmp_path / "out" / "references.jsonl.gz")
    assert (reference.project, reference.record["after_text"]) == ("local/same", "-")
    assert sum(shard["samples"] for shard in read_manifest(tmp_path / "out")["shards"]) == 1
    message = f"{folders[1]}: {folders[0]} has the same name, local/same; mine them into different folders\n"
    assert message in capsys.readouterr().err


def test_other_limits_are_refused_in_a_folder_that_is_there(history, tmp_path):
    history.commit("begin", {"a.py": PLUS})
    history.commit("Fix", {"a.py": MINUS})
    gather([RepositorySource(folder=history.folder, mining=Mining())], tmp_path / "out")
    other = RepositorySource(folder=history.folder, mining=Mining(tests=True, since="2000-01-01"))
    with pytest.raises(ValueError, match=r"mined from owner\+name with a different since, tests; choose"):
        gather([other], tmp_path / "out")
