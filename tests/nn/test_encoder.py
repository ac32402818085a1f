import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.nn.models import example_graph, make_encoder, read_states

from benchmarks.workloads import code_like
from hyperheat import VARIANTS, HeatConfig, HeatEncoder, HypergraphBuilder, Vocabulary, collate
from hyperheat.nn import AllSetConfig, AllSetEncoder
from hyperheat.nn.embedding import sinusoids
from hyperheat.nn.fast import attention
from hyperheat.nn.peers.allset import DeepSetPool


def test_states_have_the_promised_shapes():
    b = HypergraphBuilder()
    a, c = b.add_node("foo"), b.add_node("bar")
    b.relate("BinOp", ("left", a), ("right", c))
    g = b.build()
    vocab = Vocabulary.build([g])
    batch = collate([g, g], vocab)
    states = HeatEncoder(HeatConfig(dim=64, layers=2, heads=4), vocab)(batch.to_torch())
    assert states.nodes.shape == (4, 64)
    assert states.edges.shape == (2, 64)


def test_names_and_positions_never_seen_in_training_work():
    vocab = Vocabulary.build([example_graph()])
    b = HypergraphBuilder()
    a, c = b.add_node("neverSeen"), b.add_node("")
    b.relate("unheardOf", ("strange", a), ("", c))
    b.relate_sequence("Tokens", [a, c], start=100_000)
    states = make_encoder("heat", vocab)(collate([b.build()], vocab).to_torch())
    assert torch.isfinite(states.nodes).all()
    assert torch.isfinite(states.edges).all()


def test_a_node_without_edges_passes_the_update_with_zero():
    vocab = Vocabulary.build([example_graph()])
    encoder = make_encoder("heat", vocab, layers=1)
    batch = collate([example_graph()], vocab).to_torch()
    h, _ = encoder.embedding(batch)
    update: Any = encoder.layers[0].update.node  # pyright: ignore[reportAttributeAccessIssue]
    lonely = 3
    expected = update(h[lonely], torch.zeros(8))
    assert torch.allclose(encoder(batch).nodes[lonely], expected, atol=1e-6)


def test_edges_of_two_thousand_incidences_work():
    b = HypergraphBuilder()
    nodes = [b.add_node(f"n{i % 50}") for i in range(2000)]
    b.relate_sequence("Tokens", nodes)
    b.relate("Same", *[("role", nodes[0])] * 2000)
    vocab = Vocabulary.build([b.build()])
    states = make_encoder("heat", vocab)(collate([b.build()], vocab).to_torch())
    assert torch.isfinite(states.nodes).all()


def test_sinusoids_by_hand():
    encoding = sinusoids(torch.tensor([1, 3]), torch.zeros(0, 4, dtype=torch.float64))
    p = torch.tensor([1.0, 3.0], dtype=torch.float64)
    expected = torch.stack([p.sin(), (p / 100).sin(), p.cos(), (p / 100).cos()], dim=1)
    assert torch.allclose(encoding, expected)


@pytest.mark.parametrize("variant", VARIANTS)
def test_gradients_reach_every_parameter(variant):
    vocab = Vocabulary.build([example_graph()])
    encoder = make_encoder(variant, vocab)
    read_states(encoder(collate([example_graph()], vocab).to_torch())).backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name


def test_without_final_edges_nodes_are_the_same_and_weights_are_fewer():
    vocab = Vocabulary.build([example_graph()])
    batch = collate([example_graph()], vocab).to_torch()
    full = make_encoder("heat", vocab)
    spared = make_encoder(replace(VARIANTS["heat"], final_edges=False), vocab)
    missing, unexpected = spared.load_state_dict(full.state_dict(), strict=False)
    assert missing == []
    assert unexpected
    assert all(name.startswith("layers.1.update.edge") for name in unexpected)
    assert torch.allclose(spared(batch).nodes, full(batch).nodes)
    assert not torch.allclose(spared(batch).edges, full(batch).edges)


@pytest.mark.parametrize(
    "config", [AllSetConfig(dim=8, heads=2, ff=12), AllSetConfig(dim=8, heads=2, ff=12, pool=DeepSetPool)]
)
def test_allset_passes_gradients_to_every_parameter(config):
    vocab = Vocabulary.build([example_graph()])
    torch.manual_seed(0)
    encoder = AllSetEncoder(replace(config, layers=1), vocab).eval()
    read_states(encoder(collate([example_graph()], vocab).to_torch())).backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0 or name.endswith("key.bias"), name  # which the softmax cancels


def test_a_batch_of_another_vocabulary_is_refused():
    vocab = Vocabulary.build([example_graph()])
    other = Vocabulary.build([])
    encoder = make_encoder("heat", vocab)
    with pytest.raises(
        ValueError, match=f"batch: expected vocabulary {vocab.fingerprint}.*got {other.fingerprint}"
    ):
        encoder(collate([example_graph()], other).to_torch())
    with pytest.raises(
        TypeError, match=r"batch: expected torch tensors, got numpy arrays; call batch.to_torch\(\)"
    ):
        encoder(collate([example_graph()], vocab))


_ROOT = Path(__file__).parents[2]
_TRAIN = """
import hashlib, sys, torch
from hyperheat import HeatConfig, HeatEncoder, Vocabulary, collate
from benchmarks.workloads import code_like
torch.set_num_threads(2)
graphs = code_like(functions=3)
vocab = Vocabulary.build(graphs)
batch = collate(graphs, vocab).to_torch()
torch.manual_seed(0)
encoder = HeatEncoder(HeatConfig(dim=32, layers=2, heads=4), vocab)
optimiser = torch.optim.Adam(encoder.parameters(), lr=1e-3)
for _ in range(3):
    states = encoder(batch)
    (states.nodes.square().mean() + states.edges.cumsum(0).square().mean()).backward()
    optimiser.step(); optimiser.zero_grad()
digest = hashlib.sha256()
for parameter in encoder.parameters():
    digest.update(parameter.detach().numpy().tobytes())
sys.stdout.write(digest.hexdigest())
"""


def test_training_on_two_threads_is_repeatable_to_the_bit():
    runs = {
        subprocess.run(
            [sys.executable, "-c", _TRAIN], cwd=_ROOT, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    }
    assert len(runs) == 1
    assert len(runs.pop()) == 64


def test_a_small_encoder_can_be_trained():
    """Tell apart the two orders of a subtraction: impossible without qualifiers, easy with them."""
    graphs = []
    for left, right in (("a", "b"), ("b", "a")):
        b = HypergraphBuilder()
        nodes = {label: b.add_node(label) for label in "ab"}
        b.relate("Sub", ("left", nodes[left]), ("right", nodes[right]))
        graphs.append(b.build())
    vocab = Vocabulary.build(graphs)
    batch = collate(graphs, vocab).to_torch()
    target = torch.tensor([0.0, 1.0])
    losses = {}
    for variant in ("heat", "no-qualifiers"):
        encoder = make_encoder(variant, vocab, dropout=0.0)
        optimiser = torch.optim.Adam(encoder.parameters(), lr=1e-2)
        for _ in range(60):
            loss = (encoder(batch).edges[:, 0] - target).square().mean()
            losses[variant] = float(loss.detach())
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    assert losses["heat"] < 0.01
    assert losses["no-qualifiers"] == pytest.approx(0.25, abs=1e-3)


def test_planning_grows_in_line_with_the_graph():
    """Cells and index arrays of a batch of 32 functions are those of 8 functions four times over."""
    small = code_like(functions=8)
    large = small * 4
    vocab = Vocabulary.build(small)
    sizes = [len(collate(graphs, vocab).plan.slots.pairs) for graphs in (small, large)]
    assert sizes[1] == 4 * sizes[0]


@pytest.mark.parametrize("variant", VARIANTS)
def test_mixed_precision_comes_close_to_full_precision(variant):
    vocab = Vocabulary.build([example_graph()])
    batch = collate([example_graph()], vocab).to_torch()
    encoder = make_encoder(variant, vocab)
    with torch.autocast("cpu", torch.bfloat16):
        states = encoder(batch)
        read_states(type(states)(states.nodes.float(), states.edges.float())).backward()
    assert torch.allclose(states.nodes.float(), encoder(batch).nodes, atol=0.3)
    assert all(p.grad is not None and p.grad.dtype == torch.float32 for p in encoder.parameters())


def test_training_after_inference_mode_works():
    vocab = Vocabulary.build([example_graph()])
    batch = collate([example_graph()] * 9, vocab).to_torch()
    encoder = make_encoder("heat", vocab)
    attention._block_mask.cache_clear()
    with torch.inference_mode():
        encoder(batch)
    table = torch.randn(len(batch.plan.slots.starts) - 1, 24, requires_grad=True)
    attention._attend_at_once(table, batch.plan, 2).sum().backward()
    assert table.grad is not None


def test_qualifiers_of_another_batch_are_refused():
    vocab = Vocabulary.build([example_graph()])
    encoder = make_encoder("heat", vocab)
    batch = collate([example_graph()], vocab).to_torch()
    h, r = encoder.embedding(batch)
    with pytest.raises(ValueError, match=r"table: expected \d+ rows.*, got \d+"):
        encoder.layers[0](h, r[:-1], batch.plan)


def test_second_derivatives_are_refused():
    vocab = Vocabulary.build([example_graph()])
    encoder = make_encoder("heat", vocab)
    value = read_states(encoder(collate([example_graph()], vocab).to_torch()))
    (gradient,) = torch.autograd.grad(value, [encoder.embedding.label.weight], create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()
