"""The data type of statements: building, slicing, equality, identity and its hypergraph."""

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperheat.kg import Statement, Statements
from hyperheat.kg.statements import (
    concatenate,
    number_rows,
    number_statements,
    number_triples,
    qualifier_sets,
)

EINSTEIN = Statement("Einstein", "educated at", "ETH", (("degree", "BSc"), ("major", "physics")))
ZURICH = Statement("Einstein", "educated at", "Zurich", (("degree", "PhD"),))
CURIE = Statement("Curie", "award", "Nobel")
THREE = [EINSTEIN, ZURICH, CURIE]

names = st.sampled_from("abcd")
some_statements = st.lists(
    st.builds(Statement, names, names, names, st.lists(st.tuples(names, names), max_size=3).map(tuple)),
    max_size=6,
)


def test_columns_hold_indices_into_sorted_tables():
    built = Statements.build(THREE)
    assert built.entities == ("BSc", "Curie", "ETH", "Einstein", "Nobel", "PhD", "Zurich", "physics")
    assert built.relations == ("award", "degree", "educated at", "major")
    assert built.subject.tolist() == [3, 3, 1]
    assert built.relation.tolist() == [2, 2, 0]
    assert built.object.tolist() == [2, 6, 4]
    assert built.offsets.tolist() == [0, 2, 3, 3]
    assert built.qualifier.tolist() == [1, 3, 1]
    assert built.value.tolist() == [0, 7, 5]
    assert repr(built) == "Statements(3 statements, 8 entities, 4 relations, 3 qualifiers)"


def test_statements_read_as_they_were_written():
    assert list(Statements.build(THREE)) == THREE
    assert str(EINSTEIN) == "Einstein | educated at | ETH | degree=BSc | major=physics"
    assert str(Statements.build([CURIE])) == "Curie | award | Nobel"
    assert str(Statements.build([])) == "no statements"


@given(some_statements, st.data())
def test_slices_masks_and_lists_select_as_python_lists_do(statements, data):
    built = Statements.build(statements)
    low, high = data.draw(st.integers(-7, 7)), data.draw(st.integers(-7, 7))
    assert list(built[low:high]) == statements[low:high]
    mask = data.draw(st.lists(st.booleans(), min_size=len(statements), max_size=len(statements)))
    kept = [s for s, keep in zip(statements, mask, strict=True) if keep]
    assert list(built[np.array(mask, bool)]) == kept
    assert list(built[list(range(len(statements)))[::-1]]) == statements[::-1]
    for index, statement in enumerate(statements):
        assert built[index] == statement
        assert built[index - len(statements)] == statement


@given(some_statements, st.data())
def test_a_mask_over_qualifiers_keeps_some_of_them(statements, data):
    built = Statements.build(statements)
    size = len(built.value)
    mask = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    left = iter(mask)
    expected = [replace(s, qualifiers=tuple(pair for pair in s.qualifiers if next(left))) for s in statements]
    assert list(built.with_qualifiers(np.array(mask, bool))) == expected


def test_an_index_outside_is_refused():
    with pytest.raises(IndexError):
        Statements.build(THREE)[3]


def test_equality_looks_at_statements_and_not_at_tables():
    assert Statements.build(THREE)[1:2] == Statements.build([ZURICH])
    assert Statements.build([ZURICH, CURIE]) != Statements.build([CURIE, ZURICH])
    assert Statements.build([]) == Statements.build(THREE)[:0]
    assert Statements.build([CURIE]) != [CURIE]


def test_nothing_can_be_changed():
    built = Statements.build(THREE)
    with pytest.raises(ValueError, match="read-only"):
        built.subject[0] = 1


def test_concatenate_wants_shared_tables():
    built = Statements.build(THREE)
    assert concatenate([built[2:], built[:2]]) == Statements.build([CURIE, EINSTEIN, ZURICH])
    with pytest.raises(ValueError, match="the parts must share their tables"):
        concatenate([built, Statements.build([CURIE])])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"subject": [9, 0, 0]}, "expected indices from 0 to 7"),
        ({"relation": [0, -1, 0]}, "expected indices from 0 to 3"),
        ({"object": [0]}, "expected columns of one length"),
        ({"offsets": [0, 3, 1, 3]}, "expected a rising sequence from 0 to 3"),
        ({"value": [0, 0]}, "expected a rising sequence from 0 to 2"),
    ],
)
def test_columns_that_do_not_fit_are_refused(change, message):
    built = Statements.build(THREE)
    columns = ("entities", "relations", "subject", "relation", "object", "offsets", "qualifier", "value")
    with pytest.raises(ValueError, match=message):
        Statements(**{**{name: getattr(built, name) for name in columns}, **change})


def test_memberships_and_main_entities():
    built = Statements.build([Statement("a", "r", "b", (("q", "c"), ("q", "a"))), Statement("b", "r", "b")])
    owner, entity = built.memberships()
    assert sorted(zip(owner.tolist(), entity.tolist(), strict=True)) == [
        *((0, 0), (0, 0), (0, 1), (0, 2)),
        *((1, 1), (1, 1)),
    ]
    assert built.main_entities().tolist() == [True, True, False]


def test_digest_is_the_checksum_of_the_text_file():
    # printf 'Q1,P1,Q2,P2,Q3\nQ1,P1,Q4\n' | sha256sum
    statements = [Statement("Q1", "P1", "Q2", (("P2", "Q3"),)), Statement("Q1", "P1", "Q4")]
    assert Statements.build(statements).digest() == (
        "438bbb9f63ef0c34378134ca2cbc7ff58bfb6176f8bba09fd4ae537953d9a589"
    )


def test_one_edge_per_statement():
    graph = Statements.build(THREE).to_hypergraph()
    assert str(graph) == (
        "educated at(src: Einstein, obj: ETH, degree: BSc, major: physics)\n"
        "educated at(src: Einstein, obj: Zurich, degree: PhD)\n"
        "award(src: Curie, obj: Nobel)"
    )
    assert graph.num_nodes == 8


def test_an_id_may_be_entity_and_relation():
    graph = Statements.build([Statement("P31", "P31", "src", (("obj", "P31"),))]).to_hypergraph()
    assert str(graph) == "P31(src: P31, obj: src, obj: P31)"


@given(some_statements)
def test_the_graph_has_an_incidence_for_every_part(statements):
    graph = Statements.build(statements).to_hypergraph()
    labels = graph.labels
    expected = [(s.relation, [("src", s.subject), ("obj", s.object), *s.qualifiers]) for s in statements]
    assert [(e.relation, [(str(q), labels[n]) for q, n in e.incidences]) for e in graph] == expected


@given(some_statements)
def test_numbers_are_equal_where_things_are(statements):
    built = Statements.build(statements)
    _same(number_triples(built), [(s.subject, s.relation, s.object) for s in statements])
    _same(qualifier_sets(built), [tuple(sorted(s.qualifiers)) for s in statements])
    whole = [(s.subject, s.relation, s.object, tuple(sorted(s.qualifiers))) for s in statements]
    _same(number_statements(built), whole)


def _same(numbers, things):
    for i, one in enumerate(things):
        for j, other in enumerate(things):
            assert (numbers[i] == numbers[j]) == (one == other)


def test_numbers_of_large_columns_do_not_overflow():
    column = np.array([2**40, 2**40, 0, 2**40])
    assert len(set(number_rows(column, column, np.array([1, 1, 1, 2])).tolist())) == 3


def test_optional_packages_load_only_when_called():
    script = (
        "import hyperheat.kg.ranking, hyperheat.kg.audit, hyperheat.kg.completion, sys\n"
        "print([m for m in ('torch', 'pyarrow', 'pyoxigraph') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("missing", [None, math.nan, 1965])
@pytest.mark.parametrize("place", range(5))
def test_names_that_are_not_text_are_refused_with_their_statement(missing, place):
    parts: list = ["a", "r", "b", "q", "x"]
    parts[place] = missing
    wrong = Statement(parts[0], parts[1], parts[2], ((parts[3], parts[4]),))
    with pytest.raises(
        ValueError, match=rf"statement 2: expected text, got {missing!r} in Statement\(subject="
    ):
        Statements.build([Statement("a", "r", "b"), wrong])
