"""The options that commands which scan share, and the settings that come of them.

Modules of commands import little, so that `--help` answers at once: the rest is imported when a command runs.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

if TYPE_CHECKING:
    from hyperheat.check.settings import Settings

__all__ = ["DEFAULTS", "OUTPUT", "ScanOptions", "Tier", "flag", "read_settings"]

Tier = Literal["A", "B", "C"]

_FINDINGS = Group("Which findings", sort_key=1)
_FILES = Group("Which files", sort_key=2)
OUTPUT = Group("Output", sort_key=3)
_RUNNING = Group("Running", sort_key=4)


def flag(group: Group, *short: str) -> Parameter:
    """An option without an opposite, listed in a group of the help."""
    return Parameter(group=group, alias=short, negative="", show_default=False)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ScanOptions:
    """What to scan and what to show; options that are not given are as the settings in pyproject.toml say."""

    tier: Annotated[Tier | None, flag(_FINDINGS)] = None
    """The lowest tier to show: A unless told otherwise, B for A and B, C for all."""
    min_confidence: Annotated[float | None, flag(_FINDINGS)] = None
    """Show findings from this confidence on, 0 to 1, whatever their tier."""
    min_precision: Annotated[float | None, flag(_FINDINGS)] = None
    """Show findings from the confidence on at which this share of them was right, and say where that was measured."""
    select: Annotated[tuple[str, ...], flag(_FINDINGS)] = ()
    """Look for these rules only, such as HH101,HH3."""
    ignore: Annotated[tuple[str, ...], flag(_FINDINGS)] = ()
    """Do not look for these rules."""
    since: Annotated[str | None, flag(_FINDINGS)] = None
    """Only functions that changed since the history of this commit, branch or tag and ours went apart."""
    baseline: Annotated[Path | None, flag(_FINDINGS)] = None
    """Leave out the findings that are listed in this file."""
    exclude: Annotated[tuple[str, ...], flag(_FILES)] = ()
    """Leave out files and folders that fit this pattern of .gitignore; takes the place of `exclude` in the settings."""
    no_gitignore: Annotated[bool, flag(_FILES)] = False
    """Look also at what .gitignore files name."""
    force_exclude: Annotated[bool, flag(_FILES)] = False
    """Leave out excluded files even if they are named, for hooks that name every file."""
    model: Annotated[Path | None, flag(_RUNNING)] = None
    """The folder of an exported detector, in place of the one that comes with the package."""
    jobs: Annotated[int | None, flag(_RUNNING, "-j")] = None
    """How many processes; as many as there are processors unless told otherwise."""
    cache_dir: Annotated[Path | None, flag(_RUNNING)] = None
    """The folder for results of earlier scans, in place of the one in your home or in HYPERHEAT_CACHE."""
    no_cache: Annotated[bool, flag(_RUNNING)] = False
    """Neither read nor write results of earlier scans."""
    timeout: Annotated[float | None, flag(_RUNNING)] = None
    """Seconds for a file, of which each function may use a thirtieth as work; 300 unless told otherwise."""
    max_memory: Annotated[str | None, flag(_RUNNING)] = None
    """Memory of each process that looks at files, such as 2GB; 1GiB unless told otherwise."""
    max_file_size: Annotated[str | None, flag(_RUNNING)] = None
    """Skip larger files; 1MB unless told otherwise."""
    quiet: Annotated[bool, flag(OUTPUT, "-q")] = False
    """No progress and no summary on standard error."""

    def as_settings(self) -> dict[str, object]:
        """The options that are also settings, by their keys in pyproject.toml; None for those that were not given."""
        return {
            "tier": self.tier,
            "min-confidence": self.min_confidence,
            "min-precision": self.min_precision,
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
    from hyperheat.check.settings import Settings, find_settings, load_settings, override_settings

    start = os.path.commonpath([os.path.abspath(path) for path in paths])
    source = find_settings(Path(start))
    settings = Settings() if source is None else load_settings(source)
    return override_settings(settings, options.as_settings() | dict(more or {}), folder=Path.cwd())


def _listed(texts: tuple[str, ...]) -> list[str] | None:
    """All of `--select HH101,HH3 --select HH401`."""
    return [part.strip() for text in texts for part in text.split(",")] if texts else None
