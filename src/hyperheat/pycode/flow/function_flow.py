"""Flow facts of one function: control flow, data flow, symbols, returns and yields.

    control, may_read, may_write    pairs (prev*, succ*): each of succ* may directly follow each of prev*
    symbols                         a symbol, its occurrences, and those that may be its last use
    returns, yields                 per function, the returns and the last nodes before its end; the yields

An occurrence, read or write, follows the reads (`may_read`) and the writes (`may_write`) of its symbol that
may have been the last ones before it. `del` is a write; `a.b = 1` and `a[i] = 1` read `a`, and the former
writes the symbol `a.b`. Everything is in source order.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from hyperheat.pycode.anchors import Anchor, FunctionNode, FunctionOrLambda
from hyperheat.pycode.flow.blocks import Unit
from hyperheat.pycode.flow.control_flow import build_blocks
from hyperheat.pycode.flow.data_flow import reaching
from hyperheat.pycode.names.function_names import FunctionNames, resolve_names
from hyperheat.pycode.names.scopes import ModuleScope, SymbolKind

__all__ = ["FlowSources", "FunctionFlow", "Merged", "SymbolFacts", "analyse_flow"]

Merged = tuple[tuple[Anchor, ...], tuple[Anchor, ...]]
FlowSources = tuple[FunctionOrLambda, tuple[Anchor, ...]]


@dataclass(frozen=True, slots=True)
class SymbolFacts:
    """A symbol, the places that name it and those that may be the last to do so."""

    name: str
    occurrences: tuple[Anchor, ...]
    last_uses: tuple[Anchor, ...]
    kind: SymbolKind


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionFlow:
    """What flows in an outermost function and in the functions nested in it, and what it was found from."""

    control: tuple[Merged, ...]
    may_read: tuple[Merged, ...]
    may_write: tuple[Merged, ...]
    symbols: tuple[SymbolFacts, ...]
    returns: tuple[FlowSources, ...]
    yields: tuple[FlowSources, ...]
    names: FunctionNames = field(repr=False, compare=False)
    units: list[Unit] = field(repr=False, compare=False)


def analyse_flow(function: FunctionNode, module: ModuleScope) -> FunctionFlow:
    """Analyse an outermost function; for a method, pass `module.inside(class_def)`."""
    names = resolve_names(function, module)
    built = build_blocks(function, names, module)
    nodes = list(built.nodes)
    solved = reaching(names, built.units, len(nodes))
    in_order = sorted(range(len(nodes)), key=lambda number: _position(nodes[number]))
    rank = {number: place for place, number in enumerate(in_order)}
    return FunctionFlow(
        control=_merge(
            [nodes[number] for number in in_order],
            [tuple(sorted(rank[before] for before in solved.nodes[number])) for number in in_order],
        ),
        may_read=_merge(names.anchors, solved.reads),
        may_write=_merge(names.anchors, solved.writes),
        symbols=_symbols(names, solved.last_uses),
        returns=_sources(
            (unit.function, [*unit.returns, *(nodes[number] for number in last)])
            for unit, last in zip(built.units, solved.last_nodes, strict=True)
        ),
        yields=_sources((unit.function, unit.yields) for unit in built.units),
        names=names,
        units=built.units,
    )


def _merge(anchors: list[Anchor], predecessors: list[tuple[int, ...]]) -> tuple[Merged, ...]:
    """Join the anchors that have the same predecessors, given as positions in `anchors`."""
    groups: dict[tuple[int, ...], list[Anchor]] = {}
    for anchor, before in zip(anchors, predecessors, strict=True):
        if before:
            groups.setdefault(before, []).append(anchor)
    return tuple(
        (tuple(anchors[number] for number in before), tuple(successors))
        for before, successors in groups.items()
    )


def _symbols(names: FunctionNames, last_uses: tuple[int, ...]) -> tuple[SymbolFacts, ...]:
    occurrences: list[list[Anchor]] = [[] for _ in names.symbols]
    for anchor, symbol in zip(names.anchors, names.symbol_of, strict=True):
        occurrences[symbol].append(anchor)
    last: list[list[Anchor]] = [[] for _ in names.symbols]
    for number in last_uses:
        last[names.symbol_of[number]].append(names.anchors[number])
    return tuple(
        SymbolFacts(symbol.name, tuple(places), tuple(uses), symbol.kind)
        for symbol, places, uses in zip(names.symbols, occurrences, last, strict=True)
    )


def _sources(found: Iterable[tuple[FunctionOrLambda, list[Anchor]]]) -> tuple[FlowSources, ...]:
    return tuple((function, tuple(sorted(anchors, key=_position))) for function, anchors in found if anchors)


def _position(anchor: Anchor) -> tuple[int, int]:
    """Where an anchor of the control-flow graph stands in the source."""
    node: Any = anchor
    kind = type(anchor)
    if kind is tuple:  # a link of a chain of comparisons
        compare, _, number = node
        node = compare.comparators[number]
    elif kind is ast.comprehension:
        node = node.target
    elif kind is ast.withitem:
        node = node.context_expr
    return node.lineno, node.col_offset
