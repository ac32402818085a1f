"""Settings are frozen dataclasses; here they become JSON, come back from it, and take `key=value` from a command line.

| type of the field            | JSON                     | command line           |
|------------------------------|--------------------------|------------------------|
| int, float, bool, str, None  | as they are              | `lr=1e-3`, `clip=none` |
| Literal["a", "b"]            | "a"                      | `mode=a`               |
| tuple[float, float]          | [0.9, 0.99]              | `betas=0.9,0.99`       |
| a dataclass                  | {"size": 2}              | `bag.size=2`           |
| one of several dataclasses   | {"GnnConfig": {...}}     | `model=GnnConfig`      |
| type[A] or type[B], a class  | "A"                      | `message=A`            |

Unknown keys are errors. Every message names the key, what was expected and what came.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass, replace
from types import NoneType, UnionType
from typing import Any, Literal, TypeGuard, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from hyperheat.spelling import did_you_mean

__all__ = ["choices", "differences", "from_dict", "override", "settings_from_recipe", "to_dict"]

C = TypeVar("C")
_SCALARS = {
    bool: ("true or false", lambda text: {"true": True, "false": False}[text.lower()]),
    int: ("an int", lambda text: _whole(text)),
    float: ("a number", float),
    str: ("a text", str),
    NoneType: ("none", lambda text: {"none": None}[text.lower()]),
}


def settings_from_recipe(recipes: Mapping[str, Callable[[], C]], name: str, assignments: Sequence[str]) -> C:
    """The settings of the recipe called `name`, with fields replaced as by `override`."""
    if name not in recipes:
        raise ValueError(f"recipe: expected one of {', '.join(recipes)}, got {name!r}")
    return override(recipes[name](), assignments)


def override(config: C, assignments: Sequence[str]) -> C:
    """Replace fields by `name=value` or `part.name=value`.

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
    """Plain values for JSON."""
    hints = get_type_hints(type(config))
    return {f.name: _plain(hints[f.name], getattr(config, f.name)) for f in fields(config)}


def from_dict(cls: type[C], values: Any, path: str = "") -> C:
    """The inverse of `to_dict`. `path` is the dotted key that the values stand under, for messages."""
    place = path or cls.__name__
    if not isinstance(values, dict):
        raise ValueError(f"{place}: expected settings by name, got {values!r}")
    hints = get_type_hints(cls)
    for name in values:
        if name not in hints:
            raise ValueError(f"{place}: {_unknown(name, hints)}")
    for f in fields(cast(Any, cls)):
        if f.name not in values and f.default is MISSING and f.default_factory is MISSING:
            raise ValueError(f"{place}: expected a value for {f.name}, got none")
    inside = f"{path}." if path else ""
    return cls(**{name: _typed(hints[name], value, f"{inside}{name}") for name, value in values.items()})


def differences(one: Any, other: Any, path: str = "") -> list[tuple[str, Any, Any]]:
    """Where two JSON values differ: the dotted key and both values, None for a missing one."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = [*one, *(key for key in other if key not in one)]
        return [
            found
            for key in keys
            for found in differences(one.get(key), other.get(key), f"{path}.{key}".lstrip("."))
        ]
    return [] if one == other else [(path, one, other)]


def choices(cls: type[Any]) -> dict[str, dict[str, type[Any]]]:
    """The fields of a dataclass that hold a class, and the classes each may hold, by name."""
    slots = {name: _options(hint) for name, hint in get_type_hints(cls).items()}
    return {
        name: {_class_of(option).__name__: _class_of(option) for option in options}
        for name, options in slots.items()
        if all(_is_class_slot(option) for option in options)
    }


def _changed(config: Any, changes: list[tuple[list[str], str]], path: str) -> Any:
    """A dataclass with some fields replaced, its own or those of its parts."""
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


def _parsed(hint: Any, text: str) -> Any:
    """Text to a value of a type; ValueError or KeyError if it is none."""
    options = _options(hint)
    if len(options) > 1:
        return _first(options, lambda option: _parsed(option, text))
    if get_origin(hint) is Literal:
        return {str(choice): choice for choice in get_args(hint)}[text]
    if get_origin(hint) is tuple:
        parts = [part.strip() for part in text.strip("()[]").split(",") if part.strip()]
        return tuple(_parsed(item, part) for item, part in zip(_items(hint, parts), parts, strict=True))
    if _is_class_slot(hint):
        return {_class_of(hint).__name__: _class_of(hint)}[text]
    if _is_part(hint):
        return {hint.__name__: hint}[text]()
    return _SCALARS[hint][1](text)


def _typed(hint: Any, value: Any, path: str) -> Any:
    """A JSON value to a value of a type."""
    options = _options(hint)
    if len(options) > 1:
        return _choose(options, value, path)
    if _is_part(hint):
        return from_dict(hint, value, path)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal and value in arguments:
        return value
    if origin is tuple and isinstance(value, list) and len(items := _items(hint, value)) == len(value):
        return tuple(_typed(item, part, path) for item, part in zip(items, value, strict=True))
    if origin is dict and isinstance(value, dict):
        return {key: _typed(arguments[1], part, f"{path}.{key}") for key, part in value.items()}
    if _is_class_slot(hint) and value == _class_of(hint).__name__:
        return _class_of(hint)
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(OverflowError):  # an int beyond all floats
            return float(value)
    if type(value) is hint:
        return value
    raise ValueError(f"{path}: expected {_description(hint)}, got {value!r}")


def _choose(options: list[Any], value: Any, path: str) -> Any:
    """The option that a JSON value belongs to; a dataclass is given by its name."""
    parts = {option.__name__: option for option in options if _is_part(option)}
    name, inner = next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else (value, {})
    if isinstance(name, str) and name in parts:
        return from_dict(parts[name], inner, path)
    try:
        return _first([o for o in options if not _is_part(o)], lambda option: _typed(option, value, path))
    except ValueError:
        raise ValueError(f"{path}: expected {_describe_any(options)}, got {value!r}") from None


def _plain(hint: Any, value: Any) -> Any:
    if isinstance(value, type):
        return value.__name__
    if _is_part(type(value)):
        inner = to_dict(value)
        if len(_options(hint)) == 1:
            return inner
        return {type(value).__name__: inner} if inner else type(value).__name__
    return list(value) if isinstance(value, tuple) else value


def _is_part(hint: Any) -> TypeGuard[type[Any]]:
    return isinstance(hint, type) and is_dataclass(hint)


def _is_class_slot(hint: Any) -> bool:
    return get_origin(hint) is type


def _class_of(hint: Any) -> type[Any]:
    """A for the hint type[A]."""
    return get_args(hint)[0]


def _options(hint: Any) -> list[Any]:
    return list(get_args(hint)) if get_origin(hint) in (Union, UnionType) else [hint]


def _items(hint: Any, values: Sequence[Any]) -> list[Any]:
    """The types of the entries of a tuple."""
    items = list(get_args(hint))
    return items[:1] * len(values) if items[-1] is Ellipsis else items


def _first(options: Iterable[Any], attempt: Callable[[Any], Any]) -> Any:
    """The first attempt that succeeds; None is tried first, and str last because any text fits it."""
    for option in sorted(options, key=lambda option: (option is str, option is not NoneType)):
        try:
            return attempt(option)
        except (ValueError, KeyError):
            continue
    raise ValueError("no option fits")


def _description(hint: Any) -> str:
    if len(options := _options(hint)) > 1:
        return _describe_any(options)
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(map(str, get_args(hint)))
    if get_origin(hint) is tuple:
        items = get_args(hint)
        if items[-1] is Ellipsis:
            return "a list of " + {str: "texts", int: "ints", float: "numbers"}.get(items[0], "values")
        return f"{len(items)} values separated by commas ({', '.join(map(_description, items))})"
    if _is_class_slot(hint):
        return _class_of(hint).__name__
    return _SCALARS[hint][0] if hint in _SCALARS else getattr(hint, "__name__", str(hint))


def _describe_any(options: list[Any]) -> str:
    if all(_is_class_slot(option) for option in options):
        return "one of " + ", ".join(map(_description, options))
    return " or ".join(map(_description, options))


def _whole(text: str) -> int:
    """An int, also in the form 1e6."""
    number = float(text)
    if not number.is_integer():
        raise ValueError(text)
    return int(text) if text.lstrip("+-").replace("_", "").isdigit() else int(number)


def _unknown(name: str, known: Iterable[str]) -> str:
    hint = did_you_mean(name, known)
    return f"expected one of {', '.join(known)}, got {name!r}" + (f"; {hint}" if hint else "")
