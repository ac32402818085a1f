"""Kinds of slots: which pairs are counted, what kind a slot is, and where its cells stand in a plan."""

import numpy as np
import pytest
from tests.nn.models import example_graph

from hyperheat import Vocabulary
from hyperheat.tensors import SlotKinds, collate_roles
from hyperheat.tensors.slot_kinds import EDGE, POSITION, count_roles, frequent_roles

ROLES = (("Tokens", POSITION), ("call", "arg"), ("call", EDGE), ("BinOp", "left"))


def counted(graph):
    return count_roles(graph.names, graph.relation, np.diff(graph.offsets), graph.qualifier)


def test_every_slot_is_counted_once():
    graph = example_graph()
    counts = counted(graph)
    assert counts["Tokens", POSITION] == 4
    assert counts["call", "arg"] == 2
    assert counts["Nothing", EDGE] == 1
    assert sum(counts.values()) == graph.num_edges + len(graph.node)


def test_the_most_frequent_are_kept_and_ties_are_broken_by_name():
    counts = counted(example_graph())
    assert frequent_roles(counts, 3) == (("Tokens", POSITION), ("call", "arg"), ("BinOp", EDGE))
    assert frequent_roles(counts, 0) == ()


def test_kinds_of_positions_come_first_and_others_have_one_for_each_sort():
    kinds = SlotKinds(ROLES)
    assert kinds.count == 7
    (tokens, _), (call, arg), (binop, left), (_, rval) = (
        kinds.rows(pair) for pair in (("Tokens", "x"), ("call", "arg"), ("BinOp", "left"), ("x", "rval"))
    )
    yes, no = np.array([True]), np.array([False])

    def of(relation, role, is_position):
        return int(kinds.of_incidences(relation[:1], role[1:], is_position)[0])

    assert [of(tokens, rval, yes), of(call, rval, yes)] == [1, 0]
    assert [int(kinds.of_edges(call[:1])[0]), int(kinds.of_edges(tokens[:1])[0])] == [3, 2]
    assert [of(call, arg, no), of(binop, left, no)] == [5, 6]
    assert [of(binop, arg, no), of(tokens, rval, no)] == [4, 4]  # neither pair is one of the roles


def test_cells_stand_in_the_order_of_kinds():
    graph = example_graph()
    vocab = Vocabulary(labels=("<unknown>",), names=("<unknown>",), roles=ROLES)
    plan = collate_roles([graph, graph], vocab).plan
    assert plan.sizes == (0, 8, 8, 2, 8, 4, 2)
    assert len(plan.neighbours.pairs) == 8
    assert len(plan.edges.owner) == sum(plan.sizes) - 8
    before, after = plan.neighbours.pairs.T  # two chains of four, what comes after is in the second half
    assert before.tolist() == [16, 0, 1, 2, 16, 4, 5, 6]
    assert after.tolist() == [9, 10, 11, 16, 13, 14, 15, 16]


def test_a_vocabulary_keeps_its_roles(tmp_path):
    vocab = Vocabulary.build([example_graph()], roles=5)
    assert len(vocab.roles) == 5
    vocab.save(tmp_path / "vocab.json")
    assert Vocabulary.load(tmp_path / "vocab.json") == vocab
    plain = Vocabulary.build([example_graph()])
    assert plain.fingerprint != vocab.fingerprint
    assert "roles" not in plain._json()


@pytest.mark.parametrize("roles", ['[["a"]]', '[["a", 1]]', '["ab"]', '[["a", "b"], ["a", "b"]]'])
def test_damaged_roles_are_refused(roles):
    text = f'{{"split": "whole", "labels": ["<unknown>"], "names": ["<unknown>"], "roles": {roles}}}'
    with pytest.raises(ValueError, match=r"^not a vocabulary: roles: expected"):
        Vocabulary.parse(text.encode())


def test_a_batch_by_roles_needs_some():
    graph = example_graph()
    with pytest.raises(ValueError, match=r"^vocab: expected one with roles, got none"):
        collate_roles([graph], Vocabulary.build([graph]))
