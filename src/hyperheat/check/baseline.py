"""The baseline: a file of findings that are known, so that only new ones are shown.

    {
    "0f3c...": {"path":"src/shop.py","rule":"HH101","function":"total"},
    "version": 1
    }

One entry a line, sorted, so that branches which add entries merge easily. The key is the fingerprint of the finding,
which does not change when code moves. Identical findings have different fingerprints: if two of three are known, the third
is shown.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from hyperheat.files import parse_json, read_regular, refuse_links, write_whole
from hyperheat.report.finding import Finding
from hyperheat.report.fingerprint import fingerprints
from hyperheat.report.source import SourceText
from hyperheat.visible_text import dump_json

__all__ = [
    "Baseline",
    "BaselineError",
    "Compared",
    "Known",
    "compare_to_baseline",
    "make_baseline",
    "read_baseline",
    "write_baseline",
]

_VERSION = 1
_MAX_BYTES = 50_000_000
_FINGERPRINT = re.compile(r"[0-9a-f]{32}")
_CONFLICT = re.compile(r"^(<<<<<<<|>>>>>>>)", re.MULTILINE)


class BaselineError(ValueError):
    """A baseline file that cannot be used, in one sentence that begins with its name."""


@dataclass(frozen=True, slots=True, order=True)
class Known:
    """What a known finding was, for people and to see whether its file was scanned."""

    path: str
    rule: str
    function: str


Baseline = dict[str, Known]
"""Known findings by fingerprint."""


@dataclass(frozen=True, slots=True)
class Compared:
    """New findings, known findings, and known ones that were not found again."""

    new: tuple[Finding, ...]
    known: tuple[Finding, ...]
    stale: tuple[Known, ...]


def make_baseline(findings: Sequence[Finding], sources: Mapping[str, SourceText]) -> Baseline:
    """A baseline of findings, given in the order of a report."""
    names = fingerprints(findings, sources)
    return {name: Known(f.path, f.rule, f.function) for name, f in zip(names, findings, strict=True)}


def compare_to_baseline(
    findings: Sequence[Finding],
    sources: Mapping[str, SourceText],
    baseline: Baseline,
    *,
    scanned: Callable[[str], bool],
) -> Compared:
    """Separate new findings from known ones; pass the findings of all tiers, in the order of a report.

    Only entries whose path was `scanned` (or whose file is gone, if that is what it says) can be stale.
    """
    named = list(zip(fingerprints(findings, sources), findings, strict=True))
    gone = baseline.keys() - {name for name, _ in named}
    return Compared(
        tuple(finding for name, finding in named if name not in baseline),
        tuple(finding for name, finding in named if name in baseline),
        tuple(sorted(baseline[name] for name in gone if scanned(baseline[name].path))),
    )


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write a baseline atomically, never through a link; equal baselines give equal files."""
    refuse_links(path, Path.cwd())
    entries = [f'"{name}": {dump_json(asdict(baseline[name]))},\n' for name in sorted(baseline)]
    write_whole(path, "".join(["{\n", *entries, f'"version": {_VERSION}\n}}\n']).encode("ascii"))


def read_baseline(path: Path) -> Baseline:
    """Read a baseline that `write_baseline` wrote."""
    try:
        text = read_regular(path, max_bytes=_MAX_BYTES).decode()
        if _CONFLICT.search(text):
            raise BaselineError(f"{path}: the baseline has merge conflicts")
        content = parse_json(text)
    except BaselineError:
        raise
    except ValueError as error:
        raise BaselineError(f"{path}: cannot be read as a baseline: {error}") from None
    if not isinstance(content, dict) or content.get("version") != _VERSION:
        got = content.get("version", "none") if isinstance(content, dict) else type(content).__name__
        raise BaselineError(f"{path}: expected a baseline of version {_VERSION}, got {got}")
    return {name: _known(path, name, value) for name, value in content.items() if name != "version"}


def _known(path: Path, name: str, value: object) -> Known:
    if _FINGERPRINT.fullmatch(name) and isinstance(value, dict):
        texts = [value.get(field) for field in Known.__slots__]
        if len(value) == len(texts) and all(isinstance(text, str) for text in texts):
            return Known(*map(str, texts))
    raise BaselineError(
        f"{path}: expected entries of fingerprint, path, rule and function, got {name!r}: {value!r}"
    )
