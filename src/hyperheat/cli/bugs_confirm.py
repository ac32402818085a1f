"""`hyperheat bugs confirm`: what later releases made of the findings in an old one."""

import json as json_module
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hyperheat.bugs.corpus.packages import CorpusError, normalise, read_names
from hyperheat.bugs.mining.archive import Archive, open_archive
from hyperheat.bugs.mining.confirmation import VERDICTS, Suggestion, follow
from hyperheat.bugs.mining.registry import Registry, Release
from hyperheat.check.discover import FoundFile
from hyperheat.check.judge import judge
from hyperheat.check.scan import scan_files
from hyperheat.check.settings import Settings
from hyperheat.check.sources import Sources
from hyperheat.cli.refusal import fail
from hyperheat.detector.detector import Detector, load_detector
from hyperheat.progress import Progress
from hyperheat.report import LEVELS, Finding

__all__ = ["confirm"]

_YEARS = 2


def confirm(
    *,
    package: tuple[str, ...] = (),
    packages: Path | None = None,
    model: Path | None = None,
    before: str | None = None,
    jobs: int = 2,
    index: str | None = None,
    out: Path | None = None,
    json: bool = False,
) -> None:
    """Check an old release of each package, and count the findings that a later release mended in exactly that way.

    Those that are still there in the newest release are what a user sees as false alarms.

    Parameters
    ----------
    package
        A package to check; can be given several times.
    packages
        A file with one package name a line.
    model
        The folder of an exported detector; the one that comes with hyperheat unless given.
    before
        Check the newest release that was uploaded before this day, as in 2024-02-29; two years ago unless given.
    jobs
        Processes that check files at the same time.
    index
        The address of a package index; the one that pip is configured with unless given.
    out
        A file that gets one JSON object for each finding.
    json
        Print the counts as JSON.
    """
    try:
        names = [normalise(name) for name in package]
        names += [found.name for found in read_names(packages)] if packages else []
        names = list(dict.fromkeys(names))
        if not names:
            raise ValueError("no packages to check: give --package NAME or --packages FILE")
        day = _day(before)
        detector = load_detector(model)
        registry = Registry(index) if index else Registry.configured()
        rows, counts = _confirm_all(names, registry, detector, day, jobs)
        if out is not None:
            lines = [json_module.dumps(row, ensure_ascii=False) + "\n" for row in rows]
            out.write_text("".join(lines), encoding="utf-8")
    except (ValueError, OSError, ImportError) as error:
        fail(error)
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted\n")
        raise SystemExit(130) from None
    record = {"before": day, "names": names, **counts, "verdicts": _table(rows)}
    sys.stdout.write((json_module.dumps(record, indent=1) if json else _text(record)) + "\n")


def _day(text: str | None) -> str:
    """A day as in 2024-02-29."""
    if text is None:
        today = datetime.now(UTC).date()
        return today.replace(year=today.year - _YEARS, day=min(today.day, 28)).isoformat()
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError(f"--before: expected a day such as 2024-02-29, got {text!r}") from None


def _confirm_all(
    names: list[str], registry: Registry, detector: Detector, day: str, jobs: int
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    rows: list[dict[str, Any]] = []
    counts = {"packages": 0, "functions": 0, "later_releases": 0}
    with Progress("confirming", total=len(names), unit="packages", counted="findings") as progress:
        for name in names:
            try:
                done = _confirm(name, registry, detector, day, jobs)
            except CorpusError as error:
                progress.say(f"{name}: {error}")
                progress.advance()
                continue
            rows += done.rows
            counts["packages"] += 1
            counts["functions"] += done.functions
            counts["later_releases"] += done.later
            progress.advance(len(done.rows))
    return rows, counts


@dataclass(frozen=True)
class _Confirmed:
    rows: list[dict[str, Any]]
    functions: int
    later: int


def _confirm(name: str, registry: Registry, detector: Detector, day: str, jobs: int) -> _Confirmed:
    releases = registry.releases(name).releases
    dates = registry.dates(name)
    old = [i for i, release in enumerate(releases) if dates.get(release.file, "9999") < day]
    if not old:
        raise CorpusError(f"it has no release from before {day}")
    chosen, later = releases[old[-1]], releases[old[-1] + 1 :]
    if not later:
        raise CorpusError(f"it has no release after {chosen.version}")
    archive = open_archive(chosen.file, registry.fetch(chosen))
    findings, texts, functions = _check(archive, detector, jobs)
    pairs = [(f, Suggestion.of(f.path, texts[f.path], _repaired(f, texts[f.path]))) for f in findings]
    known = [(finding, suggestion) for finding, suggestion in pairs if suggestion is not None]
    verdicts = follow([suggestion for _, suggestion in known], _archives(registry, later)) if known else []
    rows = [
        {
            "package": name,
            "release": chosen.version,
            "path": finding.path,
            "line": finding.line,
            "function": finding.function,
            "kind": finding.kind,
            "tier": finding.tier,
            "confidence": round(finding.confidence, 4),
            "message": finding.message,
            "verdict": verdict,
            "decided_by": version,
        }
        for (finding, _), (verdict, version) in zip(known, verdicts, strict=True)
    ]
    return _Confirmed(rows, functions, len(later))


def _archives(registry: Registry, releases: tuple[Release, ...]) -> Iterator[tuple[str, Archive]]:
    for release in releases:
        try:
            yield release.version, open_archive(release.file, registry.fetch(release))
        except CorpusError:
            continue  # the next release will tell


def _check(archive: Archive, detector: Detector, jobs: int) -> tuple[list[Finding], dict[str, str], int]:
    """The findings of all tiers in a release, the texts of its files with bare newlines, and how many functions it has."""
    sources = archive.sources()
    with TemporaryDirectory(prefix="hyperheat-") as folder:
        sources.unpack(Path(folder))
        files = [FoundFile(path, Path(folder, path)) for path in sources.files]
        scanned = list(scan_files(files, detector, jobs=jobs))
        texts = {path: source.text for path, source in Sources(scanned).items()}
    report = judge(scanned, Settings(), detector, show_all=True)
    plain = [finding for finding in report.findings if "\r" not in texts[finding.path]]
    return plain, texts, report.summary.functions


def _repaired(finding: Finding, text: str) -> str:
    """The text of a file with the suggested repair."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for edit in reversed(finding.fix.edits):
        start = starts[edit.line - 1] + edit.column - 1
        end = starts[edit.end_line - 1] + edit.end_column - 1
        text = text[:start] + edit.text + text[end:]
    return text


def _table(rows: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    counts = Counter((row["tier"], row["verdict"]) for row in rows)
    return {tier: {verdict: counts[tier, verdict] for verdict in VERDICTS} for tier in LEVELS}


def _text(record: dict[str, Any]) -> str:
    lines = [
        f"{record['packages']} packages, the newest release of each from before {record['before']}: "
        f"{record['functions']:,} functions, followed through {record['later_releases']:,} later releases",
        "",
        f"{'tier':<6}{'findings':>9}" + "".join(f"{verdict:>19}" for verdict in VERDICTS),
    ]
    for tier, verdicts in record["verdicts"].items():
        total = sum(verdicts.values())
        cells = (f"{count:>10,} ({count / max(total, 1):>5.1%})" for count in verdicts.values())
        lines.append(f"{tier:<6}{total:>9,}" + "".join(f"{cell:>19}" for cell in cells))
    return "\n".join(lines)
