"""An oracle for flow analysis: run the program itself and write down what happens.

A function is rewritten so that every name access and every node of the control-flow graph reports to a `Recorder`, and
is then executed by Python. What it would decide by its data (truth of a value, length of an iteration, whether an
operation raises, which clause catches) a `Choices` object decides, so that all paths can be taken in turn.
"""

import ast
import random
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from tests.pycode.flow.instrument import instrument

from hyperheat.pycode.anchors import Anchor
from hyperheat.pycode.flow.blocks import CODE, RAISES, SHIFT, BlockBuilder
from hyperheat.pycode.flow.control_flow import build_blocks
from hyperheat.pycode.flow.data_flow import Reaching, reaching
from hyperheat.pycode.names.function_names import FunctionNames, ModuleScope, resolve_names

__all__ = ["Choices", "Program", "Recorder", "TooLong"]

Relation = dict[int, set[int]]


class TooLong(BaseException):
    """A run that was cut off."""


class Failure(Exception):
    """What an operation of the program raises."""

    def __init__(self, *, thrown: bool = False):
        super().__init__()
        self.thrown = thrown


class Never(Exception):
    """The class of a clause that does not match."""


class Choices:
    """Decides; `next_path` moves on to the choices not taken yet, as an odometer does."""

    def __init__(self, seed: int | None = None):
        self.random = None if seed is None else random.Random(seed)
        self.taken: list[int] = []
        self.position = 0

    def flip(self) -> bool:
        self.position += 1
        if self.position > 400:
            raise TooLong
        if self.random is not None:
            return self.position < 120 and self.random.random() < 0.4
        if self.position > len(self.taken):
            self.taken.append(0)
        return bool(self.taken[self.position - 1])

    def next_path(self) -> bool:
        self.position = 0
        while self.taken and self.taken[-1]:
            self.taken.pop()
        if self.taken:
            self.taken[-1] = 1
        return bool(self.taken)


class Program:
    """A function with its analysis, ready to be run."""

    def __init__(self, source: str):
        module = ast.parse(source)
        function = module.body[0]
        assert isinstance(function, ast.FunctionDef)
        self.names: FunctionNames = resolve_names(function, ModuleScope.of(module))
        self.built: BlockBuilder = build_blocks(function, self.names, ModuleScope.of(module))
        self.solved: Reaching = reaching(self.names, self.built.units, len(self.built.nodes))
        caught = [block for block in self.built.blocks if block.catch is not None]
        entries = [block.catch.entry for block in caught if block.catch is not None]
        self.fragile = {
            item >> SHIFT
            for block in (*caught, *entries)
            if block.catch is not None
            for item in block.items
            if item & CODE == RAISES
        }
        bound: list[Anchor] = [(function, "name"), *function.args.args]
        self.bound_first = [self.names.index[anchor] for anchor in bound]
        self.code = compile(instrument(function, self.names.index, self.built), "<program>", "exec")

    def run(self, choices: Choices, recorder: "Recorder") -> None:
        """Run the program once."""
        recorder.begin(self, choices)
        scope: dict[str, Any] = {"_r": recorder}
        exec(self.code, scope)
        try:
            scope["main"]()
        except Failure as failure:
            recorder.end(implicit=not failure.thrown)
        except TooLong:
            return
        else:
            recorder.end(implicit=False)


class Value:
    """Any value of the program. Its truth is decided when it is asked for, and stays."""

    def __init__(self, recorder: "Recorder", node: int | None = None):
        self._recorder = recorder
        self._node = node
        self._truth: bool | None = None

    def __bool__(self) -> bool:
        if self._truth is None:
            self._truth = self._recorder.choices.flip()
        return self._truth

    def __call__(self, *args: object, **kwargs: object) -> "Value":
        return Value(self._recorder)

    def __getitem__(self, key: object) -> "Value":
        return Value(self._recorder)

    def __add__(self, other: object) -> "Value":
        return Value(self._recorder)

    def __iadd__(self, other: object) -> "Value":
        assert self._node is not None
        self._recorder.node(self._node)
        return Value(self._recorder)

    def __lt__(self, other: "Value") -> "Value":
        if other._node is not None:
            self._recorder.node(other._node)
        return Value(self._recorder)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Value) and other._node is not None:
            self._recorder.node(other._node)
        return self._recorder.choices.flip()

    __hash__ = None  # type: ignore[assignment]


class Recorder:
    """Collects, over all runs, what came right before each access and node. The program calls its methods."""

    def __init__(self) -> None:
        self.reads: Relation = defaultdict(set)
        self.writes: Relation = defaultdict(set)
        self.nodes: Relation = defaultdict(set)
        self.last_uses: set[int] = set()
        self.implicit_last_uses: set[int] = set()

    def begin(self, program: Program, choices: Choices) -> None:
        self.choices = choices
        self.fragile = program.fragile
        self.symbol_of = program.names.symbol_of
        self.attributes = defaultdict(list)
        for number, symbol in enumerate(program.names.symbols):
            while symbol.base is not None:
                self.attributes[symbol.base].append(number)
                symbol = program.names.symbols[symbol.base]
        self.owned = [
            {n for n, symbol in enumerate(program.names.symbols) if symbol.owner is unit.function}
            for unit in program.built.units
        ]
        self.nested_symbols = set().union(*self.owned[1:])
        self.values: dict[int, object] = {}
        self.last_read: dict[int, int] = {}
        self.last_write: dict[int, int] = {}
        self.last_access: dict[int, int] = {}
        self.last_node: list[int | None] = [None]
        for place in program.bound_first:
            self.write(place, Value(self))

    def end(self, *, implicit: bool) -> None:
        last = {place for symbol, place in self.last_access.items() if symbol not in self.nested_symbols}
        (self.implicit_last_uses if implicit else self.last_uses).update(last)

    # What the rewritten program reports

    def _note(self, place: int) -> int:
        symbol = self.symbol_of[place]
        if symbol in self.last_read:
            self.reads[place].add(self.last_read[symbol])
        if symbol in self.last_write:
            self.writes[place].add(self.last_write[symbol])
        self.last_access[symbol] = place
        return symbol

    def read(self, place: int, base: object = None) -> object:
        symbol = self._note(place)
        self.last_read[symbol] = place
        stored = self.values.get(symbol)
        return stored if callable(stored) and not isinstance(stored, Value) else Value(self)

    def write(self, place: int, value: object = None, *, again: bool = False) -> object:
        symbol = self.symbol_of[place] if again else self._note(place)
        self.last_access[symbol] = place
        self.last_write[symbol] = place
        self.values[symbol] = value
        self._forget_attributes(symbol)
        return value

    def unbind(self, place: int) -> None:
        self.last_write.pop(self.symbol_of[place], None)
        self._forget_attributes(self.symbol_of[place])

    def _forget_attributes(self, symbol: int) -> None:
        for attribute in self.attributes[symbol]:
            self.last_read.pop(attribute, None)
            self.last_write.pop(attribute, None)

    def node(self, number: int, value: object = None) -> object:
        self._step(number)
        if number in self.fragile and self.choices.flip():
            raise Failure
        return value

    def _step(self, number: int) -> None:
        before = self.last_node[-1]
        if before is not None:
            self.nodes[number].add(before)
        self.last_node[-1] = number

    def value(self, value: object) -> Value:
        return value if isinstance(value, Value) else Value(self)

    def after(self, done: object, value: object) -> object:
        return value

    def operand(self, number: int, value: object) -> Value:
        return Value(self, number)

    def thrown(self, number: int, value: object = None) -> Failure:
        self._step(number)
        return Failure(thrown=True)

    def items(self, number: int, value: object) -> Iterator[Value]:
        for _ in range(3):
            self.node(number)
            if not self.choices.flip():
                return
            yield Value(self)
        self.node(number)

    def clause(self, value: object) -> type[Exception]:
        return Failure if self.choices.flip() else Never

    def everything(self, value: object = None) -> type[Exception]:
        return Failure

    def enter(self, unit: int) -> None:
        self.last_node.append(None)
        for symbol in self.owned[unit]:
            self.last_read.pop(symbol, None)
            self.last_write.pop(symbol, None)

    def leave(self) -> None:
        self.last_node.pop()

    def scoped(self, unit: int, body: Any) -> object:
        self.enter(unit)
        try:
            return body()
        finally:
            self.leave()

    def manager(self, number: int, swallows: bool, value: object) -> "_Manager":
        return _Manager(self, number, swallows)

    @property
    def names(self) -> "_Targets":
        return _Targets(self)

    def target(self, base: object) -> "_Targets":
        return _Targets(self)

    @property
    def pattern(self) -> "_Patterns":
        return _Patterns(self)


class _Patterns:
    def __init__(self, recorder: Recorder):
        self.recorder = recorder

    def __getattr__(self, name: str) -> Value:
        return Value(self.recorder, int(name.removeprefix("n")))


class _Manager:
    def __init__(self, recorder: Recorder, number: int, swallows: bool):
        self.recorder, self.number, self.swallows = recorder, number, swallows

    def __enter__(self) -> Value:
        self.recorder.node(self.number)
        return Value(self.recorder)

    def __exit__(self, kind: type | None, *_: object) -> bool:
        return kind is Failure and self.swallows and self.recorder.choices.flip()


class _Targets:
    """Stands where a target was: `names[place, node] = value`, with None for what the target does not have."""

    def __init__(self, recorder: Recorder):
        self.recorder = recorder

    def __setitem__(self, key: tuple, value: object) -> None:
        place, node, *augmented = key
        if node is not None and not augmented:
            self.recorder.node(node)
        if place is not None:
            self.recorder.write(place, value, again=bool(augmented))

    def __getitem__(self, key: tuple) -> Value:
        place, node, *augmented = key
        if place is not None:
            self.recorder.read(place)
        if node is not None:
            self.recorder.node(node)
        return Value(self.recorder, *augmented)

    def __delitem__(self, key: tuple) -> None:
        self[key] = None
