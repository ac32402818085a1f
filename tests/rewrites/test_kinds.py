"""The cases of every kind, as its manual page shows them."""

import pytest

from hyperheat.pycode import extract
from hyperheat.rewrites import KINDS, Case, Kind, candidates


def changed_lines(kind: Kind, source: str) -> list[str]:
    """The line that each rewrite of a kind changes, as it becomes."""
    function = extract(source).functions[-1]
    before = function.source.split("\n")
    results = [r.apply(function.source).split("\n") for r in candidates(function) if r.kind == kind.name]
    return ["\n".join(new for old, new in zip(before, after, strict=True) if new != old) for after in results]


VALID = [(kind, case) for kind in KINDS.values() for case in kind.valid]
INVALID = [(kind, case) for kind in KINDS.values() for case in kind.invalid]


def name_of(value: Kind | Case) -> str:
    return value.name if isinstance(value, Kind) else value.why.replace(" ", "-")


@pytest.mark.parametrize(("kind", "case"), VALID, ids=name_of)
def test_a_valid_case_has_exactly_its_rewrites(kind: Kind, case: Case):
    assert case.results
    assert changed_lines(kind, case.source) == list(case.results)


@pytest.mark.parametrize(("kind", "case"), INVALID, ids=name_of)
def test_an_invalid_case_has_no_rewrite(kind: Kind, case: Case):
    assert not case.results
    assert changed_lines(kind, case.source) == []
