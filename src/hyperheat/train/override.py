"""Settings as text and as JSON: `lr=1e-3` on a command line, nested frozen dataclasses to plain values and back.

A field whose type is a choice between dataclasses is written by the name of the class: `message=DeepSetMessage`
on the command line; in JSON `"DeepSetMessage"`, or `{"GnnConfig": {...}}` where the class has fields of its own.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from types import NoneType, UnionType
from typing import Any, Literal, TypeGuard, TypeVar, Union, cast, get_args, get_origin, get_type_hints

__all__ = ["cook", "differences", "from_dict", "override", "to_dict"]

C = TypeVar("C")
_SCALARS = {
    bool: ("true or false", lambda text: {"true": True, "false": False}[text.lower()]),
    int: ("an int", lambda text: _whole(text)),
    float: ("a number", float),
    str: ("a text", str),
    NoneType: ("none", lambda text: {"none": None}[text.lower()]),
}


def cook(recipes: Mapping[str, Callable[[], C]], name: str, assignments: Sequence[str]) -> C:
    """The settings of the recipe of that name, with fields replaced as by `override`."""
    if name not in recipes:
        raise ValueError(f"recipe: expected one of {', '.join(recipes)}, got {name!r}")
    return override(recipes[name](), assignments)


def override(config: C, assignments: Sequence[str]) -> C:
    """Replace fields by `name=value` or `part.name=value`, read as the type that the field is annotated with.

    All take effect at once, so that fields which must agree can change together.
    """
    changes = []
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals:
            raise ValueError(f"{assignment}: expected key=value, got no '='")
        changes.append((key.strip().split("."), text.strip()))
    return _changed(config, changes, "")


def to_dict(config: Any) -> dict[str, Any]:
    """Plain values for JSON; a part with a `to_dict` of its own is asked for it."""
    if hasattr(config, "to_dict"):
        return config.to_dict()
    hints = get_type_hints(type(config))
    return {f.name: _plain(hints[f.name], getattr(config, f.name)) for f in fields(config)}


def from_dict(cls: type[C], values: Any) -> C:
    """The inverse of `to_dict`; unknown keys, missing keys without a default and wrong types are refused."""
    if hasattr(cls, "from_dict"):
        return cast(Any, cls).from_dict(values)
    if not isinstance(values, dict):
        raise ValueError(f"{cls.__name__}: expected settings by name, got {values!r}")
    hints = get_type_hints(cls)
    for name in values:
        if name not in hints:
            raise ValueError(f"{cls.__name__}: {_unknown(name, hints)}")
    for f in fields(cast(Any, cls)):
        if f.name not in values and f.default is MISSING and f.default_factory is MISSING:
            raise ValueError(f"{cls.__name__}: expected a value for {f.name}, got none")
    return cls(**{name: _typed(hints[name], value, name) for name, value in values.items()})


def differences(one: Any, other: Any, path: str = "") -> list[tuple[str, Any, Any]]:
    """Where two JSON values differ: the dotted key and both values, None for one that is not there."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = [*one, *(key for key in other if key not in one)]
        return [
            found
            for key in keys
            for found in differences(one.get(key), other.get(key), f"{path}.{key}".lstrip("."))
        ]
    return [] if one == other else [(path, one, other)]


def _changed(config: Any, changes: list[tuple[list[str], str]], path: str) -> Any:
    """A dataclass with fields of its own and of its parts replaced."""
    if not _is_part(type(config)):
        raise ValueError(f"{path}{changes[0][0][0]}: expected a setting that has parts, got {config!r}")
    hints = get_type_hints(type(config))
    values: dict[str, Any] = {}
    inner: dict[str, list[tuple[list[str], str]]] = {}
    for (name, *rest), text in changes:
        if name not in hints:
            raise ValueError(f"{path}{name}: {_unknown(name, hints)}")
        if rest:
            inner.setdefault(name, []).append((rest, text))
            continue
        try:
            values[name] = _parsed(hints[name], text)
        except (ValueError, KeyError):
            raise ValueError(f"{path}{name}: expected {_description(hints[name])}, got {text!r}") from None
    for name, parts in inner.items():
        values[name] = _changed(values.get(name, getattr(config, name)), parts, f"{path}{name}.")
    return replace(config, **values)


def _is_part(hint: Any) -> TypeGuard[type[Any]]:
    return isinstance(hint, type) and is_dataclass(hint)


def _parsed(hint: Any, text: str) -> Any:
    """Text to a value of a type; ValueError or KeyError where it is none."""
    options = _options(hint)
    if len(options) > 1:
        return _first(options, lambda option: _parsed(option, text))
    if get_origin(hint) is Literal:
        return {str(choice): choice for choice in get_args(hint)}[text]
    if get_origin(hint) is tuple:
        parts = [part.strip() for part in text.strip("()[]").split(",") if part.strip()]
        return tuple(_parsed(item, part) for item, part in zip(_items(hint, parts), parts, strict=True))
    if _is_part(hint):
        return {hint.__name__: hint}[text]()
    return _SCALARS[hint][1](text)


def _typed(hint: Any, value: Any, path: str) -> Any:
    """A JSON value to a value of a type."""
    options = _options(hint)
    if len(options) > 1:
        return _choose(options, value, path)
    if _is_part(hint):
        return from_dict(hint, value)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal and value in arguments:
        return value
    if origin is tuple and isinstance(value, list):
        return tuple(_typed(item, part, path) for item, part in zip(_items(hint, value), value, strict=True))
    if origin is dict and isinstance(value, dict):
        return {key: _typed(arguments[1], part, f"{path}.{key}") for key, part in value.items()}
    if hint is float and type(value) in (int, float):
        return float(value)
    if type(value) is hint:
        return value
    raise ValueError(f"{path}: expected {_description(hint)}, got {value!r}")


def _choose(options: list[Any], value: Any, path: str) -> Any:
    """The option that a JSON value is of: a part goes by the name of its class."""
    parts = {option.__name__: option for option in options if _is_part(option)}
    name, inner = next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else (value, {})
    if isinstance(name, str) and name in parts:
        return from_dict(parts[name], inner)
    try:
        return _first([o for o in options if not _is_part(o)], lambda option: _typed(option, value, path))
    except ValueError:
        expected = " or ".join(map(_description, options))
        raise ValueError(f"{path}: expected {expected}, got {value!r}") from None


def _plain(hint: Any, value: Any) -> Any:
    if _is_part(type(value)):
        inner = to_dict(value)
        if len(_options(hint)) == 1:
            return inner
        return {type(value).__name__: inner} if inner else type(value).__name__
    return list(value) if isinstance(value, tuple) else value


def _options(hint: Any) -> list[Any]:
    return list(get_args(hint)) if get_origin(hint) in (Union, UnionType) else [hint]


def _items(hint: Any, values: Sequence[Any]) -> list[Any]:
    """The types of the entries of a tuple; ValueError where there are more or fewer."""
    items = list(get_args(hint))
    if items[-1] is Ellipsis:
        return items[:1] * len(values)
    if len(items) != len(values):
        raise ValueError(f"expected {len(items)} values, got {len(values)}")
    return items


def _first(options: Iterable[Any], attempt: Callable[[Any], Any]) -> Any:
    """The first attempt that succeeds; None is tried first and text last, which would take anything."""
    for option in sorted(options, key=lambda option: (option is str, option is not NoneType)):
        try:
            return attempt(option)
        except (ValueError, KeyError):
            continue
    raise ValueError("no option fits")


def _description(hint: Any) -> str:
    if len(options := _options(hint)) > 1:
        return " or ".join(_description(option) for option in options)
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(map(str, get_args(hint)))
    if get_origin(hint) is tuple:
        items = get_args(hint)
        if items[-1] is Ellipsis:
            return f"a list of {_description(items[0])}"
        return f"{len(items)} values with commas between ({', '.join(map(_description, items))})"
    return _SCALARS[hint][0] if hint in _SCALARS else getattr(hint, "__name__", str(hint))


def _whole(text: str) -> int:
    """An int, also in the form 1e6."""
    number = float(text)
    if not number.is_integer():
        raise ValueError(text)
    return int(text) if text.lstrip("+-").replace("_", "").isdigit() else int(number)


def _unknown(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), 1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"expected one of {', '.join(known)}, got {name!r}{hint}"
