"""What networks in plain numpy are made of, each part as the torch module of that name computes it, for inference alone.

Letters: N nodes, C cells, S segments, Q qualifiers, D width, X width of what a qualifier becomes.
"""

import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from hyperheat.tensors import EdgeBatch, Segments, Strings

__all__ = ["Linear", "Norm", "Pool", "QualifierTable", "StateUpdate", "Weights", "embed", "relu"]

_EPSILON = 1e-5  # of torch's LayerNorm
_FIRST_ROWS, _KEPT_NUMBERS = 256, 1 << 24  # of the table of qualifiers: at first, and at most (64 MB)


class Weights:
    """Weights by their names in torch: each is taken once, and must have the shape that it is taken for."""

    def __init__(self, tensors: Mapping[str, np.ndarray]) -> None:
        self._left = dict(tensors)

    def take(self, name: str, *shape: int) -> np.ndarray:
        found = self._left.pop(name, None)
        if found is None or found.shape != shape:
            got = "none" if found is None else found.shape
            raise ValueError(f"{name}: expected shape {shape}, got {got}")
        if not np.isfinite(found).all():
            raise ValueError(f"{name}: expected finite numbers, got some that are NaN or infinite")
        return found.astype(np.float32, copy=False)

    def end(self) -> None:
        """Refuse weights that nothing has taken."""
        if self._left:
            raise ValueError(f"{min(self._left)}: expected no such weights in a model of these settings")


class Linear:
    """W x + b"""

    def __init__(self, weights: Weights, name: str, inputs: int, outputs: int, *, bias: bool = True) -> None:
        self.weight = np.ascontiguousarray(weights.take(f"{name}.weight", outputs, inputs).T)
        self.bias = weights.take(f"{name}.bias", outputs) if bias else np.zeros(outputs, np.float32)

    def __call__(self, x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        y = np.matmul(x, self.weight, out=out)
        y += self.bias
        return y


class Norm:
    """LN(x), in place"""

    def __init__(self, weights: Weights, name: str, dim: int) -> None:
        self.weight = weights.take(f"{name}.weight", dim)
        self.bias = weights.take(f"{name}.bias", dim)
        self.average = np.full(dim, 1 / dim, np.float32)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        x -= (x @ self.average)[:, None]
        variance = np.einsum("nd,nd->n", x, x)
        variance /= x.shape[1]
        variance += _EPSILON
        x /= np.sqrt(variance, out=variance)[:, None]
        x *= self.weight
        x += self.bias
        return x


def relu(x: np.ndarray) -> np.ndarray:
    """max(x, 0), in place; with a row of zeros numpy is twice as fast as with a number."""
    return np.maximum(x, np.zeros(x.shape[-1], np.float32), out=x)


class Pool:
    """Segments by length: those of one length are one dense array. An empty one is zero.

    `entries` are the entries of all segments in this order [C], `place` is where each segment stands in it [S].
    """

    def __init__(self, segments: Segments[np.ndarray], chosen: np.ndarray | slice = slice(None)) -> None:
        starts, lengths = segments.offsets[:-1][chosen], np.diff(segments.offsets)[chosen]
        self.order = np.argsort(lengths, kind="stable")
        self.place = np.empty_like(self.order)
        self.place[self.order] = np.arange(len(self.order))
        starts, lengths = starts[self.order], lengths[self.order]
        ends = np.cumsum(lengths)
        within = np.arange(int(lengths.sum())) + np.repeat(starts - ends + lengths, lengths)
        self.entries = segments.entries[within]
        counts = np.bincount(lengths)
        self._sizes = [(length, int(counts[length])) for length in np.flatnonzero(counts).tolist()]

    def groups(self, x: np.ndarray) -> Iterator[tuple[np.ndarray, slice]]:
        """Entries in their order [C, X] -> for each length the entries [S, length, X] and places of its segments."""
        entry = row = 0
        for length, count in self._sizes:
            if length:
                yield x[entry : entry + count * length].reshape(count, length, -1), slice(row, row + count)
            entry += count * length
            row += count

    def reduce(self, x: np.ndarray, with_: np.ufunc) -> np.ndarray:
        """Entries in their order [C, D] -> segments [S, D]."""
        out = np.zeros((len(self.order), x.shape[1]), np.float32)
        for entries, places in self.groups(x):
            with_.reduce(entries, axis=1, out=out[places])
        return out.take(self.place, axis=0)


class StateUpdate:
    """q = LN(h + u);  h' = LN(q + FFN(q)), or q without the feed-forward part"""

    def __init__(self, weights: Weights, name: str, dim: int, hidden: int | None) -> None:
        part = f"{name}.feed_forward"
        self.norm = Norm(weights, f"{name}.norm", dim)
        self.feed_forward = hidden is not None
        if hidden is not None:
            self.widen = Linear(weights, f"{part}.widen", dim, hidden)
            self.narrow = Linear(weights, f"{part}.narrow", hidden, dim)
            self.second_norm = Norm(weights, f"{part}.norm", dim)

    def __call__(self, h: np.ndarray, u: np.ndarray, out: np.ndarray) -> None:
        """States and updates [N, D] -> new states in `out` [N, D]; `u` is overwritten."""
        u += h
        q = self.norm(u)
        if not self.feed_forward:
            out[...] = q
            return
        self.narrow(relu(self.widen(q)), out=out)
        out += q
        self.second_norm(out)


class QualifierTable:
    """`W r_tau` for every layer, in a table that is kept from one batch to the next.

    Each row is computed by itself, so that it does not depend on what was asked before. Rows that are in use are never
    overwritten: when the table is full, another one is begun.
    """

    def __init__(
        self, names: np.ndarray, layers: Sequence[Callable[[np.ndarray], np.ndarray]], width: int
    ) -> None:
        """The vectors of names, and what each layer makes of the vector of a qualifier, `width` numbers."""
        self._names, self._layers, self._width = names, layers, width
        self._lock = threading.Lock()
        self._most = max(_FIRST_ROWS, _KEPT_NUMBERS // (len(layers) * width))
        self._clear(_FIRST_ROWS)

    def _clear(self, rows: int) -> None:
        self._row: dict[int | tuple[int, ...], int] = {}  # row 0 is for cells without a qualifier
        self.table = np.zeros((len(self._layers), rows, self._width), np.float32)

    def find(self, batch: EdgeBatch[np.ndarray], qualifier: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The table [layers, *, X] and the row in it of each cell's qualifier [C], which is Q where it has none."""
        offsets, tokens = batch.names.owner.offsets.tolist(), batch.names.tokens.tolist()
        used = np.flatnonzero(np.bincount(qualifier, minlength=batch.num_qualifiers + 1)[:-1]).tolist()
        num_names = len(offsets) - 1
        positions = batch.positions.tolist()
        keys = [
            tuple(tokens[offsets[q] : offsets[q + 1]]) if q < num_names else positions[q - num_names]
            for q in used
        ]
        rows = np.zeros(batch.num_qualifiers + 1, dtype=np.int64)
        with self._lock:
            new = dict.fromkeys(key for key in keys if key not in self._row)
            if len(self._row) + len(new) >= self._most:
                new = dict.fromkeys(keys)
                self._clear(len(new) + 1)
            self._add(list(new))
            rows[used] = [self._row[key] for key in keys]
            return self.table, rows[qualifier]

    def _add(self, keys: list[int | tuple[int, ...]]) -> None:
        short = len(self._row) + 1 + len(keys) - self.table.shape[1]
        if short > 0:
            room = np.zeros((len(self._layers), max(short, self.table.shape[1]), self._width), np.float32)
            self.table = np.concatenate([self.table, room], axis=1)
        for row, key in enumerate(keys, start=len(self._row) + 1):
            r = self._position(key) if isinstance(key, int) else self._names[list(key)].sum(axis=0)
            for qualify, table in zip(self._layers, self.table, strict=True):
                table[row] = qualify(r)
            self._row[key] = row

    def _position(self, position: int) -> np.ndarray:
        """[sin(p w_1), ..., cos(p w_1), ...] with w_i = 10000^(-2(i-1)/D)"""
        dim = self._names.shape[1]
        angles = position * np.exp(-math.log(10000.0) * np.arange(0, dim, 2) / dim)
        return np.concatenate([np.sin(angles), np.cos(angles)]).astype(np.float32)


def embed(table: np.ndarray, strings: Strings[np.ndarray], with_: np.ufunc) -> np.ndarray:
    """The subtokens of each string, reduced [*, D]."""
    pool = Pool(strings.owner)
    return pool.reduce(table.take(strings.tokens[pool.entries], axis=0), with_)
