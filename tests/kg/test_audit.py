"""Leaks from training statements: by hand, and compared with loops over sets."""

from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from hyperheat.kg import Statement, Statements
from hyperheat.kg.audit import find_leaks, has_equal_triple


def leaks(training: list[Statement], checked: list[Statement]) -> dict[str, int]:
    both = Statements.build([*training, *checked])
    return asdict(find_leaks(both[: len(training)], both[len(training) :]))


AWARD = Statement("film", "award", "Oscar", (("winner", "Ann"),))


def test_an_equal_statement_whatever_the_order_of_its_qualifiers():
    one = Statement("a", "r", "b", (("p", "x"), ("q", "y")))
    other = Statement("a", "r", "b", (("q", "y"), ("p", "x")))
    assert leaks([one], [other]) == {
        "statements": 1,
        "equal_statements": 1,
        "equal_triples": 1,
        "main_pairs": 1,
        "entity_sets": 0,
    }


def test_an_equal_main_triple():
    found = leaks([AWARD], [Statement("film", "award", "Oscar", (("winner", "Bob"),))])
    assert (found["equal_statements"], found["equal_triples"], found["entity_sets"]) == (0, 1, 0)


def test_the_same_entities_in_other_roles():
    inverse = Statement("Oscar", "winner", "Ann", (("for", "film"),))
    found = leaks([AWARD], [inverse])
    assert (found["equal_triples"], found["main_pairs"], found["entity_sets"]) == (0, 1, 1)
    wider = Statement("Oscar", "winner", "Ann", (("for", "film"), ("in", "1990")))
    assert leaks([AWARD], [wider])["entity_sets"] == 0
    assert leaks([wider], [AWARD])["entity_sets"] == 1


def test_entities_spread_over_statements_are_no_leak():
    found = leaks([Statement("a", "r", "b"), Statement("b", "r", "c")], [Statement("a", "r", "c")])
    assert (found["main_pairs"], found["entity_sets"]) == (0, 0)


def test_nothing_leaks_from_nothing():
    assert set(leaks([], [AWARD]).values()) == {0, 1}
    assert set(leaks([AWARD], []).values()) == {0}


names = st.sampled_from("abcde")
some = st.lists(
    st.builds(
        Statement,
        names,
        st.sampled_from("rq"),
        names,
        st.lists(st.tuples(names, names), max_size=3).map(tuple),
    ),
    max_size=8,
)


@given(some, some)
def test_counts_are_those_of_plain_loops(training, checked):
    def triple(s):
        return (s.subject, s.relation, s.object)

    def whole(s):
        return (*triple(s), tuple(sorted(s.qualifiers)))

    def entities(s):
        return {s.subject, s.object, *(value for _, value in s.qualifiers)}

    assert leaks(training, checked) == {
        "statements": len(checked),
        "equal_statements": sum(any(whole(t) == whole(s) for t in training) for s in checked),
        "equal_triples": sum(any(triple(t) == triple(s) for t in training) for s in checked),
        "main_pairs": sum(any({s.subject, s.object} <= entities(t) for t in training) for s in checked),
        "entity_sets": sum(
            any(entities(s) <= entities(t) and triple(s) != triple(t) for t in training) for s in checked
        ),
    }


def test_the_mask_of_equal_triples():
    both = Statements.build([AWARD, Statement("x", "r", "y"), AWARD])
    assert has_equal_triple(both[:1], both[1:]).tolist() == [False, True]
