import json
from dataclasses import replace
from typing import Any

import pytest
import torch
from tests.nn.models import read_states
from tests.nn.pairs import RELATIONS, assert_same_values_and_gradients, pair_graph, set_weights, vectors
from torch.nn import functional as F

from hyperheat.configuration import from_dict, to_dict
from hyperheat.hypergraph import Hypergraph, subtokens
from hyperheat.nn import GnnConfig, GnnEncoder, States
from hyperheat.tensors import HAS_SUBTOKEN, Vocabulary, collate_pairs

CONFIG = GnnConfig(relations=RELATIONS, dim=6, block_layers=3)
GRAPHS = [
    pair_graph("fooBar = foo + foo", ("Reads", 2, 4), ("Reads", 4, 2), ("Writes", 0, 4), ("Writes", 0, 2)),
    pair_graph("alone"),
    pair_graph("x = bar_foo", ("Writes", 0, 2), ("Writes", 0, 0), ("Reads", 2, 0), ("Reads", 2, 0)),
]
VOCAB = Vocabulary.build(GRAPHS)


def make(config: GnnConfig = CONFIG) -> Any:
    torch.manual_seed(0)
    return set_weights(GnnEncoder(config, VOCAB))


def run(encoder: Any, graphs: list[Hypergraph]) -> States:
    batch = collate_pairs(graphs, VOCAB, RELATIONS, subtokens=encoder.config.subtokens)
    return encoder(batch.to_torch())


def with_subtokens(graph: Hypergraph) -> tuple[list[str], list[tuple[str, int, int]]]:
    """Labels and pairs of a graph, and of its subtokens."""
    labels = graph.labels
    edges = [(edge.relation, edge.incidences[0][1], edge.incidences[1][1]) for edge in graph]
    added: dict[str, int] = {}
    for node, label in enumerate(graph.labels):
        if label.isidentifier() and graph.num_edges:
            for part in subtokens.split(label):
                if part not in added:
                    added[part] = len(labels)
                    labels.append(part)
                edges.append((HAS_SUBTOKEN, node, added[part]))
    return labels, edges


def slow_layer(layer: Any, h: list, edges: list[tuple[str, int, int]]) -> list:
    """M = W [h_s; h_t] for each kind and direction, then the maximum, GELU, norm, linear map and tanh."""
    kinds = CONFIG.kinds
    width = layer.ends.shape[2]
    inbox = [[layer.oneself(state)] for state in h]
    for relation, s, t in edges:
        of_source, of_target = (
            layer.ends[2 * kinds.index(relation)],
            layer.ends[2 * kinds.index(relation) + 1],
        )
        along = torch.cat([of_source[:width], of_target[:width]], dim=1)
        against = torch.cat([of_target[width:], of_source[width:]], dim=1)
        inbox[t].append(along @ torch.cat([h[s], h[t]]))
        inbox[s].append(against @ torch.cat([h[t], h[s]]))
    maxima = [torch.stack(messages).amax(0) for messages in inbox]
    return [torch.tanh(layer.out(layer.norm(F.gelu(maximum)))) for maximum in maxima]


def slow(encoder: Any, graphs: list[Hypergraph]) -> States:
    nodes = []
    for graph in graphs:
        labels, edges = with_subtokens(graph)
        h = vectors(encoder.label, [VOCAB.label_ids(label) for label in labels])
        for block in encoder.blocks:
            before = h
            for layer in block.layers:
                h = slow_layer(layer, h, edges)
            h = slow_layer(block.wide, [torch.cat(pair) for pair in zip(before, h, strict=True)], edges)
        nodes += h[: graph.num_nodes]
    return States(torch.stack(nodes), torch.zeros(0, CONFIG.dim, dtype=torch.float64))


def test_it_computes_its_equations():
    encoder = make()
    assert_same_values_and_gradients(encoder, lambda: run(encoder, GRAPHS), lambda: slow(encoder, GRAPHS))


def test_states_have_the_promised_shapes_and_order():
    states = run(make(), GRAPHS)
    assert states.nodes.shape == (5 + 1 + 3, 6)
    assert states.edges.shape == (0, 6)


def test_company_in_the_batch_does_not_matter():
    encoder = make()
    together = run(encoder, GRAPHS[::-1]).nodes.split([3, 1, 5])
    for graph, states in zip(GRAPHS[::-1], together, strict=True):
        assert torch.allclose(run(encoder, [graph]).nodes, states, rtol=0, atol=1e-12)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("turned", [False, True])
def test_kind_and_direction_of_a_pair_matter(relation, turned):
    encoder = make()
    base = pair_graph("a b c d")
    chosen = (relation, 3, 0) if turned else (relation, 0, 3)
    others = {(r, *p) for r in RELATIONS for p in ((0, 3), (3, 0))} - {chosen}
    changed = run(encoder, [pair_graph("a b c d", chosen)]).nodes
    for other in (base, *(pair_graph("a b c d", edge) for edge in others)):
        assert not torch.allclose(run(encoder, [other]).nodes, changed, atol=1e-6)


@pytest.mark.parametrize("subtokens", [False, True])
def test_subtokens_join_tokens_that_share_them(subtokens):
    encoder = make(replace(CONFIG, subtokens=subtokens, blocks=1))
    # Three rounds of messages do not reach the last token through its neighbours.
    graphs = [pair_graph("fooBar + x y z foo"), pair_graph("fooBar + x y z w")]
    first, second = (run(encoder, [graph]).nodes[0] for graph in graphs)
    assert torch.equal(first, second) == (not subtokens)


def test_gradients_reach_every_parameter():
    encoder = make()
    read_states(run(encoder, GRAPHS)).backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name
    last = encoder.blocks[0].wide.ends.grad
    assert (last.abs().amax((1, 2)) > 0).all()  # sources and targets of every kind


def test_training_is_repeatable_to_the_bit():
    runs = []
    for _ in range(2):
        encoder = make().train()
        torch.manual_seed(5)
        read_states(run(encoder, GRAPHS)).backward()
        runs.append([parameter.grad for parameter in encoder.parameters()])
    assert all(torch.equal(first, second) for first, second in zip(*runs, strict=True))


def test_a_graph_without_nodes_has_no_states():
    assert run(make(), [pair_graph("")]).nodes.shape == (0, 6)


def test_mixed_precision_comes_close_to_full_precision():
    encoder = make().float()
    with torch.autocast("cpu", torch.bfloat16):
        states = run(encoder, GRAPHS)
        read_states(States(states.nodes.float(), states.edges.float())).backward()
    assert torch.allclose(states.nodes.float(), run(encoder, GRAPHS).nodes, atol=0.3)


def test_batches_of_other_relations_or_vocabularies_are_refused():
    encoder = make()
    batch = collate_pairs(GRAPHS, VOCAB, RELATIONS)
    with pytest.raises(ValueError, match=r"batch: expected the relations .*, HasSubtoken .* got .*Writes$"):
        encoder(batch.to_torch())
    other = collate_pairs(GRAPHS, Vocabulary.build([]), RELATIONS, subtokens=True)
    with pytest.raises(ValueError, match=f"batch: expected vocabulary {VOCAB.fingerprint}"):
        encoder(other.to_torch())
    with pytest.raises(TypeError, match=r"batch: expected torch tensors, got numpy arrays"):
        encoder(batch)


def test_configurations_survive_json():
    assert from_dict(GnnConfig, json.loads(json.dumps(to_dict(CONFIG)))) == CONFIG


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dim": 0}, "dim: expected an int of at least 1, got 0"),
        ({"blocks": 1.5}, "blocks: expected an int of at least 1, got 1.5"),
        ({"block_layers": True}, "block_layers: expected an int of at least 1, got True"),
        ({"dropout": 1}, "dropout: expected a number from 0 up to 1, got 1"),
        ({"subtokens": 1}, "subtokens: expected True or False, got 1"),
        ({"relations": ("Reads", "Reads")}, "relations: expected distinct names, got Reads, Reads"),
        ({"relations": (1,)}, r"relations: expected a tuple of names, got \(1,\)"),
        ({"relations": "Reads"}, "relations: expected a tuple of names, got 'Reads'"),
    ],
)
def test_bad_values_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(CONFIG, **change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"blocks": 1.5}, "blocks: expected an int, got 1.5"),
        ({"block_layers": True}, "block_layers: expected an int, got True"),
        ({"subtokens": 1}, "subtokens: expected true or false, got 1"),
        ({"relations": ["Reads", "Reads"]}, "relations: expected distinct names, got Reads, Reads"),
        ({"relations": [1]}, "relations: expected a text, got 1"),
        ({"relations": "Reads"}, "relations: expected a list of texts, got 'Reads'"),
        ({"layers": 8}, "GnnConfig: expected one of relations, dim, .*, got 'layers'"),
    ],
)
def test_bad_json_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        from_dict(GnnConfig, {**to_dict(CONFIG), **change})
