"""HEAT with a matrix for each kind of slot, in plain numpy: see `nn/role_heat.py` for the equations.

What qualifiers become is kept from one function to the next, and the last layer computes the messages to the nodes that
the head reads alone. Letters: N nodes, E edges, C cells, P of them with a position, D width.
"""

from dataclasses import dataclass

import numpy as np

from hyperheat.detector.arrays import Linear, Pool, QualifierTable, StateUpdate, Weights, embed
from hyperheat.tensors import OTHER_KINDS, RoleBatch, RolePlan, Vocabulary

__all__ = ["RoleArchitecture", "RoleNetwork"]

_LARGEST = {"dim": 8_192, "layers": 256, "ff": 65_536, "roles": 4_096}


@dataclass(frozen=True, kw_only=True)
class RoleArchitecture:
    """Sizes of a model, as `RoleConfig` names them."""

    dim: int
    layers: int
    ff: int
    roles: int
    dropout: float
    final_edges: bool

    def __post_init__(self) -> None:
        for name, most in _LARGEST.items():
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= most:
                raise ValueError(f"{name}: expected an int from 1 to {most}, got {value!r:.50}")
        if self.dim % 2:
            raise ValueError(f"dim: expected an even number, got {self.dim}")


class _Message:
    """The message in each cell, of all cells or of some."""

    def __init__(self, weights: Weights, name: str, architecture: RoleArchitecture) -> None:
        dim, kinds = architecture.dim, architecture.roles + OTHER_KINDS
        both = weights.take(f"{name}.kinds", kinds, 2 * dim, dim).transpose(0, 2, 1)
        self.say, self.keep = (np.ascontiguousarray(part) for part in np.split(both, 2, axis=2))  # A and B
        self.after = Linear(weights, f"{name}.after", dim, dim, bias=False)
        self.bias = weights.take(f"{name}.bias", dim)

    def __call__(self, x: np.ndarray, plan: RolePlan[np.ndarray], edges: Pool) -> np.ndarray:
        """Slots [C, D] -> messages [C, D]."""
        said, m = _by_kind(x, self.say, plan.sizes), _by_kind(x, self.keep, plan.sizes)
        m += self.bias
        num_positions = len(plan.neighbours.pairs)
        nothing = np.zeros((1, x.shape[1]), np.float32)
        before, after = plan.neighbours.pairs.T
        table = np.concatenate([said[:num_positions], self.after(x[:num_positions]), nothing])
        m[:num_positions] += table.take(before, axis=0)
        m[:num_positions] += table.take(after, axis=0)
        said = said[num_positions:]
        others = edges.reduce(said.take(edges.entries, axis=0), np.add).take(plan.edges.owner, axis=0)
        others -= said
        others *= plan.scale.astype(np.float32)
        m[num_positions:] += others
        return m


def _by_kind(x: np.ndarray, matrices: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """Rows in blocks of some sizes, each times the matrix of its kind."""
    out = np.empty((len(x), matrices.shape[2]), np.float32)
    start = 0
    for size, matrix in zip(sizes, matrices, strict=False):
        if size:
            np.matmul(x[start : start + size], matrix, out=out[start : start + size])
        start += size
    return out


class _Layer:
    """One round of messages."""

    def __init__(self, weights: Weights, name: str, architecture: RoleArchitecture, *, last: bool) -> None:
        dim, hidden = architecture.dim, architecture.ff
        self.qualifier = Linear(weights, f"{name}.qualifier", dim, dim)
        self.message = _Message(weights, f"{name}.message", architecture)
        self.node_update = StateUpdate(weights, f"{name}.update.node", dim, hidden)
        self.edge_update = None
        if not last or architecture.final_edges:
            self.edge_update = StateUpdate(weights, f"{name}.update.edge", dim, hidden)


class RoleNetwork:
    """A batch of hypergraphs in, states of chosen nodes out."""

    def __init__(self, weights: Weights, architecture: RoleArchitecture, vocab: Vocabulary) -> None:
        dim, count = architecture.dim, architecture.layers
        if not 0 < len(vocab.roles) <= architecture.roles:
            raise ValueError(f"vocab: expected 1 to {architecture.roles} roles, got {len(vocab.roles)}")
        self.label = weights.take("encoder.embedding.label.weight", len(vocab.labels), dim)
        self.name = weights.take("encoder.embedding.name.weight", len(vocab.names), dim)
        self.layers = [
            _Layer(weights, f"encoder.layers.{index}", architecture, last=index == count - 1)
            for index in range(count)
        ]
        self.qualifiers = QualifierTable(self.name, [layer.qualifier for layer in self.layers], dim)

    def __call__(self, batch: RoleBatch[np.ndarray], chosen: np.ndarray) -> np.ndarray:
        """The states of the chosen nodes [*, D]."""
        plan, num_nodes = batch.plan, batch.num_nodes
        labels = embed(self.label, batch.labels, np.maximum)
        names = embed(self.name, batch.names, np.add)
        h = np.concatenate([labels.take(batch.label, axis=0), names.take(batch.relation, axis=0)])  # [N+E, D]
        state, qualifier = plan.slots.pairs.T  # [C]
        kept, rows = self.qualifiers.find(batch, qualifier - len(h))
        edges = Pool(plan.edges)
        receivers = Pool(plan.receivers)
        for index, layer in enumerate(self.layers):
            x = h.take(state, axis=0)  # [C, D]
            x += kept[index].take(rows, axis=0)
            m = layer.message(x, plan, edges)
            if layer is self.layers[-1]:
                receivers, h = Pool(plan.receivers, chosen), h.take(chosen, axis=0)
                num_nodes = len(chosen)
            u = receivers.reduce(m.take(receivers.entries, axis=0), np.maximum)
            new = np.empty_like(h)
            layer.node_update(h[:num_nodes], u[:num_nodes], new[:num_nodes])
            if len(h) > num_nodes and layer.edge_update is not None:
                layer.edge_update(h[num_nodes:], u[num_nodes:], new[num_nodes:])
            h = new
        return h
