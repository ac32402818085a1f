"""Names of packages, folders of sources, and the split."""

import re
from collections import Counter
from pathlib import Path

import pytest

from hyperheat.bugs.corpus import CorpusError, Package, read_names, source_packages, without
from hyperheat.bugs.corpus.packages import normalise, split_of

PROJECT = Path(__file__).parent / "project"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Flask", "flask"),
        ("ruamel.yaml", "ruamel-yaml"),
        ("a__b-.c", "a-b-c"),
        ("jaraco_text", "jaraco-text"),
    ],
)
def test_a_name_has_one_spelling(name, expected):
    assert normalise(name) == expected


def test_a_file_of_names(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("# web\nFlask_Thing == 2.0.1  # pinned\n\nattrs\n")
    assert read_names(path) == [Package(name="attrs"), Package(name="flask-thing", version="2.0.1")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"attrs\n\nfoo>=1\n", ":3: expected `name` or `name==version`, got 'foo>=1'"),
        (b"a\n-r other.txt\n", ":2: expected `name` or `name==version`, got '-r other.txt'"),
        (b"a\nb\n\xff\xfe\n", ":3: not valid UTF-8"),
        (b"A==1\nb\na==2\n", ":3: a is already listed with another version"),
        (b"# nothing\n", ": no package names"),
    ],
)
def test_a_bad_file_of_names_is_refused_with_the_line(tmp_path, content, message):
    path = tmp_path / "names.txt"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=re.escape(f"{path}{message}")):
        read_names(path)


def test_every_folder_of_sources_is_a_package():
    assert [package.name for package in source_packages(PROJECT)] == ["inventory", "payroll", "tournament"]
    assert [package.name for package in source_packages(PROJECT / "payroll")] == ["payroll"]


def test_folders_without_python_are_refused(tmp_path):
    (tmp_path / "docs").mkdir()
    with pytest.raises(CorpusError, match="no Python files"):
        source_packages(tmp_path)
    with pytest.raises(CorpusError, match="is not a folder"):
        source_packages(tmp_path / "absent")


def test_excluded_names_are_left_out():
    packages = [Package(name="a"), Package(name="b")]
    assert without(packages, [Package(name="b", version="1"), Package(name="c")]) == [Package(name="a")]
    with pytest.raises(CorpusError, match="all packages are excluded by the 2 excluded names"):
        without(packages, packages)


def test_the_split_is_settled_by_seed_and_name_alone():
    assert [split_of(name, 0) for name in ("inventory", "tournament", "payroll")] == [
        "train",
        "valid",
        "test",
    ]
    assert split_of("Ruamel.YAML", 5) == split_of("ruamel-yaml", 5)
    counts = Counter(split_of(f"package{number}", 1) for number in range(10_000))
    assert 7_850 < counts["train"] < 8_150
    assert 900 < counts["valid"] < 1_100
    assert {split_of("inventory", seed) for seed in range(40)} == {"train", "valid", "test"}
