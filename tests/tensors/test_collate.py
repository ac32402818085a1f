import numpy as np
import pytest

from hyperheat import HypergraphBuilder, Vocabulary, collate
from hyperheat.tensors import packed


def two_graphs():
    b = HypergraphBuilder()
    x, y = b.add_node("x"), b.add_node("y")
    b.relate("call", ("rval", x), ("arg", y), ("arg", y))
    first = b.build()
    b = HypergraphBuilder()
    y, lonely = b.add_node("y"), b.add_node("z")
    b.relate_sequence("Tokens", [y, y])
    assert lonely == 1
    return [first, b.build()]


def test_columns_of_two_graphs_by_hand():
    graphs = two_graphs()
    vocab = Vocabulary.build(graphs)
    batch = collate(graphs, vocab)
    assert (batch.num_graphs, batch.num_nodes, batch.num_edges) == (2, 4, 2)
    assert batch.node_offsets.tolist() == [0, 2, 4]
    assert batch.edge_offsets.tolist() == [0, 1, 2]
    assert batch.label.tolist() == [0, 1, 1, 2]  # x, y, y, z: three distinct labels
    assert batch.by_node.owner.tolist() == [0, 1, 1, 2, 2]
    assert batch.by_edge.owner.tolist() == [0, 0, 0, 1, 1]
    assert batch.by_edge.offsets.tolist() == [0, 3, 5]
    names = [vocab.names[i] for i in batch.names.tokens]
    assert names == ["call", "rval", "arg", "tokens"]
    assert batch.relation.tolist() == [0, 3]
    assert batch.positions.tolist() == [1, 2]
    assert batch.qualifier.tolist() == [1, 2, 2, 4, 5]  # positions are numbered after the four names


def test_cells_are_state_plus_qualifier():
    """Table rows: nodes 0-3, edges 4-5, qualifiers 6-11, zero 12."""
    graphs = two_graphs()
    plan = collate(graphs, Vocabulary.build(graphs)).plan
    assert plan.slots.pairs.tolist() == [[5, 12], [2, 10], [2, 11], [4, 12], [0, 7], [1, 8], [1, 8]]
    assert plan.receivers.owner.tolist() == [5, 2, 2, 4, 0, 1, 1]
    assert plan.edges.owner.tolist() == [1, 1, 1, 0, 0, 0, 0]


@pytest.mark.parametrize("layout_name", ["by_size", "packed"])
def test_the_way_back_lists_the_cells_of_every_row(layout_name):
    from hyperheat.tensors import layout

    graphs = two_graphs()
    plan = collate(graphs, Vocabulary.build(graphs), getattr(layout, layout_name)).plan
    zero = 12
    for row in range(zero + 1):
        cells = plan.slots.cells[plan.slots.starts[row] : plan.slots.starts[row + 1]].tolist()
        expected = [c for c, pair in enumerate(plan.slots.pairs.tolist()) for p in pair if p == row != zero]
        assert cells == expected


def test_padding_goes_nowhere():
    graphs = two_graphs()
    plan = collate(graphs, Vocabulary.build(graphs), packed).plan
    assert len(plan.slots.pairs) == 16
    padding = (plan.slots.pairs == 12).all(1)
    assert padding.sum() == 16 - 7
    assert (plan.receivers.owner[padding] == 6).all()
    assert (plan.edges.owner[padding] == 2).all()


def test_empty_graphs_are_graphs():
    empty = HypergraphBuilder().build()
    vocab = Vocabulary.build([empty])
    batch = collate([empty, empty], vocab)
    assert (batch.num_graphs, batch.num_nodes, batch.num_edges) == (2, 0, 0)
    assert batch.plan.groups == ()


def test_bad_batches_are_refused():
    vocab = Vocabulary.build([])
    with pytest.raises(ValueError, match="graphs: expected at least one hypergraph, got an empty sequence"):
        collate([], vocab)
    with pytest.raises(TypeError, match=r"graphs\[1\]: expected a Hypergraph, got str"):
        collate([HypergraphBuilder().build(), "graph"], vocab)  # pyright: ignore[reportArgumentType]


def test_to_torch_keeps_every_value():
    import torch

    graphs = two_graphs()
    batch = collate(graphs, Vocabulary.build(graphs))
    tensors = batch.to_torch()
    assert isinstance(tensors.plan.slots.pairs, torch.Tensor)
    assert np.array_equal(tensors.plan.slots.pairs.numpy(), batch.plan.slots.pairs)
    assert tensors.plan.groups == batch.plan.groups
    assert tensors.vocabulary == batch.vocabulary
