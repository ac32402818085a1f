"""Settings of a scan: `[tool.hyperheat]` in pyproject.toml, and options of the command line, which win.

    [tool.hyperheat]
    ignore = ["HH401"]
    exclude = ["src/generated/"]
    max-alarms = 1
    per-file-ignores = { "tests/" = ["HH3"] }

Globs have the syntax of .gitignore and are relative to the folder of the file. The file is part of the project that is
scanned, which may come from anyone: no setting runs code, writes a file, names one outside of the project, starts
more processes than there are processors or names a model that is not installed, and reading the file takes little time
and memory.
"""

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hyperheat.check.gitignore import Globs
from hyperheat.files import read_regular
from hyperheat.report.finding import LEVELS
from hyperheat.report.rules import RULES
from hyperheat.spelling import did_you_mean
from hyperheat.workers.limits import confined

__all__ = [
    "MODEL_NAME",
    "SELECTABLE",
    "Settings",
    "SettingsError",
    "find_settings",
    "load_settings",
    "override_settings",
    "processors",
    "settings_for",
]

SELECTABLE = tuple(rule.id for rule in RULES.values() if rule.kinds)
"""The rules that can be selected; those about files can only be ignored."""

MODEL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
"""The name of an installed model, which cannot be a path."""

_FILE = "pyproject.toml"
_MAX_BYTES = 1_000_000
_MAX_SECONDS = 5.0
_MAX_MEMORY = 200_000_000
_MAX_TEXTS = 1_000
_ROOT = 0  # root can change anything anyway


class SettingsError(ValueError):
    """A setting that cannot be used, in one sentence that begins with its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to scan; `source` is the file that it comes from."""

    select: tuple[str, ...] = SELECTABLE
    ignore: tuple[str, ...] = ()
    exclude: Globs | None = None
    per_file_ignores: tuple[tuple[Globs, tuple[str, ...]], ...] = ()
    min_confidence: float | None = None
    max_alarms: float | None = None
    model: str | None = None
    tier: str = "A"
    fail_on: str = "A"
    baseline: Path | None = None
    jobs: int | None = None
    strict: bool = False
    gitignore: bool = True
    force_exclude: bool = False
    source: Path | None = None

    def __post_init__(self) -> None:
        if self.min_confidence is not None and self.max_alarms is not None:
            raise SettingsError("min-confidence and max-alarms cannot be used together")

    @property
    def rules(self) -> frozenset[str]:
        """The rules that are looked for anywhere."""
        return frozenset(self.select) - frozenset(self.ignore)

    def rules_for(self, path: Path) -> frozenset[str]:
        """The rules that are looked for in a file, given by its absolute path."""
        ignored = (rules for globs, rules in self.per_file_ignores if globs.cover(path))
        return self.rules.difference(*ignored)

    def ignores(self, rule: str, path: Path | None) -> bool:
        """Whether a rule about files is ignored in a file, given by its absolute path, or None if it is not known."""
        ignored = (rules for globs, rules in self.per_file_ignores if path is not None and globs.cover(path))
        return any(rule in rules for rules in (self.ignore, *ignored))


def find_settings(start: Path) -> Path | None:
    """The nearest pyproject.toml with settings of this tool, from a file or folder up to the root of its repository.

    Files of other users, such as one in /tmp, end the search: only the owner of the scanned code or of this process counts.
    """
    start = Path(os.path.abspath(start))
    owners = _owners(start)
    for folder in (start, *start.parents) if start.is_dir() else start.parents:
        path = folder / _FILE
        if path.is_file():
            if owners and path.stat().st_uid not in owners:
                return None
            if _table(path) is not None:
                return path
        if os.path.lexists(folder / ".git"):
            return None
    return None


def settings_for(paths: Iterable[str | os.PathLike[str]]) -> Settings:
    """The settings of the project that holds files and folders; the defaults if it has none."""
    start = os.path.commonpath([os.path.abspath(path) for path in paths])
    source = find_settings(Path(start))
    return Settings() if source is None else load_settings(source)


def load_settings(path: Path) -> Settings:
    """The settings in a pyproject.toml; the defaults if it has none."""
    values = _table(path)
    if values is None:
        return Settings(source=path)
    read = _read(values, path.absolute().parent, f"{path}: tool.hyperheat.")
    if "jobs" in read:
        read["jobs"] = min(read["jobs"], processors())
    if "baseline" in read and not Path(os.path.realpath(read["baseline"])).is_relative_to(
        os.path.realpath(path.parent)
    ):
        got = str(values["baseline"])
        raise SettingsError(
            f"{path}: tool.hyperheat.baseline: expected a file in this folder, got {got!r:.200}"
        )
    return _replace(Settings(source=path), read, f"{path}: tool.hyperheat: ")


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def override_settings(
    settings: Settings, options: Mapping[str, object], *, folder: Path, prefix: str = "--"
) -> Settings:
    """The settings with options of a command line, named like the keys of the file; None means that an option was not given.

    Paths and globs among them are relative to `folder`. In messages their names have the prefix.
    """
    given = {name: value for name, value in options.items() if value is not None}
    read = _read(given, Path(os.path.abspath(folder)), prefix)
    for name, other in (("min_confidence", "max_alarms"), ("max_alarms", "min_confidence")):
        if name in read:
            read.setdefault(other, None)
    return _replace(settings, read, "command line: " if prefix == "--" else prefix)


def _replace(settings: Settings, values: dict[str, Any], place: str) -> Settings:
    try:
        return replace(settings, **values)
    except SettingsError as error:
        raise SettingsError(f"{place}{error}") from None


def _owners(start: Path) -> set[int]:
    """The users whose settings count; none if the system does not tell users apart."""
    if not hasattr(os, "geteuid"):
        return set()
    try:
        return {_ROOT, os.geteuid(), start.stat().st_uid}
    except OSError:
        return {_ROOT, os.geteuid()}


def _table(path: Path) -> dict[str, object] | None:
    try:
        data = read_regular(path, max_bytes=_MAX_BYTES)
        with confined(seconds=_MAX_SECONDS, memory=_MAX_MEMORY):
            document = tomllib.loads(data.decode())
    except RecursionError:
        raise SettingsError(f"{path}: the TOML is nested too deeply") from None
    except (MemoryError, TimeoutError):
        raise SettingsError(
            f"{path}: reading it took more than {_MAX_SECONDS:g} s or {_MAX_MEMORY / 1e6:.0f} MB"
        ) from None
    except ValueError as error:  # no text, no TOML, a number of too many digits
        raise SettingsError(f"{path}: not valid TOML: {error!s:.200}") from None
    tool = document.get("tool", {})
    table = tool.get("hyperheat") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise SettingsError(f"{path}: tool.hyperheat: expected a table, got {table!r:.200}")
    return table


def _read(values: Mapping[str, object], folder: Path, place: str) -> dict[str, Any]:
    read = {}
    for name, value in values.items():
        reader = _READERS.get(name)
        if reader is None:
            raise SettingsError(f"{place}{name:.200}: {_unknown(name, _READERS)}")
        try:
            read[name.replace("-", "_")] = reader(value, folder)
        except SettingsError as error:
            raise SettingsError(f"{place}{name}: {error}") from None
    return read


def _unknown(name: str, known: Iterable[str]) -> str:
    return did_you_mean(name, known, otherwise=f"expected one of {', '.join(known)}")


def _rules(value: object, folder: Path) -> tuple[str, ...]:
    """Expand prefixes of ids, such as HH3, to all ids that begin with them."""
    chosen = set()
    for text in _texts(value, folder):
        ids = [rule for rule in SELECTABLE if text.startswith("HH") and rule.startswith(text)]
        if not ids and text in RULES:
            raise SettingsError(f"{text} cannot be selected: it is always on unless it is ignored")
        if not ids:
            raise SettingsError(f"unknown rule {text!r:.200}: {_unknown(text, SELECTABLE)}")
        chosen.update(ids)
    return tuple(sorted(chosen))


def _ignored(value: object, folder: Path) -> tuple[str, ...]:
    """The same for rules to ignore; those about files, such as HH900, are named in full."""
    files = [text for text in _texts(value, folder) if text in RULES and text not in SELECTABLE]
    others = [text for text in _texts(value, folder) if text not in files]
    return tuple(sorted({*files, *_rules(others, folder)}))


def _texts(value: object, _: Path) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
        raise SettingsError(f"expected a list of texts, got {value!r:.200}")
    _check_count(value)
    return tuple(value)


def _check_count(values: Sized) -> None:
    if len(values) > _MAX_TEXTS:
        raise SettingsError(f"expected at most {_MAX_TEXTS} entries, got {len(values)}")


def _globs(value: object, folder: Path) -> Globs:
    return Globs.of(_texts(value, folder), folder)


def _per_file(value: object, folder: Path) -> tuple[tuple[Globs, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise SettingsError(f"expected rules by glob, got {value!r:.200}")
    _check_count(value)
    return tuple((Globs.of([str(glob)], folder), _ignored(rules, folder)) for glob, rules in value.items())


def _share(value: object, _: Path) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise SettingsError(f"expected a number from 0 to 1, got {value!r:.200}")
    return float(value)


def _rate(value: object, _: Path) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1000:
        raise SettingsError(f"expected alarms per 1,000 functions, above 0, got {value!r:.200}")
    return float(value)


def _model(value: object, _: Path) -> str:
    if not isinstance(value, str) or not MODEL_NAME.fullmatch(value):
        raise SettingsError(
            f"expected the name of an installed model, got {value!r:.200}; a folder can only be given with --model"
        )
    return value


def _tier(value: object, _: Path) -> str:
    tiers = tuple(LEVELS)[:-1]
    if value not in tiers:
        raise SettingsError(f"expected a tier of {', '.join(tiers)}, got {value!r:.200}")
    return str(value)


def _path(value: object, folder: Path) -> Path:
    if not isinstance(value, str | Path) or not str(value):
        raise SettingsError(f"expected the path of a file, got {value!r:.200}")
    return folder / value


def _count(value: object, _: Path) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise SettingsError(f"expected a whole number from 1, got {value!r:.200}")
    return value


def _flag(value: object, _: Path) -> bool:
    if not isinstance(value, bool):
        raise SettingsError(f"expected true or false, got {value!r:.200}")
    return value


_READERS: dict[str, Callable[[object, Path], Any]] = {
    "select": _rules,
    "ignore": _ignored,
    "exclude": _globs,
    "per-file-ignores": _per_file,
    "min-confidence": _share,
    "max-alarms": _rate,
    "model": _model,
    "tier": _tier,
    "fail-on": _tier,
    "baseline": _path,
    "jobs": _count,
    "strict": _flag,
    "gitignore": _flag,
    "force-exclude": _flag,
}
