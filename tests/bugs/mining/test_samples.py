"""References to released bugs that become samples, and those that no longer can."""

import pytest
from tests.bugs.mining.local_index import LocalIndex, make_wheel

from hyperheat.bugs.corpus.packages import PassingError
from hyperheat.bugs.mining import ReleaseReference
from hyperheat.bugs.mining.real_bugs import FOUND, MISSING, NOT_EXPRESSIBLE
from hyperheat.bugs.mining.releases import mine_package
from hyperheat.bugs.mining.samples import package_samples

F = "def f(left, right):\n    both = left + right\n    return both, left, right\n"
FILE = "pack-1.0-py3-none-any.whl"


@pytest.fixture
def record(index: LocalIndex) -> dict:
    """A reference to the bug of release 1.0."""
    index.release("pack", "1.0", {"pack/a.py": F})
    index.release("pack", "1.1", {"pack/a.py": F.replace("+", "-")})
    (fix,) = mine_package("pack", index.registry).fixes
    return fix


def realise(index, *records, with_clean=False):
    references = [ReleaseReference.of(record) for record in records]
    return package_samples(references, index.registry, with_clean=with_clean)


def test_a_sample_and_its_clean_counterpart(index, record):
    result = realise(index, record, with_clean=True)
    buggy, clean = result.samples
    assert (buggy.source, buggy.kind) == (F, "binary-operator")
    assert (clean.source, clean.kind) == (F.replace("+", "-"), "clean")
    origin = buggy.origin
    assert (origin.project, origin.version, origin.path, origin.function) == ("pack", "1.0", "pack/a.py", "f")
    assert (origin.line, origin.tags, clean.origin.tags) == (1, ("released",), ("released", "repaired"))
    assert (result.counts, result.left_out, result.problems) == ([(FOUND, "", "binary-operator")], [], [])


def test_calls_lead_into_the_package(index):
    text = "from pack.b import g\ndef f(left, right):\n    return g(left + right, left)\n"
    files = {"pack/__init__.py": "", "pack/b.py": "def g(width, height): pass\n"}
    index.release_source(
        "pack", "1.0", {f"src/{path}": t for path, t in {**files, "pack/a.py": text}.items()}
    )
    index.release("pack", "1.1", {**files, "pack/a.py": text.replace("+", "-")})
    (fix,) = mine_package("pack", index.registry).fixes
    (sample,) = realise(index, fix).samples
    assert "height" in str(sample.graph)


def test_a_yanked_release_still_serves(index, record):
    index.files["pack"][FILE]["yanked"] = "broken"
    assert len(realise(index, record).samples) == 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"archive": "pack-0.9.tar.gz"}, "the release"),
        ({"sha256": "0" * 64}, "the archive as it was"),
        ({"path": "pack/none.py"}, "the file"),
        ({"function": "g"}, "the function"),
        ({"start_line": 2}, "the function"),
        ({"kind": "literal"}, "the candidate"),
        ({"after_text": "**="}, "the candidate"),
        ({"span": [2, 17, 2, 18]}, "the candidate"),
    ],
)
def test_what_is_missing_is_counted_with_its_reason(index, record, change, reason):
    wrong = {**record, **change}
    result = realise(index, wrong, record)
    assert sorted(result.counts) == sorted([(MISSING, reason, wrong["kind"]), (FOUND, "", "binary-operator")])
    assert result.left_out == [
        {
            "package": "pack",
            "release": "1.0",
            "path": wrong["path"],
            "function": wrong["function"],
            "kind": wrong["kind"],
            "outcome": MISSING,
            "reason": reason,
        }
    ]
    assert len(result.samples) == 1


def test_an_archive_that_was_replaced(index, record):
    index.release("pack", "1.0", {"pack/a.py": F, "pack/new.py": ""})
    assert realise(index, record).counts == [(MISSING, "the archive as it was", "binary-operator")]


def test_an_archive_that_is_gone_or_broken(index, record):
    index.answers[f"/files/pack/{FILE}"] = [404]
    result = realise(index, record)
    assert result.counts == [(MISSING, "the archive is not readable", "binary-operator")]
    assert result.problems == [f"pack 1.0: {FILE} is listed but cannot be downloaded"]
    index.files["pack"][FILE]["contents"] = b"changed"
    result = realise(index, record)
    assert result.problems == [f"pack 1.0: {FILE} does not have the SHA-256 hash that the index gives"]


def test_a_package_that_is_gone(index, record):
    del index.files["pack"]
    result = realise(index, record)
    assert result.counts == [(MISSING, "the release", "binary-operator")]
    assert result.problems == ["pack: the package index has no package of this name"]


def test_an_index_that_cannot_be_reached_is_no_result(index, record, naps):
    index.answers["/simple/pack/"] = [500] * 4
    with pytest.raises(PassingError):
        realise(index, record)


def test_a_file_that_cannot_be_read(index, record):
    contents = make_wheel({"pack/a.py": "print 'Python 2'\n" + F})
    index.add("pack", FILE, contents)
    result = realise(index, {**record, "sha256": index.files["pack"][FILE]["sha256"]})
    assert result.counts == [(NOT_EXPRESSIBLE, "the function cannot be read", "binary-operator")]
    assert len(result.problems) == 1


def test_names_that_no_disk_takes_are_left_out(index):
    long = {f"pack/{'x' * 300}.py": F, f"{'d/' * 3000}a.py": F, "pack/a.py": F, "pack/a.py/b.py": F}
    index.release("pack", "1.0", long)
    index.release("pack", "1.1", {path: text.replace("+", "-") for path, text in long.items()})
    found = {fix["path"]: fix for fix in mine_package("pack", index.registry).fixes}
    assert sorted(found) == ["pack/a.py", "pack/a.py/b.py"]
    result = realise(index, *found.values())
    assert sorted(result.counts) == [(FOUND, "", "binary-operator"), (MISSING, "the file", "binary-operator")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"package": "../x"}, "package: expected text of the form"),
        ({"before": ""}, "before: expected a text"),
        ({"archive": "../pack-1.0.tar.gz"}, "archive: expected text of the form"),
        ({"archive": "pack-1.0.exe"}, "archive: expected text of the form"),
        ({"sha256": "xyz"}, "sha256: expected text of the form"),
        ({"path": "../a.py"}, "path: expected the path of a file"),
        ({"span": [1, 2, 3]}, "span: expected four numbers"),
        ({"span": [1, 2, 3, True]}, "span: expected four numbers"),
        ({"start_line": "1"}, "start_line: expected a number"),
        ({"after_text": None}, "after_text: expected a text"),
        ({"function": ""}, "function: expected a text"),
        ({"split": "dev"}, "split: expected one of"),
    ],
)
def test_wrong_references_are_refused(record, change, message):
    with pytest.raises(ValueError, match=message):
        ReleaseReference.of({**record, **change})
