import json
import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from tests.nn.models import read_states
from tests.nn.pairs import RELATIONS, assert_same_values_and_gradients, pair_graph, set_weights, vectors
from torch import nn
from torch.nn import functional as F

from hyperheat.configuration import from_dict, to_dict
from hyperheat.hypergraph import Hypergraph
from hyperheat.nn import GreatConfig, GreatEncoder, States
from hyperheat.nn.peers import great
from hyperheat.tensors import Vocabulary, collate_tokens

CONFIG = GreatConfig(relations=RELATIONS, dim=8, layers=2, heads=2, ff=12, max_tokens=20)
GRAPHS = [
    pair_graph("fooBar = foo + foo", ("Reads", 2, 4), ("Writes", 2, 4), ("Writes", 4, 2)),
    pair_graph("alone"),
    pair_graph("x = bar_foo", ("Writes", 0, 2), ("Writes", 0, 0), ("Reads", 2, 0), ("Reads", 2, 0)),
    pair_graph("a b c d e f g h", ("Reads", 7, 0)),
    pair_graph("i j k l m n o p q", ("Reads", 8, 0), ("Writes", 1, 8)),
]
VOCAB = Vocabulary.build(GRAPHS)


def make(config: GreatConfig = CONFIG) -> Any:
    torch.manual_seed(0)
    return set_weights(GreatEncoder(config, VOCAB))


def run(encoder: Any, graphs: list[Hypergraph]) -> States:
    return encoder(collate_tokens(graphs, VOCAB, RELATIONS).to_torch())


def slow_attention(layer: Any, h: list, graph: Hypergraph) -> list:
    """One query and one head at a time."""
    size = CONFIG.dim // CONFIG.heads
    attended = []
    for i in range(len(h)):
        heads = []
        for head in range(CONFIG.heads):
            part = slice(head * size, (head + 1) * size)
            q = layer.qkv(h[i])[: CONFIG.dim][part]
            keys = [layer.qkv(state)[CONFIG.dim : 2 * CONFIG.dim][part] for state in h]
            values = [layer.qkv(state)[2 * CONFIG.dim :][part] for state in h]
            for edge in graph:
                kind = RELATIONS.index(edge.relation)
                source, target = (node for _, node in edge.incidences)
                if source == i:
                    keys[target] = keys[target] + layer.bias[kind, head]
                if target == i:
                    keys[source] = keys[source] + layer.bias[len(RELATIONS) + kind, head]
            weights = torch.stack([q @ key / math.sqrt(size) for key in keys]).softmax(0)
            heads.append(sum(w * value for w, value in zip(weights, values, strict=True)))
        attended.append(layer.out(torch.cat(heads)))
    return attended


def slow(encoder: Any, graphs: list[Hypergraph]) -> States:
    nodes = []
    for graph in graphs:
        labels = vectors(encoder.label, [VOCAB.label_ids(label) for label in graph.labels])
        h = [encoder.norm(label + encoder.position.weight[i]) for i, label in enumerate(labels)]
        for layer in encoder.layers:
            x = [layer.norm(a + b) for a, b in zip(h, slow_attention(layer, h, graph), strict=True)]
            ff = layer.feed_forward
            h = [ff.norm(y + ff.narrow(F.relu(ff.widen(y)))) for y in x]
        nodes += h
    return States(torch.stack(nodes), torch.zeros(0, CONFIG.dim, dtype=torch.float64))


@pytest.mark.parametrize("chunk", [1, 100, 1 << 19])
def test_it_computes_its_equations(chunk, monkeypatch):
    monkeypatch.setattr(great, "_CHUNK", chunk)
    encoder = make()
    assert_same_values_and_gradients(encoder, lambda: run(encoder, GRAPHS), lambda: slow(encoder, GRAPHS))


def test_without_relations_it_is_a_transformer():
    encoder = make()
    for layer in encoder.layers:
        nn.init.zeros_(layer.bias)
    for graph in GRAPHS:
        batch = collate_tokens([graph], VOCAB, RELATIONS).to_torch()
        h = encoder.norm(great.pool_labels(encoder.label, batch) + encoder.position(batch.position))[None]
        for layer in encoder.layers:
            h = transformer_layer(layer)(h)
        assert torch.allclose(encoder(batch).nodes, h[0], rtol=0, atol=1e-9)


def transformer_layer(layer: Any) -> nn.Module:
    """PyTorch's own layer with the weights of ours."""
    theirs = nn.TransformerEncoderLayer(
        CONFIG.dim, CONFIG.heads, CONFIG.ff, dropout=0.0, batch_first=True, dtype=torch.float64
    )
    theirs.load_state_dict(
        {
            "self_attn.in_proj_weight": layer.qkv.weight,
            "self_attn.in_proj_bias": layer.qkv.bias,
            "self_attn.out_proj.weight": layer.out.weight,
            "self_attn.out_proj.bias": layer.out.bias,
            "linear1.weight": layer.feed_forward.widen.weight,
            "linear1.bias": layer.feed_forward.widen.bias,
            "linear2.weight": layer.feed_forward.narrow.weight,
            "linear2.bias": layer.feed_forward.narrow.bias,
            "norm1.weight": layer.norm.weight,
            "norm1.bias": layer.norm.bias,
            "norm2.weight": layer.feed_forward.norm.weight,
            "norm2.bias": layer.feed_forward.norm.bias,
        }
    )
    return theirs


def test_states_have_the_promised_shapes_and_order():
    states = run(make(), GRAPHS)
    assert states.nodes.shape == (5 + 1 + 3 + 8 + 9, 8)
    assert states.edges.shape == (0, 8)


def test_company_in_the_batch_does_not_matter():
    encoder = make()
    together = run(encoder, GRAPHS[::-1]).nodes.split([9, 8, 3, 1, 5])
    for graph, states in zip(GRAPHS[::-1], together, strict=True):
        assert torch.allclose(run(encoder, [graph]).nodes, states, rtol=0, atol=1e-12)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("turned", [False, True])
def test_kind_and_direction_of_a_pair_matter(relation, turned):
    encoder = make()
    chosen = (relation, 3, 0) if turned else (relation, 0, 3)
    others = {(r, *p) for r in RELATIONS for p in ((0, 3), (3, 0))} - {chosen}
    changed = run(encoder, [pair_graph("a b c d", chosen)]).nodes
    for other in (pair_graph("a b c d"), *(pair_graph("a b c d", edge) for edge in others)):
        assert not torch.allclose(run(encoder, [other]).nodes, changed, atol=1e-6)


def test_the_order_of_tokens_matters():
    config = replace(CONFIG, relations=())
    encoder = make(config)
    first, second = (
        encoder(collate_tokens([graph], VOCAB, ()).to_torch()).nodes[0]
        for graph in (tokens_alone("a b c"), tokens_alone("a c b"))
    )
    assert not torch.allclose(first, second, atol=1e-6)


def tokens_alone(labels: str) -> Hypergraph:
    graph = pair_graph(labels)
    return replace(
        graph,
        relation=graph.relation[:0],
        offsets=graph.offsets[:1],
        qualifier=graph.qualifier[:0],
        node=graph.node[:0],
    )


def test_gradients_reach_every_parameter():
    encoder = make()
    read_states(run(encoder, GRAPHS)).backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name
    for layer in encoder.layers:
        assert (layer.bias.grad.abs().amax(2) > 0).all()  # every kind, direction and head


def test_training_is_repeatable_to_the_bit():
    runs = []
    for _ in range(2):
        encoder = make().train()
        torch.manual_seed(5)
        read_states(run(encoder, GRAPHS)).backward()
        runs.append([parameter.grad for parameter in encoder.parameters()])
    assert all(torch.equal(first, second) for first, second in zip(*runs, strict=True))


def test_graphs_without_tokens_have_no_states():
    encoder = make()
    assert run(encoder, [pair_graph("")]).nodes.shape == (0, 8)
    beside = run(encoder, [pair_graph(""), GRAPHS[0], pair_graph("")]).nodes
    assert torch.allclose(beside, run(encoder, [GRAPHS[0]]).nodes)


def test_functions_too_long_are_known_before_and_refused():
    words = " ".join("ab" * 10)
    fitting, too_long = pair_graph(words), pair_graph(words + " c")
    assert [CONFIG.fits(graph) for graph in (fitting, too_long)] == [True, False]
    encoder = make()
    assert torch.isfinite(run(encoder, [fitting]).nodes).all()
    with pytest.raises(ValueError, match=r"batch: expected graphs of at most 20 tokens .*, got one of 21"):
        run(encoder, [fitting, too_long])


def test_mixed_precision_comes_close_to_full_precision():
    encoder = make().float()
    with torch.autocast("cpu", torch.bfloat16):
        states = run(encoder, GRAPHS)
        read_states(States(states.nodes.float(), states.edges.float())).backward()
    assert torch.allclose(states.nodes.float(), run(encoder, GRAPHS).nodes, atol=0.3)


def test_batches_of_other_relations_are_refused():
    batch = collate_tokens(GRAPHS, VOCAB, (*RELATIONS, "Calls")).to_torch()
    with pytest.raises(ValueError, match=r"batch: expected the relations .*Writes .* got .*, Calls$"):
        make()(batch)


def test_configurations_survive_json():
    assert from_dict(GreatConfig, json.loads(json.dumps(to_dict(CONFIG)))) == CONFIG


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_tokens": 0}, "max_tokens: expected an int of at least 1, got 0"),
        ({"heads": 3}, "dim: expected a multiple of heads=3, got 8"),
        ({"ff": None}, "ff: expected an int of at least 1, got None"),
    ],
)
def test_bad_values_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(CONFIG, **change)
