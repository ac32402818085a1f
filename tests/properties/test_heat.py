"""Every variant, in both layouts, is the reference; nothing depends on order or company."""

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.nn.models import example_graph, make_encoder, read_states
from tests.strategies import hypergraphs

from hyperheat import VARIANTS, Hypergraph, Vocabulary, collate
from hyperheat.nn import AllSetConfig, AllSetEncoder, reference
from hyperheat.nn.peers.allset import AttentionPool, DeepSetPool
from hyperheat.tensors import by_size, packed

few = settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
graph_lists = st.lists(hypergraphs(max_nodes=6, max_edges=5, spans=False), min_size=1, max_size=3)


def gradients(encoder, value):
    encoder.zero_grad()
    value.backward()
    return {name: p.grad.clone() for name, p in encoder.named_parameters() if p.grad is not None}


def assert_close(got, expected, tolerance, what):
    got, expected = got.detach(), expected.detach()
    scale = max(1.0, float(expected.abs().max())) if expected.numel() else 1.0
    error = float((got - expected).abs().max()) if expected.numel() else 0.0
    assert error <= tolerance * scale, f"{what}: differs by {error:.2e} at scale {scale:.2e}"


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-10)], ids=["f32", "f64"]
)
@pytest.mark.parametrize("layout", [by_size, packed])
@pytest.mark.parametrize("variant", VARIANTS)
def test_equals_the_reference_in_states_and_gradients(variant, layout, dtype, tolerance):
    @few
    @given(graph_lists)
    def check(graphs):
        vocab = Vocabulary.build([*graphs[:1], example_graph()])  # the other graphs bring names never seen
        encoder = make_encoder(variant, vocab, dtype)
        states = encoder(collate(graphs, vocab, layout).to_torch())
        parts = [reference.encode(encoder, graph) for graph in graphs]
        expected = type(states)(*(torch.cat(side) for side in zip(*parts, strict=True)))
        assert_close(states.nodes, expected.nodes, tolerance, "nodes")
        assert_close(states.edges, expected.edges, tolerance, "edges")
        if len(states.nodes) + len(states.edges) == 0:
            return
        got, wanted = gradients(encoder, read_states(states)), gradients(encoder, read_states(expected))
        for name, parameter in encoder.named_parameters():
            nothing = torch.zeros_like(parameter)
            assert_close(got.get(name, nothing), wanted.get(name, nothing), tolerance, name)

    check()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_graph_alone_equals_the_same_graph_in_any_batch(variant):
    @few
    @given(graph_lists)
    def check(graphs):
        vocab = Vocabulary.build(graphs)
        encoder = make_encoder(variant, vocab, torch.float64)
        together = encoder(collate(graphs, vocab).to_torch())
        alone = [encoder(collate([graph], vocab).to_torch()) for graph in graphs]
        assert_close(together.nodes, torch.cat([s.nodes for s in alone]), 1e-10, "nodes")
        assert_close(together.edges, torch.cat([s.edges for s in alone]), 1e-10, "edges")

    check()


def reorder(graph: Hypergraph, rng: np.random.Generator):
    """The same graph with nodes, edges and incidences in another order: (graph, where each node, edge went)."""
    new_node, edge_order = rng.permutation(graph.num_nodes), rng.permutation(graph.num_edges)
    label = np.empty_like(graph.label)
    label[new_node] = graph.label
    bounds = graph.offsets.tolist()
    pieces = [rng.permutation(np.arange(bounds[e], bounds[e + 1])) for e in edge_order.tolist()]
    incidences = np.concatenate([*pieces, np.zeros(0)]).astype(int)
    shuffled = Hypergraph(
        names=graph.names,
        label=label,
        relation=graph.relation[edge_order],
        offsets=np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])]).astype(int),
        qualifier=graph.qualifier[incidences],
        node=new_node[graph.node[incidences]],
    )
    return shuffled, new_node, np.argsort(edge_order)


@pytest.mark.parametrize("variant", VARIANTS)
def test_order_of_nodes_edges_and_incidences_does_not_matter(variant):
    @few
    @given(hypergraphs(spans=False), st.integers(0, 10**6))
    def check(graph, seed):
        other, new_node, new_edge = reorder(graph, np.random.default_rng(seed))
        vocab = Vocabulary.build([graph])
        encoder = make_encoder(variant, vocab, torch.float64)
        states = encoder(collate([graph], vocab).to_torch())
        moved = encoder(collate([other], vocab).to_torch())
        assert_close(moved.nodes[torch.as_tensor(new_node)], states.nodes, 1e-10, "nodes")
        assert_close(moved.edges[torch.as_tensor(new_edge)], states.edges, 1e-10, "edges")

    check()


@pytest.mark.parametrize("pool", [DeepSetPool, AttentionPool])
def test_allset_ignores_order_and_company(pool):
    @few
    @given(graph_lists, st.integers(0, 10**6))
    def check(graphs, seed):
        vocab = Vocabulary.build(graphs)
        torch.manual_seed(0)
        config = AllSetConfig(dim=8, layers=2, heads=2, ff=12, pool=pool)
        encoder = AllSetEncoder(config, vocab).double().eval()
        states = encoder(collate(graphs, vocab).to_torch())
        other, new_node, new_edge = reorder(graphs[0], np.random.default_rng(seed))
        alone = encoder(collate([other], vocab).to_torch())
        first_nodes, first_edges = graphs[0].num_nodes, graphs[0].num_edges
        assert_close(alone.nodes[torch.as_tensor(new_node)], states.nodes[:first_nodes], 1e-10, "nodes")
        assert_close(alone.edges[torch.as_tensor(new_edge)], states.edges[:first_edges], 1e-10, "edges")

    check()
