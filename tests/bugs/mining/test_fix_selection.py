"""How likely a change fixed a bug."""

from hyperheat.bugs.mining.fix_selection import group_of, weigh
from hyperheat.rewrites import KINDS

RECORD = {"kind": "variable-misuse", "role": "Call.args", "functions_changed": 1}


def test_every_kind_has_a_share_of_its_own():
    weights = {kind: weigh({**RECORD, "kind": kind}) for kind in KINDS}
    assert all(0 < weight <= 1 for weight in weights.values())
    assert weights["variable-misuse"] > weights["literal"]


def test_company_and_subject_lower_the_weight():
    crowded, other = {**RECORD, "functions_changed": 40}, {**RECORD, "fix_like": False}
    assert weigh(RECORD) == weigh({**RECORD, "fix_like": True}) > max(weigh(crowded), weigh(other))
    assert group_of(crowded) == "variable-misuse, many functions changed"
    assert group_of(other) == "variable-misuse, subject speaks of no fix"


def test_literals_that_are_passed_are_told_from_others():
    passed, compared = (
        {"kind": "literal", "role": role} for role in ("keyword.value", "Compare.comparators")
    )
    assert group_of(passed) == "literal passed to a call"
    assert group_of(compared) == "literal elsewhere"
