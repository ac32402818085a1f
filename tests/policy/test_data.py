"""The lists of real bugs in data/ are what their card says."""

import runpy
from pathlib import Path

import pytest

from hyperheat.bugs.corpus.packages import normalise, read_names, split_of
from hyperheat.bugs.mining import ReleaseReference, read_references
from hyperheat.bugs.mining.fix_selection import weigh

ROOT = Path(__file__).parents[2]
DATA = ROOT / "data"
EXCLUDED = ROOT.parent / "shared" / "data" / "exclude_packages.txt"
LISTS = {name: read_references(DATA / f"{name}_bugs.jsonl.gz") for name in ("released", "committed")}


def released_name(reference) -> str:
    if isinstance(reference, ReleaseReference):
        return reference.package
    return reference.record["released_as"]


def test_the_card_is_made_from_the_lists():
    tool = runpy.run_path(str(ROOT / "tools" / "bug_lists.py"))
    assert (DATA / "README.md").read_text(encoding="utf-8") == tool["card"]()


def test_a_project_is_in_one_split_in_both_lists():
    for reference in (*LISTS["released"], *LISTS["committed"]):
        assert reference.split == split_of(released_name(reference), 0)
        assert reference.record["weight"] == weigh(reference.record)


def test_every_change_stands_once():
    pairs = [frozenset(r.record["pair"]) for r in (*LISTS["released"], *LISTS["committed"])]
    assert len(set(pairs)) == len(pairs)


def test_each_list_is_of_one_source():
    assert all(isinstance(reference, ReleaseReference) for reference in LISTS["released"])
    assert not any(isinstance(reference, ReleaseReference) for reference in LISTS["committed"])
    mined = {package.name for package in read_names(DATA / "packages.txt")}
    assert mined >= {reference.project for reference in LISTS["released"]}


@pytest.mark.skipif(not EXCLUDED.exists(), reason="the list of excluded packages is not beside the checkout")
def test_no_package_whose_history_is_used_elsewhere_for_testing():
    excluded = {package.name for package in read_names(EXCLUDED)}
    used = {released_name(reference) for of in LISTS.values() for reference in of}
    repositories = {normalise(r.project.partition("/")[2]) for r in LISTS["committed"]}
    assert not excluded & (used | repositories)


def test_packages_for_counting_alarms_are_never_trained_on():
    named = {package.name for package in read_names(DATA / "packages.txt")}
    counted = read_names(DATA / "unedited_packages.txt")
    assert len(counted) >= 100
    for package in counted:
        assert package.version, package.name  # or the next release would give other counts
        assert split_of(package.name, 0) == "test" or package.name not in named
