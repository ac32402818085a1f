"""The same function as a graph of pairs, for models that read binary edges: PyBugLab's GNN and GREAT.

`pairwise` keeps every node of the hypergraph, with its number, and puts two-ended edges in place of the
relations:

    Tokens       NextToken(source: token, target: the next)
    AstNode      Child(source: parent, target: child)
                 Sibling(source: child, target: the next)
    CtrlF        ControlFlowNext(source: previous, target: successor)
    MayRead      NextMayUse(source: previous use, target: use)
    MayWrite     LastMayWrite(source: use, target: write)
    Symbol       OccurrenceOf(source: occurrence, target: symbol)
                 MayFinalUseOf(source: last use, target: symbol)
    Returns      ReturnsFrom(source: function, target: return)
    Yields       YieldsFrom(source: function, target: yield)
    assignment   AssignedFrom(source: target of the assignment, target: value)
    calls        CandidateCall(source: call, target: name of the callee)
                 MayFormalName(source: argument, target: name of its parameter)

The names of callees and of parameters are new nodes, one per name and graph.
Operators have no pairs of their own: what they relate are children. `pairwise_tokens` is GREAT's view: the
nodes are the tokens alone, and the edges of flow, assignment and last use lie between the tokens that stand
for their ends.
"""

import ast
from collections.abc import Iterator
from itertools import pairwise as neighbours
from itertools import product

import numpy as np

from hyperheat.hypergraph import Edge, Hypergraph, Position
from hyperheat.pycode.extraction import FunctionGraph
from hyperheat.pycode.syntax.function_syntax import FunctionSyntax

__all__ = ["RELATIONS", "TOKEN_RELATIONS", "between_tokens", "pairwise", "pairwise_tokens", "tokens_of"]

RELATIONS = (
    "NextToken",
    "Child",
    "Sibling",
    "ControlFlowNext",
    "NextMayUse",
    "LastMayWrite",
    "OccurrenceOf",
    "MayFinalUseOf",
    "ReturnsFrom",
    "YieldsFrom",
    "AssignedFrom",
    "CandidateCall",
    "MayFormalName",
)
"""The relations of `pairwise`."""

TOKEN_RELATIONS = (
    "ControlFlowNext",
    "AssignedFrom",
    "ReturnsFrom",
    "YieldsFrom",
    "NextMayUse",
    "LastMayWrite",
    "MayFinalUseOf",
)
"""The relations that `pairwise_tokens` keeps."""

Pair = tuple[str, int, int]


def pairwise(function: FunctionGraph) -> Hypergraph:
    """The graph of pairs of a function; its first nodes are those of `function.graph`."""
    graph = function.graph
    names = {name: index for index, name in enumerate(graph.names)}
    pairs = list(dict.fromkeys([*_structure(function), *_assignments(function.syntax)]))
    added, calls = _calls(function)
    pairs += calls
    label = [*graph.label.tolist(), *(names.setdefault(name, len(names)) for name in added)]
    relation = [names.setdefault(relation, len(names)) for relation, _, _ in pairs]
    ends = [names.setdefault("source", len(names)), names.setdefault("target", len(names))]
    span = None if graph.span is None else np.pad(graph.span, ((0, len(added)), (0, 0)), constant_values=-1)
    return Hypergraph(
        names=tuple(names),
        label=np.array(label, dtype=np.int32),
        relation=np.array(relation, dtype=np.int32),
        offsets=2 * np.arange(len(pairs) + 1, dtype=np.int64),
        qualifier=np.tile(np.array(ends, dtype=np.int32), len(pairs)),
        node=np.array([node for _, *both in pairs for node in both], dtype=np.int32),
        span=span,
    )


def pairwise_tokens(function: FunctionGraph) -> Hypergraph:
    """The graph of pairs between the tokens of a function; no pair joins a token to itself."""
    return between_tokens(pairwise(function), tokens_of(function))


def between_tokens(pairs: Hypergraph, token_of: np.ndarray) -> Hypergraph:
    """What `pairwise_tokens` gives, from the graph of pairs and the token that stands for each node."""
    tokens = int((token_of == np.arange(len(token_of))).sum())
    kept = np.array([name in TOKEN_RELATIONS for name in pairs.names] or [False])[pairs.relation]
    ends = token_of[pairs.node.reshape(-1, 2)[kept]]  # [P, 2]
    relation = pairs.relation[kept]
    real = (ends >= 0).all(axis=1) & (ends[:, 0] != ends[:, 1])
    rows = np.column_stack([relation, ends])[real]
    _, first = np.unique(rows, axis=0, return_index=True)
    rows = rows[np.sort(first)]
    ends_of_pair = pairs.qualifier[:2] if len(pairs.qualifier) else pairs.qualifier  # source, target
    return Hypergraph(
        names=pairs.names,
        label=pairs.label[:tokens],
        relation=rows[:, 0],
        offsets=np.arange(len(rows) + 1) * 2,
        qualifier=np.tile(ends_of_pair, len(rows)),
        node=rows[:, 1:].reshape(-1),
        span=None if pairs.span is None else pairs.span[:tokens],
    )


def _structure(function: FunctionGraph) -> Iterator[Pair]:
    """Pairs for syntax and flow. A called function may share their names, but its edge begins with `rval`."""
    for edge in function.graph:
        first = edge.incidences[0][0]
        nodes = [node for _, node in edge.incidences]
        if isinstance(first, Position):
            yield from (("NextToken", *pair) for pair in neighbours(nodes))
        elif edge.relation == "AstNode" and first == "node":
            yield from (("Child", nodes[0], child) for child in nodes[1:])
            yield from (("Sibling", *pair) for pair in neighbours(nodes[1:]))
        elif edge.relation in _FLOW and first == "prev":
            yield from _flow(edge)
        elif edge.relation == "Symbol" and first == "sym":
            yield from (("OccurrenceOf", occurrence, nodes[0]) for occurrence in nodes[1:])
            last = [node for qualifier, node in edge.incidences if qualifier == "may_last_use"]
            yield from (("MayFinalUseOf", use, nodes[0]) for use in last)
        elif edge.relation in ("Returns", "Yields") and first == "fn":
            yield from ((f"{edge.relation}From", nodes[0], place) for place in nodes[1:])


_FLOW = {"CtrlF": "ControlFlowNext", "MayRead": "NextMayUse", "MayWrite": "LastMayWrite"}


def _flow(edge: Edge) -> Iterator[Pair]:
    previous = [node for qualifier, node in edge.incidences if qualifier == "prev"]
    following = [node for qualifier, node in edge.incidences if qualifier == "succ"]
    for before, after in product(previous, following):
        ends = (after, before) if edge.relation == "MayWrite" else (before, after)
        yield _FLOW[edge.relation], *ends


def _assignments(syntax: FunctionSyntax) -> Iterator[Pair]:
    for node in ast.walk(syntax.function):
        if (
            isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr)
            and node.value is not None
        ):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                yield "AssignedFrom", syntax.node(target), syntax.node(node.value)


def _calls(function: FunctionGraph) -> tuple[list[str], list[Pair]]:
    """Labels of the nodes that stand for callees and parameters, and the pairs that lead there."""
    syntax = function.syntax
    calls = {syntax.node(node) for node in ast.walk(syntax.function) if isinstance(node, ast.Call)}
    names: dict[tuple[str, ...], int] = {}
    pairs: list[Pair] = []
    for edge in function.graph:
        if edge.incidences[0][0] != "rval" or edge.incidences[0][1] not in calls:
            continue
        for qualifier, node in edge.incidences:
            name = (edge.relation,) if qualifier == "rval" else (edge.relation, str(qualifier))
            target = names.setdefault(name, function.graph.num_nodes + len(names))
            pairs.append(("CandidateCall" if len(name) == 1 else "MayFormalName", node, target))
    return [name[-1] for name in names], pairs


def tokens_of(function: FunctionGraph) -> np.ndarray:
    """The token that stands for each node: itself, its operator or its first, a symbol's first occurrence.

    -1 for a node without a token.
    """
    syntax = function.syntax
    token_of = np.full(function.graph.num_nodes, -1, dtype=np.int32)
    for node, start in enumerate(syntax.columns.starts):
        token_of[node] = syntax.placement.at_start.get(start, -1)
    token_of[: len(syntax.tokens.texts)] = np.arange(len(syntax.tokens.texts))
    for node in ast.walk(syntax.function):
        if isinstance(node, ast.BinOp | ast.BoolOp | ast.UnaryOp | ast.AugAssign):
            token_of[syntax.node(node)] = syntax.node((node, "op"))
        elif isinstance(node, ast.Compare):
            token_of[syntax.node(node)] = syntax.node((node, "ops", 0))
    for edge in function.graph:
        if edge.relation == "Symbol" and edge.incidences[0][0] == "sym":
            symbol, *occurrences = [node for _, node in edge.incidences]
            token_of[symbol] = token_of[occurrences[0]]
    return token_of
