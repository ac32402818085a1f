"""What an expression may stand for, as far as it can be known without running anything.

An expression has a tuple of possible values: none when nothing is known, several when branches differ.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from hyperheat.pycode.calls.definitions import Class, Function, ModuleDefinitions

__all__ = ["Bound", "Instance", "ModuleValue", "Super", "Value", "Values", "union"]

_MOST = 8  # alternatives worth keeping
_DEEPEST = 4  # nesting of type parameters worth keeping


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a class; `args` are the values of its type parameters (the items of a list, ...)."""

    of: Class
    args: "tuple[Values, ...]" = ()
    depth: int = 0  # of the nesting of args

    @classmethod
    def having(cls, of: Class, args: "tuple[Values, ...]") -> "Instance":
        """An object with type parameters; deeply nested ones are forgotten, or they might double at every step."""
        depth = 1 + max((v.depth for values in args for v in values if type(v) is Instance), default=0)
        return cls(of, args, depth) if depth <= _DEEPEST else cls(of)


@dataclass(frozen=True, slots=True)
class Bound:
    """A method together with the object or class it was taken from."""

    function: Function
    receiver: "Instance | Class"


@dataclass(frozen=True, slots=True)
class Super:
    """What `super()` gives inside a method of a class."""

    of: Class
    receiver: "Instance | Class"


@dataclass(frozen=True, slots=True)
class ModuleValue:
    """A module as a value."""

    module: ModuleDefinitions


Value = Function | Class | Instance | Bound | Super | ModuleValue
Values = tuple[Value, ...]


def union(alternatives: Iterable[Values]) -> Values:
    """All values of several expressions, each once, in order."""
    found: Values = ()
    for values in alternatives:
        if not found:
            found = values
        elif values is not found:
            found = (*found, *(value for value in values if value not in found))
    return found[:_MOST]
