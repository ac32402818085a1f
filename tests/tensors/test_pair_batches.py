import numpy as np
import pytest

from hyperheat.hypergraph import Hypergraph, HypergraphBuilder
from hyperheat.tensors import Group, Vocabulary, collate_pairs, collate_tokens

RELATIONS = ("NextToken", "Child")


def pairs(labels: list[str], *edges: tuple[str, int, int]) -> Hypergraph:
    b = HypergraphBuilder()
    for label in labels:
        b.add_node(label)
    for relation, source, target in edges:
        b.relate(relation, ("source", source), ("target", target))
    return b.build()


def two_graphs() -> list[Hypergraph]:
    first = pairs(["fooBar", "=", "foo", "Assign"], ("Child", 3, 0), ("NextToken", 0, 1), ("NextToken", 1, 2))
    second = pairs(["foo", "foo"], ("NextToken", 0, 1))
    return [first, second]


def messages(batch) -> list[tuple[int, tuple[int, ...], tuple[int, ...]]]:
    """Each message as (receiver, first row, second row), a row being (node, group of ends, 0 along or 1 against)."""
    plan, num_ends = batch.messages, len(batch.messages.ends.owner)
    group = np.repeat(np.arange(len(plan.sizes)), plan.sizes)

    def row(index):
        if index < 2 * num_ends:
            return int(plan.ends.owner[index // 2]), int(group[index // 2]), int(index % 2)
        return (int(index - 2 * num_ends),) if index - 2 * num_ends < len(batch.label) else ()

    return [
        (int(receiver), row(first), row(second))
        for receiver, (first, second) in zip(plan.receivers.owner, plan.sums.pairs, strict=True)
    ]


def test_columns_of_two_graphs_by_hand():
    graphs = two_graphs()
    vocab = Vocabulary.build(graphs)
    batch = collate_pairs(graphs, vocab, RELATIONS)
    assert (batch.num_graphs, batch.num_nodes, batch.relations) == (2, 6, RELATIONS)
    assert batch.vocabulary == vocab.fingerprint
    assert batch.node_offsets.tolist() == [0, 4, 6]
    assert batch.offsets == (0, 3, 4)
    assert batch.source.tolist() == [0, 1, 4, 3]
    assert batch.target.tolist() == [1, 2, 5, 0]
    words = [[] for _ in range(4)]
    for token, string in zip(batch.labels.tokens, batch.labels.owner.owner, strict=True):
        words[string].append(vocab.labels[token])
    assert [words[i] for i in batch.label] == [["foo", "bar"], ["="], ["foo"], ["assign"], ["foo"], ["foo"]]


def test_messages_run_along_against_and_to_oneself():
    """Groups of ends: 0 and 1 are sources and targets of NextToken, 2 and 3 those of Child."""
    graph = pairs(["a", "b"], ("Child", 1, 0), ("NextToken", 0, 1))
    batch = collate_pairs([graph], Vocabulary.build([graph]), RELATIONS)
    assert batch.messages.sizes == (1, 1, 1, 1)
    assert messages(batch) == [
        (1, (0, 0, 0), (1, 1, 0)),  # NextToken along: from 0 to 1
        (0, (1, 2, 0), (0, 3, 0)),  # Child along: from 1 to 0
        (0, (0, 0, 1), (1, 1, 1)),  # NextToken against
        (1, (1, 2, 1), (0, 3, 1)),  # Child against
        (0, (0,), ()),
        (1, (1,), ()),
    ]


def test_each_end_of_a_kind_is_projected_once():
    star = pairs(["hub", "a", "b", "c"], *[("Child", 0, leaf) for leaf in (1, 2, 3)], ("Child", 0, 3))
    batch = collate_pairs([star, star], Vocabulary.build([star]), RELATIONS)
    assert batch.messages.sizes == (0, 0, 2, 6)
    assert batch.messages.ends.owner.tolist() == [0, 4, 1, 2, 3, 5, 6, 7]
    assert len(batch.messages.receivers.owner) == 2 * 8 + 8


def test_subtokens_are_nodes_after_all_others():
    graphs = two_graphs()
    vocab = Vocabulary.build(graphs)
    batch = collate_pairs(graphs, vocab, RELATIONS, subtokens=True)
    assert batch.relations == (*RELATIONS, "HasSubtoken")
    assert (batch.num_nodes, len(batch.label)) == (6, 9)
    assert batch.node_offsets.tolist() == [0, 4, 6]
    owner = batch.labels.owner.owner
    labels = [[vocab.labels[t] for t in batch.labels.tokens[owner == i]] for i in batch.label]
    assert sorted(labels[6:8]) == [["bar"], ["foo"]]  # of the first graph
    assert labels[8] == ["foo"]  # of the second: graphs share no node
    start, stop = batch.offsets[2:4]
    found = {
        (int(s), *labels[t], int(t) >= 8) for s, t in zip(batch.source, batch.target, strict=True) if t >= 6
    }
    assert stop - start == 5
    assert found == {
        (0, "foo", False),
        (0, "bar", False),
        (2, "foo", False),
        (4, "foo", True),
        (5, "foo", True),
    }  # neither `=`, which is no identifier, nor Assign, which is no token


def test_rows_hold_graphs_of_similar_length():
    graphs = [pairs(["x"] * n) for n in (9, 2, 8, 0, 2)]
    batch = collate_tokens(graphs, Vocabulary.build(graphs), RELATIONS)
    assert batch.groups == (Group(1, 0, None), Group(2, 2, None), Group(2, 9, None))
    assert batch.position.tolist() == [*range(9), 0, 1, *range(8), 0, 1]
    assert batch.node.tolist() == [9, 10, 19, 20, *range(11, 19), 11, *range(9)]
    assert np.flatnonzero(batch.padding).tolist() == [12]
    assert np.array_equal(batch.node[batch.cell], np.arange(21))
    assert batch.waste == pytest.approx((2 * 4 + 2 * 81) / (4 + 4 + 64 + 81))


def test_pairs_raise_the_scores_of_their_tokens():
    """The second graph comes first, as it is shorter. Seen from a node: 0, 1 along, 2, 3 against."""
    graphs = [
        pairs(["a", "b", "c"], ("Child", 0, 2), ("NextToken", 0, 2), ("Child", 2, 0)),
        pairs(["d", "e"], ("NextToken", 1, 0)),
    ]
    bias = collate_tokens(graphs, Vocabulary.build(graphs), RELATIONS).bias
    assert bias.offsets == (0, 2, 4)
    assert bias.row.tolist() == [0, 0, 0, 0]
    assert bias.place.tolist() == [0 * 2 + 1, 1 * 2 + 0, 0 * 3 + 2, 2 * 3 + 0]
    terms = [
        (int(t) // 4, int(t) % 4, int(s)) for t, s in zip(bias.terms.owner, bias.scores.owner, strict=True)
    ]
    assert sorted(terms) == [
        (0, 0, 2),  # NextToken along, query 0, key 2
        (0, 1, 2),  # Child along
        (0, 3, 2),  # Child from 2 to 0, against
        (2, 1, 3),
        (2, 2, 3),
        (2, 3, 3),
        (3, 2, 0),
        (4, 0, 1),
    ]


def test_empty_graphs_are_graphs():
    empty = pairs([])
    vocab = Vocabulary.build([empty])
    batch = collate_pairs([empty, empty], vocab, RELATIONS, subtokens=True)
    assert (batch.num_graphs, batch.num_nodes, len(batch.source)) == (2, 0, 0)
    assert collate_tokens([empty], vocab, ()).num_nodes == 0


@pytest.mark.parametrize("collate", [collate_pairs, collate_tokens])
def test_bad_batches_are_refused(collate):
    graph = pairs(["a", "b"], ("Child", 0, 1))
    vocab = Vocabulary.build([graph])
    with pytest.raises(ValueError, match="graphs: expected relations among NextToken, got 'Child'"):
        collate([graph], vocab, ("NextToken",))
    with pytest.raises(ValueError, match="relations: expected distinct names, got Child, Child"):
        collate([graph], vocab, ("Child", "Child"))
    with pytest.raises(ValueError, match="graphs: expected at least one hypergraph, got an empty sequence"):
        collate([], vocab, RELATIONS)
    b = HypergraphBuilder()
    b.relate("Child", *[("child", b.add_node("a"))] * 3)
    with pytest.raises(ValueError, match=r"graphs\[1\]: expected edges of two incidences, got one of 3"):
        collate([graph, b.build()], vocab, RELATIONS)


def test_subtokens_need_to_know_the_tokens():
    graph = pairs(["a", "b"], ("Child", 0, 1))
    with pytest.raises(ValueError, match=r"relations: expected NextToken, which tells tokens, got Child$"):
        collate_pairs([graph], Vocabulary.build([graph]), ("Child",), subtokens=True)


def test_to_torch_keeps_every_value():
    import torch

    graphs = two_graphs()
    vocab = Vocabulary.build(graphs)
    batch = collate_pairs(graphs, vocab, RELATIONS)
    tensors = batch.to_torch()
    assert isinstance(tensors.messages.sums.pairs, torch.Tensor)
    assert np.array_equal(tensors.messages.sums.pairs.numpy(), batch.messages.sums.pairs)
    assert tensors.messages.sizes == batch.messages.sizes
    tokens = collate_tokens(graphs, vocab, RELATIONS).to_torch()
    assert tokens.padding.dtype == torch.bool
