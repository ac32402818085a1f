"""Data flow: which accesses and which nodes may come right before each other.

A state is one int with three bits per name occurrence i, from the lowest of `7 << 3 * i`:

    READS     the last read of its symbol may have been here
    WRITES    the value of its symbol may have been written here
    LASTS     the last access to its symbol, read or write, may have been here

An access replaces the bits of its own symbol. A write also ends what is known about `x.y` when `x` is written. A second
int holds the nodes that may have run last. Both are solved forward over the blocks until nothing changes, and a final pass
notes what reaches each access and each node. Several blocks may hold copies of one access: what reaches them is united.

Nested functions. A body may run at any time after its definition, any number of times. So from the definition on, its
accesses to outer symbols may have come last, and no other function's accesses replace them; and its own entry state is what
reaches the definition, or may happen after it, in the functions around.
"""

from dataclasses import dataclass

from hyperheat.pycode.blocks import (
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
from hyperheat.pycode.scopes import Names

__all__ = ["LASTS", "READS", "WRITES", "Reaching", "occurrences", "ones", "reaching"]

READS, WRITES, LASTS = 1, 2, 4
_BITS = 3
_READ = READS | LASTS
_WRITE = WRITES | LASTS
_KNOWN = READS | WRITES
_ALL = READS | WRITES | LASTS


@dataclass(frozen=True, slots=True)
class Reaching:
    """Per occurrence the reads and writes that may precede it, per node its predecessors, per unit what ends it."""

    accesses: list[int]
    nodes: list[int]
    last_nodes: list[int]
    last_accesses: int

    def plane(self, bit: int) -> int:
        """The mask of one of READS, WRITES and LASTS for all occurrences."""
        return ((1 << _BITS * len(self.accesses)) - 1) // _ALL * bit


def ones(bits: int) -> list[int]:
    """The positions of the bits that are set."""
    positions = []
    while bits:
        lowest = bits & -bits
        positions.append(lowest.bit_length() - 1)
        bits ^= lowest
    return positions


def occurrences(bits: int) -> list[int]:
    """The occurrences of which a bit of one plane is set."""
    return [position // _BITS for position in ones(bits)]


def reaching(names: Names, units: list[Unit], node_count: int) -> Reaching:
    """Solve all units, outer functions before the ones nested in them."""
    solver = _Solver(names, units, node_count)
    for number in range(len(units)):
        solver.solve(number)
    return solver.result


class _Flow:
    """The reachable blocks of a unit in reverse postorder, with the states at their starts."""

    __slots__ = ("access", "blocks", "cyclic", "node", "number")

    def __init__(self, entry: Block):
        self.blocks = _reverse_postorder(entry)
        self.number = {block: number for number, block in enumerate(self.blocks)}
        self.access = [0] * len(self.blocks)
        self.node = [0] * len(self.blocks)
        self.cyclic = any(
            self.number[target] <= number
            for number, block in enumerate(self.blocks)
            for target in _targets(block)
        )


def _targets(block: Block) -> list[Block]:
    catch = block.catch
    if catch is None or not any(item & CODE == RAISES for item in block.items):
        return block.successors
    return [*block.successors, catch.entry]


def _reverse_postorder(entry: Block) -> list[Block]:
    order: list[Block] = []
    seen = {entry}
    pending = [(entry, iter(_targets(entry)))]
    while pending:
        block, targets = pending[-1]
        for target in targets:
            if target not in seen:
                seen.add(target)
                pending.append((target, iter(_targets(target))))
                break
        else:
            order.append(block)
            pending.pop()
    order.reverse()
    return order


class _Solver:
    def __init__(self, names: Names, units: list[Unit], node_count: int):
        self.symbol_of = names.symbol_of
        self.units = units
        self.flows = [_Flow(unit.entry) for unit in units]
        self.result_accesses = [0] * len(names.anchors)
        self.result_nodes = [0] * node_count
        self.last_nodes: list[int] = []
        self.last_accesses = 0
        self._make_masks(names)
        self._make_escapes()
        self.entry = list(self.escapes)
        self.after = [0] * len(units)

    @property
    def result(self) -> Reaching:
        return Reaching(self.result_accesses, self.result_nodes, self.last_nodes, self.last_accesses)

    def _make_masks(self, names: Names) -> None:
        """For each symbol: the bits to look at, and the bits that a read, a write and an unbinding leave."""
        every = [0] * len(names.symbols)
        for number, symbol in enumerate(names.symbol_of):
            every[symbol] |= 1 << _BITS * number
        attributes = [0] * len(every)
        for number in reversed(range(len(every))):
            base = names.symbols[number].base
            if base is not None:
                attributes[base] |= every[number] | attributes[number]
        self.every = every
        self.select = [bits * _KNOWN for bits in every]
        self.keep_read = [~(bits * _READ) for bits in every]
        self.keep_write = [
            ~(bits * _WRITE | inner * _KNOWN) for bits, inner in zip(every, attributes, strict=True)
        ]
        self.keep_unbound = [
            ~(bits * WRITES | inner * _KNOWN) for bits, inner in zip(every, attributes, strict=True)
        ]
        self.owned = {unit.function: 0 for unit in self.units}
        for symbol, bits in zip(names.symbols, every, strict=True):
            self.owned[symbol.owner or self.units[0].function] |= bits * _ALL

    def _make_escapes(self) -> None:
        """For each unit: its accesses to outer symbols, and the bits of the units that run on their own."""
        if len(self.units) == 1:
            self.escapes, self.foreign = [0], [0]
            return
        own = [0] * len(self.units)
        for number, flow in enumerate(self.flows):
            for block in flow.blocks:
                own[number] |= self._accesses(block.items)
        self.escapes = list(own)
        self.foreign = [~bits for bits in own]
        for number, unit in reversed(list(enumerate(self.units))):
            self.escapes[number] &= ~self.owned[unit.function]
            if unit.parent is not None:
                self.escapes[unit.parent] |= self.escapes[number]
        for number, unit in enumerate(self.units):
            if unit.parent is not None:
                self.foreign[number] &= self.foreign[unit.parent]

    def _accesses(self, items: list[int]) -> int:
        bits = 0
        for item in items:
            code = item & CODE
            if code == READ:
                bits |= _READ << _BITS * (item >> SHIFT)
            elif code == WRITE or code == REWRITE:
                bits |= _WRITE << _BITS * (item >> SHIFT)
        return bits

    def solve(self, number: int) -> None:
        """Find what reaches each access and node of one unit, and the entry states of the units made in it."""
        flow = self.flows[number]
        flow.access[0] = self.entry[number]
        if flow.cyclic:
            self._iterate(number, flow)
        for position in range(len(flow.blocks)):
            self._replay(number, flow, position)
        if len(self.units) > 1:
            self._enter_nested(number, flow)
        unit = self.units[number]
        end = flow.number.get(unit.end)
        self.last_nodes.append(0 if end is None else flow.node[end])
        leave = flow.number.get(unit.exit)
        if leave is not None:
            self.last_accesses |= flow.access[leave] & self.owned[unit.function]

    def _iterate(self, number: int, flow: _Flow) -> None:
        """Push states along the edges until they no longer grow."""
        access, node = flow.access, flow.node
        effects = [self._summarise(number, block) for block in flow.blocks]
        targets = [[flow.number[target] for target in block.successors] for block in flow.blocks]
        catches = [
            None if block.catch is None else flow.number.get(block.catch.entry) for block in flow.blocks
        ]
        growing = True
        while growing:
            growing = False
            for position, (keep, gain, last, risk_keep, risk_gain, risk_nodes) in enumerate(effects):
                out = access[position] & keep | gain
                out_node = node[position] if last is None else last
                for target in targets[position]:
                    if access[target] | out != access[target] or node[target] | out_node != node[target]:
                        access[target] |= out
                        node[target] |= out_node
                        growing |= target <= position
                catch = catches[position]
                if risk_nodes and catch is not None:
                    risk = access[position] & risk_keep | risk_gain
                    if access[catch] | risk != access[catch] or node[catch] | risk_nodes != node[catch]:
                        access[catch] |= risk
                        node[catch] |= risk_nodes
                        growing |= catch <= position

    def _summarise(self, number: int, block: Block) -> tuple[int, int, int | None, int, int, int]:
        """What a block keeps and adds: (keep, gain, last node) at its end, (keep, gain, nodes) where it may raise."""
        symbol_of, foreign = self.symbol_of, self.foreign[number]
        keep, gain = -1, 0
        last: int | None = None
        risk_keep, risk_gain, risk_nodes = 0, 0, 0
        for item in block.items:
            code, place = item & CODE, item >> SHIFT
            if code >= NODE:
                if code == NESTED:
                    gain |= self.escapes[place]
                else:
                    last = 0 if code == ENTER else 1 << place
                    if code == RAISES:
                        risk_keep |= keep
                        risk_gain |= gain
                        risk_nodes |= last
                continue
            if code == READ:
                kept, bits = self.keep_read[symbol_of[place]], _READ
            elif code == UNBIND:
                kept, bits = self.keep_unbound[symbol_of[place]], 0
            else:
                kept, bits = self.keep_write[symbol_of[place]], _WRITE
            kept |= foreign
            keep &= kept
            gain = gain & kept | bits << _BITS * place
        return keep, gain, last, risk_keep, risk_gain, risk_nodes

    def _replay(self, number: int, flow: _Flow, position: int) -> None:
        """Note what reaches each item of a block, and pass the state at its end on."""
        symbol_of, foreign = self.symbol_of, self.foreign[number]
        seen, before = self.result_accesses, self.result_nodes
        block = flow.blocks[position]
        state, node = flow.access[position], flow.node[position]
        risk, risk_nodes = 0, 0
        for item in block.items:
            code, place = item & CODE, item >> SHIFT
            if code == READ:
                symbol = symbol_of[place]
                seen[place] |= state & self.select[symbol]
                state = state & (self.keep_read[symbol] | foreign) | _READ << _BITS * place
            elif code == NODE or code == RAISES:
                before[place] |= node
                node = 1 << place
                if code == RAISES:
                    risk |= state
                    risk_nodes |= node
            elif code == WRITE or code == REWRITE:
                symbol = symbol_of[place]
                if code == WRITE:
                    seen[place] |= state & self.select[symbol]
                state = state & (self.keep_write[symbol] | foreign) | _WRITE << _BITS * place
            elif code == NESTED:
                self.entry[place] |= state
                state |= self.escapes[place]
            elif code == UNBIND:
                state &= self.keep_unbound[symbol_of[place]] | foreign
            else:
                node = 0
        for target in block.successors:
            flow.access[flow.number[target]] |= state
            flow.node[flow.number[target]] |= node
        if risk_nodes and block.catch is not None:
            catch = flow.number[block.catch.entry]
            flow.access[catch] |= risk
            flow.node[catch] |= risk_nodes

    def _enter_nested(self, number: int, flow: _Flow) -> None:
        """Add to the entry of each unit made here what may happen after it is made."""
        own = [self._accesses(block.items) for block in flow.blocks]
        after = [self.after[number]] * len(own)
        growing = True
        while growing:
            growing = False
            for position in reversed(range(len(own))):
                bits = after[position]
                for target in _targets(flow.blocks[position]):
                    bits |= own[flow.number[target]] | after[flow.number[target]]
                growing |= bits != after[position] and flow.cyclic
                after[position] = bits
        for position, block in enumerate(flow.blocks):
            for place, item in enumerate(block.items):
                if item & CODE == NESTED:
                    made = item >> SHIFT
                    self.after[made] |= after[position] | self._accesses(block.items[place:])
                    self.entry[made] |= self.after[made]
