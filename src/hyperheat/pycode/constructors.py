"""What calling a class means: its `__init__` or `__new__`, or the fields of a data class or named tuple."""

import ast

from hyperheat.pycode.calls import Callee
from hyperheat.pycode.definitions import Annotated, Class, Function, Signature
from hyperheat.pycode.lookup import Lookup

__all__ = ["constructor"]

_OPAQUE = frozenset({"Any", "ClassVar"})


def constructor(of: Class, lookup: Lookup, fuel: int) -> Callee | None:
    """The formal parameters of a call of a class; None if a base that may define them is unknown."""
    if of.fields is not None:
        return Callee(of.name, Signature(of.fields))
    order, complete = lookup.mro(of, fuel)
    for cls in order:
        for name in ("__init__", "__new__"):
            for binding in cls.members.get(name, ()):
                if type(binding) is Function:
                    overload = binding.kind == "overload"
                    return Callee(of.name, binding.signature.without_first(), None, overload)
        if cls.fields is not None:
            return Callee(of.name, Signature(cls.fields))
        if _is_dataclass(cls):
            return Callee(of.name, _dataclass_signature(order[order.index(cls) :]))
        if _is_named_tuple(cls):
            return Callee(of.name, Signature(tuple(_annotated_names(cls))))
    return Callee(of.name, Signature()) if complete else None


def _is_named_tuple(cls: Class) -> bool:
    bases = [] if cls.node is None else cls.node.bases
    return any(_name(base) in ("NamedTuple", "TypedDict") for base in bases)


def _is_dataclass(cls: Class) -> bool:
    for name, node in cls.decorators:
        if name == "dataclass":
            return not (isinstance(node, ast.Call) and _option(node, "init") is False)
    return False


def _dataclass_signature(order: tuple[Class, ...]) -> Signature:
    """The fields of the data classes among a class and its bases, bases first; a field keeps its first place."""
    fields: dict[str, bool] = {}
    for cls in reversed(order):
        decorators = [node for name, node in cls.decorators if name == "dataclass"]
        if not decorators:
            continue
        keyword_only = isinstance(decorators[0], ast.Call) and _option(decorators[0], "kw_only") is True
        for name in _annotated_names(cls):
            binding = cls.members[name][-1]
            if not isinstance(binding, Annotated) or _name(binding.annotation) == "ClassVar":
                continue
            if _name(binding.annotation) == "KW_ONLY":
                keyword_only = True
                continue
            value = binding.value
            made = value if isinstance(value, ast.Call) and _name(value.func) == "field" else None
            if made is not None and _option(made, "init") is False:
                continue
            own = None if made is None else _option(made, "kw_only")
            fields[name] = keyword_only if own is None else own is True
    positional = tuple(name for name, keyword_only in fields.items() if not keyword_only)
    return Signature(positional, keyword_only=tuple(name for name, only in fields.items() if only))


def _annotated_names(cls: Class) -> list[str]:
    return [name for name, bindings in cls.members.items() if isinstance(bindings[-1], Annotated)]


def _option(call: ast.Call, name: str) -> object:
    """The constant given for a keyword argument, or None."""
    for keyword in call.keywords:
        if keyword.arg == name and isinstance(keyword.value, ast.Constant):
            return keyword.value.value
    return None


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
