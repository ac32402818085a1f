"""Options shared by the scanning commands, and how they become settings.

Modules of commands import little, so that `--help` answers at once: the rest is imported when a command runs.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

if TYPE_CHECKING:
    from hyperheat.check.checker import Checker
    from hyperheat.check.settings import Settings

__all__ = [
    "DEFAULTS",
    "OUTPUT",
    "RUNNING",
    "ScanOptions",
    "Tier",
    "flag",
    "make_checker",
    "parse_size",
    "read_settings",
]

Tier = Literal["A", "B", "C"]

_FINDINGS = Group("Which findings", sort_key=1)
_FILES = Group("Which files", sort_key=2)
OUTPUT = Group("Output", sort_key=3)
RUNNING = Group("Running", sort_key=4)


_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*([KMG]I?B)?", re.IGNORECASE)
_LEAST_MEMORY = 256_000_000  # less would not hold the model
_MOST_BYTES = 100_000_000  # beyond, a file is no source code


def flag(group: Group, *short: str) -> Parameter:
    """An option without an opposite, listed in a group of the help."""
    return Parameter(group=group, alias=short, negative="", show_default=False)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ScanOptions:
    """What to check and what to show. Options that are not given default to the settings in pyproject.toml."""

    tier: Annotated[Tier | None, flag(_FINDINGS)] = None
    """Lowest tier to show: A, B (for A and B) or C (for A, B and C). Default: A."""
    min_confidence: Annotated[float | None, flag(_FINDINGS)] = None
    """Only show findings with at least this confidence (0 to 1, as in --output-format json), whatever their tier."""
    max_alarms: Annotated[float | None, flag(_FINDINGS)] = None
    """Only show findings at levels that raised at most this many alarms per 1,000 functions of real code."""
    select: Annotated[tuple[str, ...], flag(_FINDINGS)] = ()
    """Comma-separated list of rules to enable, such as HH101,HH3."""
    ignore: Annotated[tuple[str, ...], flag(_FINDINGS)] = ()
    """Comma-separated list of rules to disable."""
    since: Annotated[str | None, flag(_FINDINGS)] = None
    """Only report what became more suspicious since the merge base with this commit, branch or tag."""
    absolute: Annotated[bool, flag(_FINDINGS)] = False
    """With --since, report all findings in functions that changed."""
    baseline: Annotated[Path | None, flag(_FINDINGS)] = None
    """Do not report the findings listed in this file."""
    exclude: Annotated[tuple[str, ...], flag(_FILES)] = ()
    """Pattern, as in .gitignore, of files and folders to skip; overrides the `exclude` setting. May be repeated."""
    no_gitignore: Annotated[bool, flag(_FILES)] = False
    """Check files that .gitignore excludes, too."""
    force_exclude: Annotated[bool, flag(_FILES)] = False
    """Apply exclusions even to files passed on the command line, as pre-commit hooks do."""
    model: Annotated[str | None, flag(RUNNING)] = None
    """Name of an installed model, or folder of an exported detector. Default: the model in the package."""
    jobs: Annotated[int | None, flag(RUNNING, "-j")] = None
    """Number of processes. Default: the number of processors."""
    cache_dir: Annotated[Path | None, flag(RUNNING)] = None
    """Folder of the cache. Default: $HYPERHEAT_CACHE, or a folder in your home."""
    no_cache: Annotated[bool, flag(RUNNING)] = False
    """Do not read or write the cache."""
    timeout: Annotated[float | None, flag(RUNNING)] = None
    """Time limit per file in seconds; each function may use a thirtieth of it. Default: 300."""
    max_memory: Annotated[str | None, flag(RUNNING)] = None
    """Memory limit per process, such as 2GB. Default: 1GiB."""
    max_file_size: Annotated[str | None, flag(RUNNING)] = None
    """Skip files larger than this. Default: 1MB."""
    quiet: Annotated[bool, flag(OUTPUT, "-q")] = False
    """Do not print progress and summary to standard error."""

    def as_settings(self) -> dict[str, object]:
        """The options that are also settings, by their keys in pyproject.toml; None for those that were not given."""
        return {
            "tier": self.tier,
            "min-confidence": self.min_confidence,
            "max-alarms": self.max_alarms,
            "select": _listed(self.select),
            "ignore": _listed(self.ignore),
            "exclude": self.exclude or None,
            "baseline": self.baseline,
            "gitignore": False if self.no_gitignore else None,
            "force-exclude": True if self.force_exclude else None,
            "jobs": self.jobs,
        }


DEFAULTS = ScanOptions()
"""None of the options given."""


def read_settings(
    paths: Sequence[str], options: ScanOptions, more: Mapping[str, object] | None = None
) -> "Settings":
    """The settings of the project that holds the paths, changed by options, and by more of them by their keys."""
    from hyperheat.check.settings import override_settings, settings_for

    return override_settings(settings_for(paths), options.as_settings() | dict(more or {}), folder=Path.cwd())


def make_checker(options: ScanOptions, settings: "Settings") -> "Checker":
    """What checks code as the options say. Raises ValueError if one of them cannot be used."""
    from hyperheat.check import checker
    from hyperheat.check.cache import Cache
    from hyperheat.check.installed_models import load_model

    limits, max_bytes = checker.LIMITS, checker.MAX_BYTES
    if options.timeout is not None:
        if not 0 < options.timeout < math.inf:
            raise ValueError(f"--timeout: expected a number of seconds above 0, got {options.timeout:g}")
        share = limits.seconds / (limits.work_seconds or 1)
        work_seconds = math.ceil(options.timeout / share)
        limits = replace(limits, seconds=options.timeout, work_seconds=work_seconds)
    if options.max_memory is not None:
        limits = replace(limits, memory=parse_size("--max-memory", options.max_memory, least=_LEAST_MEMORY))
    if options.max_file_size is not None:
        max_bytes = parse_size("--max-file-size", options.max_file_size, least=1, most=_MOST_BYTES)
    detector = load_model(options.model, setting=settings.model)
    return checker.Checker(
        settings=settings,
        detector=detector,
        since=options.since,
        absolute=options.absolute,
        cache=None if options.no_cache else Cache.open(detector, options.cache_dir),
        limits=limits,
        max_bytes=max_bytes,
        quiet=options.quiet,
    )


def parse_size(option: str, text: str, *, least: int, most: int = 1 << 50) -> int:
    """A number of bytes, given as 500000, 500KB or 0.5MB.

    >>> parse_size("--max-memory", "1.5GB", least=1)
    1500000000
    """
    match = _SIZE.fullmatch(text.strip())
    size = int(float(match[1]) * _UNITS[(match[2] or "").upper()]) if match else -1
    if not least <= size <= most:
        between = f"from {_shown(least)}" + (f" to {_shown(most)}" if most < 1 << 50 else "")
        raise ValueError(f"{option}: expected a size {between}, such as 500MB, got {text!r}")
    return size


def _shown(size: int) -> str:
    unit = next(unit for unit in ("GB", "MB", "KB", "") if size % _UNITS[unit] == 0 and size >= _UNITS[unit])
    return f"{size // _UNITS[unit]}{unit or ' byte'}"


def _listed(texts: tuple[str, ...]) -> list[str] | None:
    """All of `--select HH101,HH3 --select HH401`."""
    return [part.strip() for text in texts for part in text.split(",")] if texts else None
