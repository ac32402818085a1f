"""Basic blocks, the form in which control flow is built and solved, and the builder that fills them.

A block is a list of things that happen one after the other. Each is one int, `number << 3 | code`:

    READ, WRITE     the name occurrence `number` is read, written
    REWRITE         the occurrence just read is written too, as in `x += 1`
    UNBIND          the symbol of the occurrence loses its value, as the name of an exception after its clause
    NODE, RAISES    the node `number` of the control-flow graph runs; RAISES: it may go to the block's `catch`
    NESTED          the function `number` is made: its body may run from now on
    ENTER           the function's body begins: what was run before is not its control flow
"""

import ast
from collections.abc import Callable, Mapping

from hyperheat.pycode.anchors import Anchor, FunctionOrLambda
from hyperheat.pycode.names.scopes import function_parameters

__all__ = [
    "CODE",
    "ENTER",
    "NESTED",
    "NODE",
    "RAISES",
    "READ",
    "REWRITE",
    "SHIFT",
    "UNBIND",
    "WRITE",
    "Block",
    "BlockBuilder",
    "Catch",
    "Cleanup",
    "Loop",
    "Unit",
]

READ, WRITE, REWRITE, UNBIND, NODE, RAISES, NESTED, ENTER = range(8)
SHIFT = 3
CODE = (1 << SHIFT) - 1
# beyond this many `finally` inside one another's bodies, the ways through share one copy
_NESTED_COPIES = 3


class Block:
    """Things that happen in a row, then a jump to one of `successors`."""

    __slots__ = ("catch", "items", "successors")

    def __init__(self, catch: "Catch | None"):
        self.items: list[int] = []
        self.successors: list[Block] = []
        self.catch = catch


class Catch:
    """Where exceptions go: `raised` if a node may raise one, `thrown` if a `raise` or `assert` does."""

    __slots__ = ("entry", "raised", "thrown")

    def __init__(self, outer: "Catch | None"):
        self.entry = Block(outer)
        self.raised = False
        self.thrown = False


class Loop:
    """A loop that `break` and `continue` may leave."""

    __slots__ = ("after", "head")

    def __init__(self, head: Block, after: Block):
        self.head = head
        self.after = after


class Cleanup:
    """Something done on every way out, as `finally` is; each way that is taken gets a copy of it."""

    __slots__ = ("build", "catch", "copies", "level")

    def __init__(self, build: Callable[[], None], catch: Catch | None, level: int):
        self.build = build
        self.catch = catch
        self.level = level
        # by continuation: the first and the last block of the copy
        self.copies: dict[Block, tuple[Block, Block]] = {}


class Unit:
    """The body of a function or lambda, from `entry` to `exit`; it falls through to `end`."""

    __slots__ = ("end", "entry", "exit", "function", "parent", "returns", "yields")

    def __init__(self, function: FunctionOrLambda, parent: "int | None"):
        self.function = function
        self.parent = parent
        self.entry = Block(None)
        self.exit = Block(None)
        self.end = Block(None)
        self.end.successors.append(self.exit)
        self.returns: list[Anchor] = []
        self.yields: list[Anchor] = []


class BlockBuilder:
    """Writes what happens into the current block; `index` numbers the name occurrences."""

    def __init__(self, index: Mapping[Anchor, int], *, lazy_annotations: bool):
        self.index = index
        self.lazy_annotations = lazy_annotations
        self.in_class = False
        self.nodes: dict[Anchor, int] = {}
        self.emitted = 0
        self.units: list[Unit] = []
        self.unit_of: dict[FunctionOrLambda, int] = {}
        self.blocks: list[Block] = []
        self.catch: Catch | None = None
        self.frames: list[Loop | Cleanup] = []
        self.copying = 0

    # Blocks

    def new(self) -> Block:
        """A block in the current exception context, not yet connected."""
        block = Block(self.catch)
        self.blocks.append(block)
        return block

    def start(self, block: Block) -> None:
        self.block = block
        self.append = block.items.append

    def link(self, block: Block) -> None:
        """The current block may continue with `block`."""
        self.block.successors.append(block)

    def proceed(self) -> Block:
        """Continue in a new block and return it."""
        block = self.new()
        self.block.successors.append(block)
        self.start(block)
        return block

    def fork(self, other: Block) -> None:
        """Continue either at `other` or in a new block, which becomes the current one."""
        self.link(other)
        self.proceed()

    def leave(self, block: Block) -> None:
        """Jump; what follows in the source is not reached from here."""
        self.link(block)
        self.start(self.new())

    # Things that happen

    def run(self, anchor: Anchor) -> None:
        """Run a node that cannot raise."""
        self.emitted += 1
        self.append(self.nodes.setdefault(anchor, len(self.nodes)) << SHIFT | NODE)

    def run_risky(self, anchor: Anchor) -> None:
        """Run a node that may raise."""
        self.emitted += 1
        self.append(self.nodes.setdefault(anchor, len(self.nodes)) << SHIFT | RAISES)
        if self.catch is not None:
            self.catch.raised = True

    def write(self, anchor: Anchor) -> None:
        self.append(self.index[anchor] << SHIFT | WRITE)

    # Functions

    def open_unit(self, function: FunctionOrLambda) -> None:
        """Begin the body of a function inside the current one."""
        parent = self.unit_of[self.unit.function] if self.units else None
        self.unit_of[function] = len(self.units)
        self.unit = Unit(function, parent)
        self.units.append(self.unit)
        self.catch, self.frames, self.in_class = None, [], False
        self.start(self.unit.entry)

    def fill_unit(self, body: Callable[[], None]) -> None:
        """Bind the parameters of the current unit, run its body and let it fall through to its end."""
        for parameter in function_parameters(self.unit.function.args):
            self.write(parameter)
        body()
        self.link(self.unit.end)

    def make_function(self, function: FunctionOrLambda, body: Callable[[], None]) -> None:
        """Make a nested function or lambda; its body is built once, however often it is made."""
        if function not in self.unit_of:
            outside = (self.unit, self.block, self.catch, self.frames, self.in_class)
            self.open_unit(function)
            self.fill_unit(body)
            self.unit, block, self.catch, self.frames, self.in_class = outside
            self.start(block)
        self.append(self.unit_of[function] << SHIFT | NESTED)

    # Ways out

    def innermost_loop(self) -> tuple[Loop, int]:
        """The loop that a `break` leaves, and its place in `frames`."""
        level, loop = next(
            (level, frame)
            for level, frame in reversed(list(enumerate(self.frames)))
            if isinstance(frame, Loop)
        )
        return loop, level

    def through_cleanups(self, target: Block, level: int) -> Block:
        """The block to jump to in order to reach `target` outside of all cleanups from `level` on."""
        for frame in self.frames[level:]:
            if type(frame) is Cleanup:
                target = self.copy(frame, target)
        return target

    def copy(self, frame: Cleanup, target: Block) -> Block:
        """The first block of a cleanup that continues at `target`."""
        if target in frame.copies:
            return frame.copies[target][0]
        if self.copying >= _NESTED_COPIES and frame.copies:
            first, last = next(iter(frame.copies.values()))
            last.successors.append(target)
        else:
            outside = (self.block, self.catch, self.frames)
            self.catch, self.frames = frame.catch, self.frames[: frame.level]
            first = self.new()
            self.start(first)
            self.copying += 1
            frame.build()
            self.copying -= 1
            self.link(target)
            last = self.block
            block, self.catch, self.frames = outside
            self.start(block)
        frame.copies[target] = (first, last)
        return first

    def protect(self, body: Callable[[], None], cleanup: Callable[[], None]) -> None:
        """Run `body`, then `cleanup` however it ends."""
        outer = self.catch
        frame = Cleanup(cleanup, outer, len(self.frames))
        catch = self.guard(lambda: self.framed(frame, body))
        after = self.new()
        self.link(self.copy(frame, after))
        if catch.raised:
            catch.entry.successors.append(self.copy(frame, self.uncaught(catch)))
        self.start(after)

    def framed(self, frame: Loop | Cleanup, body: Callable[[], None]) -> None:
        self.frames.append(frame)
        body()
        self.frames.pop()

    def guard(self, body: Callable[[], None]) -> Catch:
        """Run `body` with its exceptions going to a new catch, and return that."""
        outer = self.catch
        catch = self.catch = Catch(outer)
        self.proceed()
        body()
        self.catch = outer
        self.proceed()
        return catch

    def uncaught(self, catch: Catch) -> Block:
        """Where exceptions go on that a catch of the current context does not stop."""
        outer = self.catch
        if outer is not None:
            outer.raised = True
            outer.thrown |= catch.thrown
            return outer.entry
        return self.unit.exit if catch.thrown else self.new()

    def throw(self, node: ast.stmt) -> None:
        """Raise an exception for certain."""
        self.run_risky(node)
        if self.catch is None:
            self.link(self.unit.exit)
        else:
            self.catch.thrown = True
        self.start(self.new())
