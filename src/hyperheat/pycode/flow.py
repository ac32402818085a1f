"""Flow facts of one function: control flow, data flow, symbols, returns and yields.

    control, may_read, may_write    pairs (prev*, succ*): everything in succ* may directly follow everything in prev*
    symbols                         each symbol with its occurrences and those that may be its last use
    returns, yields                 per function: return statements and the nodes before its end; yield expressions

An occurrence follows the reads (`may_read`) and the writes (`may_write`) of its symbol that may have been the last ones before
it; it may itself be a read or a write. `del` is a write. Reads and writes of `a.b` are those of the symbol `a.b`, and
reads of `a`. Everything is in source order.
"""

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from hyperheat.pycode.anchor import Anchor
from hyperheat.pycode.control import Control
from hyperheat.pycode.dataflow import LASTS, READS, WRITES, Reaching, occurrences, ones, reaching
from hyperheat.pycode.scopes import Function, Kind, ModuleScope, Names, resolve_names

__all__ = ["FunctionFlow", "Merged", "Sources", "SymbolFacts", "analyse"]

Merged = tuple[tuple[Anchor, ...], tuple[Anchor, ...]]
Sources = tuple[Function, tuple[Anchor, ...]]


@dataclass(frozen=True, slots=True)
class SymbolFacts:
    """A symbol, the places that name it and those that may be the last to do so."""

    name: str
    occurrences: tuple[Anchor, ...]
    last_uses: tuple[Anchor, ...]
    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionFlow:
    """What flows in an outermost function and in the functions nested in it."""

    control: tuple[Merged, ...]
    may_read: tuple[Merged, ...]
    may_write: tuple[Merged, ...]
    symbols: tuple[SymbolFacts, ...]
    returns: tuple[Sources, ...]
    yields: tuple[Sources, ...]


def analyse(function: ast.FunctionDef | ast.AsyncFunctionDef, module: ModuleScope) -> FunctionFlow:
    """Analyse an outermost function; for a method, pass `module.inside(class_def)`."""
    names = resolve_names(function, module)
    built = Control(function, names, module)
    nodes = list(built.nodes)
    solved = reaching(names, built.units, len(nodes))
    in_order = sorted(range(len(nodes)), key=lambda number: _position(nodes[number]))
    rank = {number: place for place, number in enumerate(in_order)}

    def node_anchors(bits: int) -> tuple[Anchor, ...]:
        return tuple(nodes[number] for number in sorted(ones(bits), key=rank.__getitem__))

    return FunctionFlow(
        control=_merge(((solved.nodes[number], nodes[number]) for number in in_order), node_anchors),
        may_read=_merge_accesses(names, solved, READS),
        may_write=_merge_accesses(names, solved, WRITES),
        symbols=_symbols(names, solved),
        returns=tuple(
            (unit.function, sources)
            for unit, last in zip(built.units, solved.last_nodes, strict=True)
            if (sources := _in_source_order([*unit.returns, *node_anchors(last)]))
        ),
        yields=tuple((unit.function, _in_source_order(unit.yields)) for unit in built.units if unit.yields),
    )


def _merge(
    pairs: Iterable[tuple[int, Anchor]], anchors: Callable[[int], tuple[Anchor, ...]]
) -> tuple[Merged, ...]:
    """Join the successors that have the same set of predecessors, given as bits."""
    groups: dict[int, list[Anchor]] = {}
    for predecessors, successor in pairs:
        if predecessors:
            groups.setdefault(predecessors, []).append(successor)
    return tuple((anchors(predecessors), tuple(successors)) for predecessors, successors in groups.items())


def _merge_accesses(names: Names, solved: Reaching, plane: int) -> tuple[Merged, ...]:
    mask = solved.plane(plane)
    return _merge(
        ((bits & mask, anchor) for bits, anchor in zip(solved.accesses, names.anchors, strict=True)),
        lambda bits: tuple(names.anchors[number] for number in occurrences(bits)),
    )


def _symbols(names: Names, solved: Reaching) -> tuple[SymbolFacts, ...]:
    occurring: list[list[Anchor]] = [[] for _ in names.symbols]
    for anchor, symbol in zip(names.anchors, names.symbol_of, strict=True):
        occurring[symbol].append(anchor)
    last: list[list[Anchor]] = [[] for _ in names.symbols]
    for number in occurrences(solved.last_accesses & solved.plane(LASTS)):
        last[names.symbol_of[number]].append(names.anchors[number])
    return tuple(
        SymbolFacts(symbol.name, tuple(places), tuple(uses), symbol.kind)
        for symbol, places, uses in zip(names.symbols, occurring, last, strict=True)
    )


def _in_source_order(anchors: Iterable[Anchor]) -> tuple[Anchor, ...]:
    return tuple(sorted(anchors, key=_position))


def _position(anchor: Anchor) -> tuple[int, int]:
    """Where an anchor of the control-flow graph stands in the source."""
    node: Any = anchor
    match anchor:
        case (ast.Compare(comparators=comparators), _, int(number)):
            node = comparators[number]
        case ast.comprehension(target=target):
            node = target
        case ast.withitem(context_expr=expression):
            node = expression
    return node.lineno, node.col_offset
