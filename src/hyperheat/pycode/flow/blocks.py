"""Basic blocks: the form in which control flow is built and solved.

A block is a list of things that happen one after the other. Each is one int, `number << 3 | code`:

    READ, WRITE     the name occurrence `number` is read, written
    REWRITE         the occurrence just read is written too, as in `x += 1`
    UNBIND          the symbol of the occurrence loses its value, as the name of an exception after its clause
    NODE, RAISES    the node `number` of the control-flow graph runs; RAISES: it may go to the block's `catch`
    NESTED          the function `number` is made: its body may run from now on
    ENTER           the function's body begins: what was run before is not its control flow
"""

from collections.abc import Callable

from hyperheat.pycode.anchor import Anchor
from hyperheat.pycode.names.namespaces import Function

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
    "Catch",
    "Cleanup",
    "Loop",
    "Unit",
]

READ, WRITE, REWRITE, UNBIND, NODE, RAISES, NESTED, ENTER = range(8)
SHIFT = 3
CODE = (1 << SHIFT) - 1


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

    def __init__(self, function: Function, parent: "int | None"):
        self.function = function
        self.parent = parent
        self.entry = Block(None)
        self.exit = Block(None)
        self.end = Block(None)
        self.end.successors.append(self.exit)
        self.returns: list[Anchor] = []
        self.yields: list[Anchor] = []
