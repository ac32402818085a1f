"""The encoder with a matrix for each kind of slot: batches give what the equations give, one slot at a time."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.nn.models import example_graph, read_states
from tests.strategies import hypergraphs

from hyperheat import Vocabulary, collate
from hyperheat.nn.reference import encode_by_roles
from hyperheat.nn.role_heat import RoleConfig, RoleEncoder, linear_by_kind
from hyperheat.tensors import collate_roles

CONFIG = RoleConfig(dim=8, layers=2, ff=12, roles=6, final_edges=True)


def make_encoder(vocab: Vocabulary, config: RoleConfig = CONFIG) -> RoleEncoder:
    """Fixed random weights, biases and norms included, in double precision."""
    torch.manual_seed(0)
    encoder = RoleEncoder(config, vocab)
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return encoder.double().eval()


@settings(max_examples=40, deadline=None)
@given(graphs=st.lists(hypergraphs(), min_size=1, max_size=3), roles=st.integers(1, 6))
def test_a_batch_gives_what_the_equations_give(graphs, roles):
    vocab = Vocabulary.build([example_graph(), *graphs], roles=roles)
    encoder = make_encoder(vocab)
    states = encoder(collate_roles(graphs, vocab).to_torch())
    expected = [encode_by_roles(encoder, graph) for graph in graphs]
    torch.testing.assert_close(states.nodes, torch.cat([one.nodes for one in expected]))
    torch.testing.assert_close(states.edges, torch.cat([one.edges for one in expected]))


def test_gradients_reach_every_parameter():
    vocab = Vocabulary.build([example_graph()], roles=6)
    encoder = make_encoder(vocab)
    read_states(encoder(collate_roles([example_graph()], vocab).to_torch())).backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name


def test_without_final_edges_nodes_are_the_same():
    vocab = Vocabulary.build([example_graph()], roles=6)
    batch = collate_roles([example_graph()], vocab).to_torch()
    full = make_encoder(vocab)
    spared = make_encoder(vocab, replace(CONFIG, final_edges=False))
    missing, unexpected = spared.load_state_dict(full.state_dict(), strict=False)
    assert missing == []
    assert all(name.startswith("layers.1.update.edge") for name in unexpected)
    torch.testing.assert_close(spared(batch).nodes, full(batch).nodes)


def test_products_by_kind_have_the_gradients_of_plain_ones():
    torch.manual_seed(0)
    x = torch.randn(7, 3, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(4, 2, 3, dtype=torch.float64, requires_grad=True)
    sizes = (2, 0, 5)  # the last matrix has no rows
    assert torch.autograd.gradcheck(lambda x, w: linear_by_kind(x, w, sizes), (x, weight))
    expected = torch.cat([x[:2] @ weight[0].T, x[2:] @ weight[2].T])
    torch.testing.assert_close(linear_by_kind(x, weight, sizes), expected)


def test_products_in_bfloat16_are_those_of_a_few_shapes(monkeypatch):
    torch.manual_seed(0)
    product, shapes = torch.mm, set()

    def recorded(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor) -> torch.Tensor:
        shapes.add(a.shape)
        return product(a, b, out=out)

    monkeypatch.setattr(torch, "mm", recorded)
    weight = torch.randn(3, 4, 8).bfloat16().requires_grad_()
    for size in (*range(100, 130), 5_000):
        sizes = (size, 0, 17)
        x = torch.randn(sum(sizes), 8).bfloat16().requires_grad_()
        out = linear_by_kind(x, weight, sizes)
        grad = torch.randn_like(out)
        plain = torch.cat([x[:size].float() @ weight[0].float().T, x[size:].float() @ weight[2].float().T])
        torch.testing.assert_close(out.float(), plain, atol=0.05, rtol=0.02)
        inputs = (x, weight)
        got, expected = (
            torch.autograd.grad(out, inputs, grad),
            torch.autograd.grad(plain, inputs, grad.float()),
        )
        for one, other in zip(got, expected, strict=True):
            torch.testing.assert_close(one, other, atol=2.0, rtol=0.05)
    rows = {shape[0] for shape in shapes if shape[1] == 8}
    assert rows <= {2048, 1024, 512, 256, 128, 64, 32, *range(1, 17)}


def test_in_lower_precision_states_are_near():
    vocab = Vocabulary.build([example_graph()], roles=6)
    batch = collate_roles([example_graph()], vocab).to_torch()
    encoder = make_encoder(vocab).float()
    exact = encoder(batch).nodes
    with torch.autocast("cpu", dtype=torch.bfloat16):
        near = encoder(batch).nodes
    torch.testing.assert_close(near.float(), exact, atol=0.1, rtol=0.1)
    near.float().sum().backward()
    assert all(p.grad is None or p.grad.dtype == torch.float32 for p in encoder.parameters())


@pytest.mark.parametrize("roles", [0, 7])
def test_the_roles_of_a_vocabulary_must_fit(roles):
    vocab = Vocabulary.build([example_graph()], roles=roles)
    with pytest.raises(ValueError, match=rf"^vocab: expected 1 to 6 roles, got {roles}$"):
        RoleEncoder(CONFIG, vocab)


def test_a_batch_of_another_vocabulary_is_refused():
    vocab = Vocabulary.build([example_graph()], roles=6)
    other = collate([example_graph()], replace(vocab, roles=())).to_torch()
    with pytest.raises(ValueError, match=r"^batch: expected vocabulary"):
        make_encoder(vocab)(other)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dim": 7}, "dim: expected an even number, got 7"),
        ({"layers": 0}, "layers: expected an int of at least 1, got 0"),
        ({"roles": 1.5}, "roles: expected an int of at least 1, got 1.5"),
        ({"dropout": 1.0}, "dropout: expected a number from 0 up to 1, got 1.0"),
        ({"final_edges": 1}, "final_edges: expected true or false, got 1"),
    ],
)
def test_settings_are_checked(changes, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        replace(CONFIG, **changes)
