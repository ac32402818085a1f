"""Which variables of a function may hold a value at a place.

A variable is a parameter, a local name or a local import of the function, of the functions and lambdas nested in
it, or the variable of a comprehension; never `self` or `cls`, and no name from outside the function. A place
may use those that are *visible* from its scope, as Python looks names up, and *bound*: on some path from the
start of the function to the place the variable gets a value and does not lose it (by `del`, or as the name of an
exception does after its clause). The body of a nested function may run at any time, so there every variable of
the functions around it counts as bound.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping

from hyperheat.pycode import FunctionGraph
from hyperheat.pycode.anchors import Anchor
from hyperheat.pycode.flow.blocks import CODE, NODE, RAISES, READ, SHIFT, UNBIND, WRITE, Block, Unit
from hyperheat.pycode.names.function_names import FunctionNames
from hyperheat.pycode.names.scopes import Scope
from hyperheat.rewrites.edit import Span

__all__ = ["Bindings"]

_NEVER = frozenset({"self", "cls"})


class Bindings:
    """The variables of a function by number.

    `binders` holds the occurrences that bind each; `declared` are the names with a `global` or `nonlocal`.
    """

    def __init__(self, function: FunctionGraph) -> None:
        names = self.names = function.names
        self._syntax = function.syntax
        self.binders: dict[int, list[Anchor]] = {}
        self._declarations: dict[int, int] = {}
        for number, (anchor, symbol) in enumerate(zip(names.anchors, names.symbol_of, strict=True)):
            if _declares(anchor):
                self._declarations[symbol] = number  # the last one stays
            elif _binds(anchor):
                self.binders.setdefault(symbol, []).append(anchor)  # in source order
        self.declared = frozenset(name for scope in names.scopes for name in scope.declared)
        self._bound = _bound_at(names, function.units, self.binders)
        self._visible: dict[Scope, dict[int, str]] = {}
        self._readable: dict[tuple[Scope, int], dict[int, str]] = {}
        self._first: dict[int, Span] = {}

    def symbol(self, name: ast.Name) -> int:
        return self.names.symbol_of[self.names.index[name]]

    def is_bound_earlier(self, name: ast.Name) -> bool:
        """Whether something further up in the source, or outside the function, binds the variable of a name."""
        symbol, index = self.symbol(name), self.names.index
        if self.names.symbols[symbol].owner is None:
            return True
        return any(index[binder] < index[name] for binder in self.binders[symbol])

    def visible(self, scope: Scope) -> Mapping[int, str]:
        """The variables that can be named in a scope."""
        found = self._visible.get(scope)
        if found is None:
            found = self._visible[scope] = {
                symbol: name
                for name in _names_around(scope)
                if name not in _NEVER
                and (symbol := _variable(scope.home(name), name)) is not None
                and symbol in self.binders
            }
        return found

    def readable(self, name: ast.Name, scope: Scope) -> Mapping[int, str]:
        """The variables that can be named in a scope and may hold a value right before a name of it."""
        at = self.names.index[name]
        bound = self._bound[at]
        found = self._readable.get((scope, bound))
        if found is None:
            visible = self.visible(scope).items()
            found = {symbol: other for symbol, other in visible if bound >> symbol & 1}
            self._readable[scope, bound] = found
        if not scope.declared:
            return found
        return {  # without those that a `nonlocal` declares only afterwards
            symbol: other
            for symbol, other in found.items()
            if other not in scope.declared or at >= self._declarations[symbol]
        }

    def first(self, symbol: int) -> Span:
        """The place of the first occurrence that binds a variable."""
        found = self._first.get(symbol)
        if found is None:
            node = self._syntax.node(self.binders[symbol][0])
            columns, start = self._syntax.columns, self._syntax.start_of_lines
            found = self._first[symbol] = Span(columns.starts[node] - start, columns.ends[node] - start)
        return found


def _binds(anchor: Anchor) -> bool:
    """Whether an occurrence makes the name a variable of its scope."""
    if isinstance(anchor, ast.Name):
        return not isinstance(anchor.ctx, ast.Load)
    return isinstance(anchor, ast.arg | tuple) and not _declares(anchor)


def _declares(anchor: Anchor) -> bool:
    return isinstance(anchor, tuple) and isinstance(anchor[0], ast.Global | ast.Nonlocal)


def _names_around(scope: Scope) -> Iterator[str]:
    """The names bound in a scope and in those around it."""
    around: Scope | None = scope
    while around is not None and around.owner is not None:
        yield from around.bound
        around = around.parent


def _variable(home: Scope, name: str) -> int | None:
    """The number of a variable, if it belongs to the function and is not a type parameter."""
    if home.owner is None or home.role == "type parameters":
        return None
    return home.symbols.get(name)


def _bound_at(names: FunctionNames, units: list[Unit], variables: Iterable[int]) -> list[int]:
    """For each occurrence, the bits of the symbols that may hold a value before it."""
    found = [0] * len(names.anchors)
    for number, unit in enumerate(units):
        others = (v for v in variables if names.symbols[v].owner is not unit.function)
        _solve(names, unit.entry, sum(1 << variable for variable in others) if number else 0, found)
    return found


def _solve(names: FunctionNames, entry: Block, state: int, found: list[int]) -> None:
    """Push what is bound along the blocks of one function until nothing more comes."""
    states = {entry: state}
    pending = [entry]
    while pending:
        block = pending.pop()
        for target, more in _leaving(names, block, states[block], found):
            known = states.get(target)
            if known is None or more & ~known:
                states[target] = more | (known or 0)
                pending.append(target)


def _leaving(names: FunctionNames, block: Block, state: int, found: list[int]) -> list[tuple[Block, int]]:
    """Note what is bound at the accesses of a block; return the blocks that follow with what is bound there."""
    caught, raises = 0, False
    for item in block.items:
        code, place = item & CODE, item >> SHIFT
        if code == RAISES:
            caught, raises = caught | state, True
        elif code < NODE:
            found[place] |= state if code in (READ, WRITE) else 0
            bit = 1 << names.symbol_of[place]
            if code == UNBIND or (code == WRITE and _deletes(names.anchors[place])):
                state &= ~bit
            elif code == WRITE:
                state |= bit
    leaving = [(target, state) for target in block.successors]
    if raises and block.catch is not None:
        leaving.append((block.catch.entry, caught))
    return leaving


def _deletes(anchor: Anchor) -> bool:
    return isinstance(anchor, ast.Name) and isinstance(anchor.ctx, ast.Del)
