"""Data flow: which accesses and which nodes may come right before each other.

A state is one int with three bits per name occurrence:

    READS     the last read of its symbol may have been here
    WRITES    the value of its symbol may have been written here
    LASTS     the last access to its symbol, read or write, may have been here

An access replaces the bits of its own symbol; a write of `x` also ends what is known about `x.y`. A second
int holds the nodes that may have run last. Both are pushed forward over the blocks until nothing changes,
and a final pass notes what reaches each access and each node. Several blocks may hold copies of one access:
what reaches them is united.

Nested functions. A body may run at any time after its definition, any number of times. So from the
definition on, its accesses to outer symbols may have come last, and accesses of other functions do not
replace them; and its own entry state is what reaches the definition, or may happen after it, in the
functions around.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from hyperheat.pycode.anchors import FunctionOrLambda
from hyperheat.pycode.flow.block_runs import BlockRuns
from hyperheat.pycode.flow.blocks import (
    CODE,
    ENTER,
    NESTED,
    NODE,
    RAISES,
    READ,
    REWRITE,
    SHIFT,
    UNBIND,
    WRITE,
    Block,
    Unit,
)
from hyperheat.pycode.names.function_names import FunctionNames

__all__ = ["Reaching", "reaching"]

_READS, _WRITES, _LASTS = 1, 2, 4
_KNOWN = _READS | _WRITES
_BITS = 3
_ALL = (1 << _BITS) - 1
# the bits that an access of each kind sets for its occurrence
_GAIN = {READ: _READS | _LASTS, WRITE: _WRITES | _LASTS, REWRITE: _WRITES | _LASTS, UNBIND: 0}

Numbers = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaching:
    """What may come right before: occurrences and nodes by number.

    `reads` and `writes` are by occurrence, `nodes` by node, `last_nodes` by unit (the nodes before its end);
    `last_uses` are the occurrences that may be the last of their symbol.
    """

    reads: list[Numbers]
    writes: list[Numbers]
    nodes: list[Numbers]
    last_nodes: list[Numbers]
    last_uses: Numbers


def reaching(names: FunctionNames, units: list[Unit], node_count: int) -> Reaching:
    """Solve all units, outer functions before the ones nested in them."""
    solver = _Solver(names, units, node_count)
    for number in range(len(units)):
        solver.solve(number)
    runs = solver.runs
    return Reaching(
        reads=_in_runs(solver.found(_READS), runs.first, runs.previous_read),
        writes=_in_runs(solver.found(_WRITES), runs.first, runs.previous_write),
        nodes=[
            (runs.previous_node[node],) if node in runs.previous_node else tuple(_ones(bits))
            for node, bits in enumerate(solver.nodes)
        ],
        last_nodes=[tuple(_ones(bits)) for bits in solver.last_nodes],
        last_uses=tuple(sorted(solver.last_uses)),
    )


def _in_runs(found: list[Numbers], first: dict[int, int], previous: dict[int, int]) -> list[Numbers]:
    """Complete one plane of the solution for the occurrences that their runs decide."""
    for number, start in first.items():
        before = previous.get(number)
        found[number] = found[start] if before is None else (before,)
    return found


def _ones(bits: int) -> Iterable[int]:
    """The positions of the bits that are set, upward."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


class _Layout:
    """Where the bits of each symbol are: together, and those of `x.y` right after those of `x`."""

    __slots__ = ("kill", "low", "members", "own", "select", "slot", "width")

    def __init__(self, names: FunctionNames, accessed: set[int]):
        self.members: list[list[int]] = [[] for _ in names.symbols]
        for place in sorted(accessed):
            self.members[names.symbol_of[place]].append(place)
        attributes: list[list[int]] = [[] for _ in names.symbols]
        for number, symbol in enumerate(names.symbols):
            if symbol.base is not None:
                attributes[symbol.base].append(number)
        self.low = [0] * len(names.symbols)
        self.slot: dict[int, int] = {}
        self.own: list[int] = [0] * len(names.symbols)
        self.select: list[int] = [0] * len(names.symbols)
        self.kill: dict[int, list[int]] = {code: [0] * len(names.symbols) for code in _GAIN}
        self.width = 0
        for number, symbol in enumerate(names.symbols):
            if symbol.base is None:
                self._place(number, attributes)

    def _place(self, symbol: int, attributes: list[list[int]]) -> None:
        """Give bits to a symbol and its attributes, and say which of them an access replaces."""
        low = self.low[symbol] = self.width
        for member in self.members[symbol]:
            self.slot[member] = self.width
            self.width += _BITS
        own = _repeat(1, self.width - low)
        end = self.width
        for attribute in attributes[symbol]:
            self._place(attribute, attributes)
        inner = _repeat(_KNOWN, self.width - end) << end - low
        self.own[symbol] = own
        self.select[symbol] = own * _KNOWN
        self.kill[READ][symbol] = own * _GAIN[READ]
        self.kill[WRITE][symbol] = self.kill[REWRITE][symbol] = own * _GAIN[WRITE] | inner
        self.kill[UNBIND][symbol] = own * _WRITES | inner


def _repeat(bits: int, width: int) -> int:
    """The three bits over and over, `width` bits in all."""
    return ((1 << width) - 1) // _ALL * bits


class _Flow:
    """The reachable blocks of a unit in reverse postorder, with the states at their starts."""

    __slots__ = ("access", "blocks", "catch", "cyclic", "items", "node", "number", "successors")

    def __init__(self, entry: Block):
        self.blocks = _reverse_postorder(entry)
        self.number = {block: number for number, block in enumerate(self.blocks)}
        self.successors = [[self.number[target] for target in block.successors] for block in self.blocks]
        self.catch = [
            self.number[block.catch.entry] if block.catch is not None and _raises(block) else None
            for block in self.blocks
        ]
        self.items = [block.items for block in self.blocks]
        self.access = [0] * len(self.blocks)
        self.node = [0] * len(self.blocks)
        self.cyclic = any(
            target <= number for number in range(len(self.blocks)) for target in self.targets(number)
        )

    def targets(self, number: int) -> list[int]:
        catch = self.catch[number]
        return self.successors[number] if catch is None else [*self.successors[number], catch]


def _raises(block: Block) -> bool:
    return any(item & CODE == RAISES for item in block.items)


def _reverse_postorder(entry: Block) -> list[Block]:
    def targets(block: Block) -> Iterable[Block]:
        yield from block.successors
        if block.catch is not None and _raises(block):
            yield block.catch.entry

    order: list[Block] = []
    seen = {entry}
    pending = [(entry, iter(targets(entry)))]
    while pending:
        block, following = pending[-1]
        for target in following:
            if target not in seen:
                seen.add(target)
                pending.append((target, iter(targets(target))))
                break
        else:
            order.append(block)
            pending.pop()
    order.reverse()
    return order


class _Solver:
    """Holds the masks of the symbols and the solution as far as it is known."""

    def __init__(self, names: FunctionNames, units: list[Unit], node_count: int):
        self.symbol_of = names.symbol_of
        self.units = units
        self.flows = [_Flow(unit.entry) for unit in units]
        self.runs = BlockRuns(names, self._shared_symbols(names))
        for flow in self.flows:
            flow.items = [self.runs.thin(block) for block in flow.blocks]
        self.layout = _Layout(
            names,
            {
                item >> SHIFT
                for flow in self.flows
                for items in flow.items
                for item in items
                if item & CODE < NODE
            },
        )
        self.accesses = [0] * len(names.anchors)
        self.nodes = [0] * node_count
        self.last_nodes: list[int] = []
        self.last_uses: list[int] = []
        self.owned: dict[FunctionOrLambda, list[int]] = {unit.function: [] for unit in units}
        for number, symbol in enumerate(names.symbols):
            # a lambda in the annotation of a local is named in, but never run: it is no unit
            owner = symbol.owner if symbol.owner in self.owned else units[0].function
            self.owned[owner].append(number)
        self._make_escapes()
        self.entry = list(self.escapes)
        self.after = [0] * len(units)

    def _shared_symbols(self, names: FunctionNames) -> frozenset[int]:
        """The symbols that a nested function takes from outside."""
        return frozenset(
            symbol
            for unit, flow in zip(self.units[1:], self.flows[1:], strict=True)
            for items in flow.items
            for item in items
            if item & CODE < NODE
            and names.symbols[symbol := names.symbol_of[item >> SHIFT]].owner is not unit.function
        )

    def _make_escapes(self) -> None:
        """For each unit: its accesses to outer symbols, and the bits that its own accesses may replace."""
        if len(self.units) == 1:
            self.escapes, self.replaceable = [0], [-1]
            return
        own = [self._accesses(item for items in flow.items for item in items) for flow in self.flows]
        self.escapes = list(own)
        self.replaceable = list(own)
        for number, unit in enumerate(self.units):
            if unit.parent is not None:
                self.replaceable[number] |= self.replaceable[unit.parent]
        for number, unit in reversed(list(enumerate(self.units))):
            for symbol in self.owned[unit.function]:
                width = _BITS * len(self.layout.members[symbol])
                self.escapes[number] &= ~((1 << width) - 1 << self.layout.low[symbol])
            if unit.parent is not None:
                self.escapes[unit.parent] |= self.escapes[number]

    def found(self, plane: int) -> list[Numbers]:
        """The solution for one plane, as occurrences."""
        return [
            self._members(self.symbol_of[place], bits, plane) if bits else ()
            for place, bits in enumerate(self.accesses)
        ]

    def _members(self, symbol: int, bits: int, plane: int) -> Numbers:
        """The occurrences of a symbol whose bits of one plane are set."""
        members = self.layout.members[symbol]
        bits &= self.layout.own[symbol] * plane
        if bits & (bits - 1):
            return tuple([members[position // _BITS] for position in _ones(bits)])
        return (members[(bits.bit_length() - 1) // _BITS],) if bits else ()

    def solve(self, number: int) -> None:
        """Find what reaches the accesses and nodes of one unit, and the entries of the units made in it."""
        flow = self.flows[number]
        flow.access[0] = self.entry[number]
        if flow.cyclic:
            self._iterate(flow, self.replaceable[number])
        for position in range(len(flow.items)):
            self._replay(flow, position, self.replaceable[number])
        if len(self.units) > 1:
            self._enter_nested(number, flow)
        unit = self.units[number]
        end = flow.number.get(unit.end)
        self.last_nodes.append(0 if end is None else flow.node[end])
        leave = flow.number.get(unit.exit)
        if leave is not None:
            for symbol in self.owned[unit.function]:
                self.last_uses += self._members(symbol, flow.access[leave] >> self.layout.low[symbol], _LASTS)

    def _iterate(self, flow: _Flow, replaceable: int) -> None:
        """Push states along the edges until they no longer grow."""
        access, node = flow.access, flow.node
        effects = [self._summarise(items, replaceable) for items in flow.items]
        growing = True
        while growing:
            growing = False
            for position, (keep, gain, last, risk_keep, risk_gain, risk_nodes) in enumerate(effects):
                state = access[position]
                out = (state & keep | gain, node[position] if last is None else last)
                pushes = [(target, *out) for target in flow.successors[position]]
                catch = flow.catch[position]
                if catch is not None:
                    pushes.append((catch, state & risk_keep | risk_gain, risk_nodes))
                for target, more_access, more_nodes in pushes:
                    if more_access & ~access[target] or more_nodes & ~node[target]:
                        access[target] |= more_access
                        node[target] |= more_nodes
                        growing |= target <= position

    def _summarise(self, items: list[int], replaceable: int) -> tuple[int, int, int | None, int, int, int]:
        """What items keep and add: (keep, gain, last node) at the end, the same where they may raise."""
        layout = self.layout
        keep, gain = -1, 0
        last: int | None = None
        risk_keep, risk_gain, risk_nodes = 0, 0, 0
        for item in items:
            code, place = item & CODE, item >> SHIFT
            if code < NODE:
                symbol = self.symbol_of[place]
                kept = ~(layout.kill[code][symbol] << layout.low[symbol] & replaceable)
                keep &= kept
                gain = gain & kept | _GAIN[code] << layout.slot[place]
            elif code == NESTED:
                gain |= self.escapes[place]
            else:
                last = 0 if code == ENTER else 1 << place
                if code == RAISES:
                    risk_keep |= keep
                    risk_gain |= gain
                    risk_nodes |= last
        return keep, gain, last, risk_keep, risk_gain, risk_nodes

    def _replay(self, flow: _Flow, position: int, replaceable: int) -> None:
        """Note what reaches each item of a block, and pass the state at its end on."""
        layout = self.layout
        state, node = flow.access[position], flow.node[position]
        risk, risk_nodes = 0, 0
        for item in flow.items[position]:
            code, place = item & CODE, item >> SHIFT
            if code < NODE:
                symbol = self.symbol_of[place]
                low = layout.low[symbol]
                if code <= WRITE:
                    self.accesses[place] |= state >> low & layout.select[symbol]
                killed = layout.kill[code][symbol] << low & replaceable
                state = state & ~killed | _GAIN[code] << layout.slot[place]
            elif code == NESTED:
                self.entry[place] |= state
                state |= self.escapes[place]
            elif code == ENTER:
                node = 0
            else:
                self.nodes[place] |= node
                node = 1 << place
                if code == RAISES:
                    risk |= state
                    risk_nodes |= node
        for target in flow.successors[position]:
            flow.access[target] |= state
            flow.node[target] |= node
        catch = flow.catch[position]
        if catch is not None:
            flow.access[catch] |= risk
            flow.node[catch] |= risk_nodes

    def _enter_nested(self, number: int, flow: _Flow) -> None:
        """Add to the entry of each unit made here what may happen after it is made."""
        own = [self._accesses(items) for items in flow.items]
        after = [self.after[number]] * len(own)
        growing = True
        while growing:
            growing = False
            for position in reversed(range(len(own))):
                bits = after[position]
                for target in flow.targets(position):
                    bits |= own[target] | after[target]
                growing |= bits != after[position] and flow.cyclic
                after[position] = bits
        for position, items in enumerate(flow.items):
            for place, item in enumerate(items):
                if item & CODE == NESTED:
                    made = item >> SHIFT
                    self.after[made] |= after[position] | self._accesses(items[place:])
                    self.entry[made] |= self.after[made]

    def _accesses(self, items: Iterable[int]) -> int:
        """The bits of all accesses among some items."""
        bits = 0
        for item in items:
            code = item & CODE
            if code < NODE:
                bits |= _GAIN[code] << self.layout.slot[item >> SHIFT]
        return bits
