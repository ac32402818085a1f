"""What calling a class means: its `__init__` or `__new__`, or the fields of a data class or named tuple."""

import ast

from hyperheat.pycode.calls.definitions import Annotated, Class, Function
from hyperheat.pycode.calls.name_lookup import NameLookup
from hyperheat.pycode.calls.signatures import Callee, Signature

__all__ = ["constructors"]


def constructors(of: Class, lookup: NameLookup, fuel: int) -> list[Callee]:
    """The formal parameters of a call of a class, by overload; none if an unknown base may define them."""
    order, complete = lookup.mro(of, fuel)
    metaclass = lookup.metaclass(of, fuel)
    if metaclass is not None:
        called = lookup.member(metaclass, "__call__", fuel)
        if called is not None and called[1].name != "type" and type(called[0][0]) is Function:
            return [Callee(of.name, called[0][0].signature.without_first())]
    for cls in order:
        for name in ("__init__", "__new__"):
            found = [binding for binding in cls.members.get(name, ()) if type(binding) is Function]
            if found:
                return [
                    Callee(of.name, f.signature.without_first(), None, f.kind == "overload") for f in found
                ]
        signature = _field_signature(cls, order)
        if signature is not None:
            return [Callee(of.name, signature)]
    return [Callee(of.name, Signature())] if complete else []


def _field_signature(cls: Class, order: tuple[Class, ...]) -> Signature | None:
    """The parameters that a class has for its fields, if it is a data class or named tuple."""
    if cls.fields is not None:
        return Signature(cls.fields)
    if _is_dataclass(cls):
        return _dataclass_signature(order[order.index(cls) :])
    return Signature(tuple(_annotated_names(cls))) if _is_named_tuple(cls) else None


def _is_named_tuple(cls: Class) -> bool:
    bases = [] if cls.node is None else cls.node.bases
    return any(_name(base) in ("NamedTuple", "TypedDict") for base in bases)


def _is_dataclass(cls: Class) -> bool:
    for name, node in cls.decorators:
        if name == "dataclass":
            return not (isinstance(node, ast.Call) and _option(node, "init") is False)
    return False


def _dataclass_signature(order: tuple[Class, ...]) -> Signature:
    """The fields of the data classes among a class and its bases; a field keeps its first place."""
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
