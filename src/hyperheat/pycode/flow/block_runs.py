"""Runs: the flow inside a block, found without solving anything.

A run is the row of accesses to one symbol in one block with nothing in between that ends or shows its
state. Inside it, what comes before an access is plain: the read and the write before it in the run or, when
the run has none yet, what comes before the first access of the run. Only that first access depends on other
blocks, and only the last read and the last write can be seen from them, so all others are left out of what
is solved. The same holds for nodes.

    previous_read[i], previous_write[i]    the access right before the occurrence i, in its run
    first[i]                               the first access of the run of i, unless that is i itself
    previous_node[n]                       the node right before the node n, in its block
"""

from hyperheat.pycode.flow.blocks import CODE, ENTER, NODE, RAISES, READ, REWRITE, SHIFT, UNBIND, Block
from hyperheat.pycode.names.function_names import FunctionNames

__all__ = ["BlockRuns"]


class _Run:
    __slots__ = ("first", "read", "read_at", "write", "write_at")

    def __init__(self, first: int):
        self.first = first
        self.read: int | None = None
        self.write: int | None = None
        # where they stand in the items that are kept; the first access always stays
        self.read_at = self.write_at = -1


class BlockRuns:
    """Collects the runs of blocks; symbols in `shared` are used by several functions and have no runs."""

    def __init__(self, names: FunctionNames, shared: frozenset[int]):
        self.symbol_of = names.symbol_of
        self.shared = shared
        self.first: dict[int, int] = {}
        self.previous_read: dict[int, int] = {}
        self.previous_write: dict[int, int] = {}
        self.previous_node: dict[int, int] = {}
        self.attributes: dict[int, list[int]] = {}
        for number, symbol in enumerate(names.symbols):
            base = symbol.base
            while base is not None:
                self.attributes.setdefault(base, []).append(number)
                base = names.symbols[base].base

    def thin(self, block: Block) -> list[int]:
        """Note the runs of a block, and return those of its items that other blocks depend on."""
        kept: list[int] = []
        dropped: set[int] = set()
        runs: dict[int, _Run] = {}
        caught = block.catch is not None
        node: int | None = None
        node_at = -1
        for item in block.items:
            code, place = item & CODE, item >> SHIFT
            if code in (NODE, RAISES):
                if node is not None:
                    self.previous_node[place] = node
                    if node_at >= 0:
                        dropped.add(node_at)
                node_at = -1 if node is None or (caught and code == RAISES) else len(kept)
                node = place
                if caught and code == RAISES:
                    runs.clear()
            elif code == ENTER:
                node, node_at = None, -1
            elif code < NODE:
                self._access(code, place, runs, len(kept), dropped)
            kept.append(item)
        return [item for at, item in enumerate(kept) if at not in dropped] if dropped else kept

    def _access(self, code: int, place: int, runs: dict[int, _Run], at: int, dropped: set[int]) -> None:
        """Continue the run of an access that stands at `at`; what it hides from outside is dropped."""
        symbol = self.symbol_of[place]
        if code != READ:
            for attribute in self.attributes.get(symbol, ()):
                runs.pop(attribute, None)
        if code == UNBIND:
            runs.pop(symbol, None)
            return
        if symbol in self.shared:
            return
        run = runs.get(symbol)
        if run is None:
            if code == REWRITE:
                return
            run = runs[symbol] = _Run(place)
            at = -1
        elif code != REWRITE:
            self.first[place] = run.first
            if run.read is not None:
                self.previous_read[place] = run.read
            if run.write is not None:
                self.previous_write[place] = run.write
        if code == READ:
            if run.read_at >= 0:
                dropped.add(run.read_at)
            run.read, run.read_at = place, at
        else:
            if run.write_at >= 0:
                dropped.add(run.write_at)
            # a write that ends what is known about attributes stays
            run.write, run.write_at = place, -1 if symbol in self.attributes else at
