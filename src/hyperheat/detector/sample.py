"""One function with a question: which of its candidate rewrites repair it, or is there no bug?

    function = extract(source).functions[0]
    clean = make_sample(function, None, origin)
    rewrite = candidates(function)[0]
    broken = extract_function(rewrite.apply(function.source), function, facts)
    buggy = make_sample(broken, rewrite.inverse(function.source), origin)

Training also uses functions with many bugs at once; everything else deals with one bug or none.

A sample holds what every model reads: the hypergraph, the graph of pairs, and the candidates as columns.
Letters: N nodes of the hypergraph, R candidate rewrites.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from hyperheat.hypergraph import Hypergraph
from hyperheat.pycode import FunctionGraph
from hyperheat.pycode.pairs import pairwise, symbols, tokens_of
from hyperheat.rewrites import KINDS, Rewrite, candidates

__all__ = [
    "CLEAN",
    "DENSE",
    "LIKELY",
    "NO_BUG",
    "REPAIRED",
    "TEXTS",
    "Candidates",
    "Origin",
    "Sample",
    "encode_candidates",
    "make_sample",
]

NO_BUG = -1
"""The target of a sample without a bug, and the number of its kind."""
CLEAN = "clean"
"""The name of the kind of a sample without a bug."""

LIKELY = "likely"
"""The tag of real changes that more likely fixed a bug than not."""

REPAIRED = "repaired"
"""The tag of functions whose real bug has been fixed."""

DENSE = "dense"
"""The tag of samples with many bugs at once, and the name of their kind."""

TEXTS = tuple((kind.name, text) for kind in KINDS.values() for text in kind.texts)
"""The replacements that are known beforehand: operators and literals, by kind."""

_KIND_CODES = {kind: code for code, kind in enumerate(KINDS)}
_TEXT_CODES = {text: code for code, text in enumerate(TEXTS)}


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a function comes from.

    `project` is a package, a repository or a folder; `version` that of the package, or the commit that made the repair;
    `path` is relative to the project; `line` is the first of the function; `tags` are facts to select by.
    """

    project: str
    version: str
    path: str
    function: str
    line: int
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """All rewrites of a function as columns [R]; nodes are numbers in its hypergraph, -1 where there is none.

    `location` never falls: rewrites of one location stand together.
    """

    location: np.ndarray
    """The node that is rewritten."""
    kind: np.ndarray
    """The place of the kind in `KINDS`."""
    text: np.ndarray
    """The place in `TEXTS` of the replacement."""
    first: np.ndarray
    """The symbol of the variable that is put in, or the first of two arguments that change places."""
    second: np.ndarray
    """The second of the two arguments."""

    def __len__(self) -> int:
        return len(self.location)


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A function as models see it, and the candidates that repair it."""

    origin: Origin
    source: str
    graph: Hypergraph
    pairs: Hypergraph | None
    """The graph of pairs, whose first nodes are those of `graph`; None if it was not made or not read."""
    token_of: np.ndarray
    """The token that stands for each node of `graph` [N], -1 for none; empty without `pairs`. Tokens are the first nodes."""
    candidates: Candidates
    repairs: tuple[int, ...]
    """Places in `candidates`, rising: none for a clean function, one for a bug, several for many bugs at once."""

    @property
    def target(self) -> int:
        """The only repair, or NO_BUG."""
        if len(self.repairs) > 1:
            raise ValueError(f"repairs: expected at most one, got {len(self.repairs)}")
        return self.repairs[0] if self.repairs else NO_BUG

    @property
    def kind(self) -> str:
        """The kind of the bug, or CLEAN, or DENSE for many at once."""
        if DENSE in self.origin.tags:
            return DENSE
        return CLEAN if self.target == NO_BUG else tuple(KINDS)[self.candidates.kind[self.target]]


def make_sample(
    function: FunctionGraph,
    repair: Rewrite | Sequence[Rewrite] | None,
    origin: Origin,
    *,
    pairs: bool = True,
) -> Sample:
    """The sample of a function that `repair`, one or several of its candidates, repairs; of a clean one if it is None.

    Only some baselines read the graph of pairs; without it a sample is made in two thirds of the time.
    """
    rewrites = candidates(function)
    if not rewrites:
        raise ValueError(f"{function.name}: expected candidate rewrites, got none")
    columns, order = encode_candidates(function, rewrites)
    repairs = () if repair is None else (repair,) if isinstance(repair, Rewrite) else tuple(repair)
    place = {rewrites[row]: index for index, row in enumerate(order)} if repairs else {}
    missing = [rewrite for rewrite in repairs if rewrite not in place]
    if missing:
        raise ValueError(f"{function.name}: expected one of its candidates, got {missing[0]}")
    return Sample(
        origin=origin,
        source=function.source,
        graph=replace(function.graph, span=None),
        pairs=replace(pairwise(function), span=None) if pairs else None,
        token_of=tokens_of(function) if pairs else np.zeros(0, np.int32),
        candidates=columns,
        repairs=tuple(sorted(place[rewrite] for rewrite in repairs)),
    )


def encode_candidates(function: FunctionGraph, rewrites: tuple[Rewrite, ...]) -> tuple[Candidates, list[int]]:
    """The rewrites as columns, ordered by location, and the order in which they stand there.

    Models know three forms of rewrites: a text that its kind lists, a variable, or two arguments that change places.
    Raises ValueError for any other.
    """
    node_at = _nodes(function)
    symbol_of = {node: symbol for symbol, *nodes in symbols(function.graph) for node in nodes}
    rows = []
    for kind, location, _, replacement, arguments, variable, _ in rewrites:
        first = second = -1
        if arguments is not None:
            first, second = node_at[arguments[0]], node_at[arguments[1]]
        elif variable is not None:
            binder = node_at[variable]
            first = symbol_of.get(binder, binder)
        text = _TEXT_CODES.get((kind, replacement), -1)
        if text < 0 and first < 0:
            raise ValueError(
                f"{kind}: expected a replacement in its texts, a variable or two arguments, got {replacement!r}"
            )
        rows.append((node_at[location], _KIND_CODES[kind], text, first, second))
    order = sorted(range(len(rows)), key=lambda row: rows[row][0])
    table = np.array([rows[row] for row in order], dtype=np.int32).reshape(-1, len(fields(Candidates)))
    names = (field.name for field in fields(Candidates))
    return Candidates(**dict(zip(names, table.T.copy(), strict=True))), order


def _nodes(function: FunctionGraph) -> dict[tuple[int, int], int]:
    """The innermost node at each span of `function.source`."""
    start, columns = function.syntax.start_of_lines, function.syntax.columns
    first, last = (np.array(column) - start for column in (columns.starts, columns.ends))
    return dict(zip(zip(first.tolist(), last.tolist(), strict=True), range(len(first)), strict=True))
