"""What became of findings: fixed by a later release exactly as suggested, changed otherwise, or still there.

A place is the whole lines that a suggested repair changes, in their function. The first later release whose version
of the function no longer has these lines as often as before decides: the finding is fixed if the repaired lines have
come in their place. Comments, brackets, commas and layout do not count.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from hyperheat.bugs.corpus.packages import CorpusError
from hyperheat.bugs.mining.archive import Archive, open_archive
from hyperheat.bugs.mining.prefilter import FunctionPlace, Functions, tokens
from hyperheat.bugs.mining.registry import Registry, Release
from hyperheat.detector.calibration import TIERS
from hyperheat.progress import Progress

__all__ = [
    "CHANGED",
    "MENDED",
    "STILL_THERE",
    "VERDICTS",
    "CheckedRelease",
    "ReleaseFinding",
    "Suggestion",
    "confirm_packages",
    "count_verdicts",
    "follow",
]

MENDED, CHANGED, STILL_THERE = "mended", "changed otherwise", "still there"
VERDICTS = (MENDED, CHANGED, STILL_THERE)

Lines = tuple[tuple[bytes, ...], ...]


@dataclass(frozen=True)
class Suggestion:
    """A repair that was suggested: the lines of a function that it changes, as tokens, and what it makes of them."""

    path: str
    place: FunctionPlace
    before: Lines
    after: Lines
    times: int
    """How often the lines before are in the function."""

    @classmethod
    def of(cls, path: str, text: str, repaired: str) -> "Suggestion | None":
        """The suggestion that makes one text of a file out of another; None where no function is found around it."""
        old, new = text.split("\n"), repaired.split("\n")
        shorter = min(len(old), len(new))
        start = next((i for i in range(shorter) if old[i] != new[i]), shorter)
        end = next((i for i in range(shorter - start) if old[-1 - i] != new[-1 - i]), shorter - start)
        functions = Functions.of(text.encode())
        offset = len("\n".join(old[:start]).encode()) + (start > 0)
        for place, (first, last, _) in functions.spans.items():
            if first <= offset < last:
                before = _lines("\n".join(old[start : len(old) - end]).encode())
                after = _lines("\n".join(new[start : len(new) - end]).encode())
                times = _count(_lines(functions.function(place)), before)
                return cls(path, place, before, after, times) if before and times else None
        return None


def follow(suggestions: Iterable[Suggestion], later: Iterable[tuple[str, Archive]]) -> list[tuple[str, str]]:
    """For each suggestion what became of it, and the version that decided; `later` are the releases, oldest first."""
    left = dict(enumerate(suggestions))
    verdicts: dict[int, tuple[str, str]] = dict.fromkeys(left, (STILL_THERE, ""))
    split: dict[str, tuple[tuple[int, int] | None, Functions]] = {}
    for version, archive in later:
        for number, suggestion in list(left.items()):
            member = archive.members.get(suggestion.path)
            key = None if member is None else member.key
            known = split.get(suggestion.path)
            if known is None or known[0] != key:
                contents = b"" if member is None else archive.read(suggestion.path) or b""
                known = split[suggestion.path] = key, Functions.of(contents)
            verdict = _verdict(suggestion, known[1])
            if verdict != STILL_THERE:
                verdicts[number] = verdict, version
                del left[number]
        if not left:
            break
    return [verdicts[number] for number in sorted(verdicts)]


def _verdict(suggestion: Suggestion, functions: Functions) -> str:
    if suggestion.place not in functions.spans:
        return CHANGED
    lines = _lines(functions.function(suggestion.place))
    if _count(lines, suggestion.before) >= suggestion.times:
        return STILL_THERE
    return MENDED if suggestion.after and _count(lines, suggestion.after) else CHANGED


def _lines(text: bytes) -> Lines:
    """The tokens of each line that has any."""
    return tuple(found for line in text.split(b"\n") if (found := tuple(tokens(line))))


def _count(lines: Lines, wanted: Lines) -> int:
    """How often some lines follow one another."""
    size = len(wanted)
    return sum(lines[i : i + size] == wanted for i in range(len(lines) - size + 1))


@dataclass(frozen=True, kw_only=True)
class ReleaseFinding:
    """A finding in a release, and the text of its file before and after the suggested repair."""

    path: str
    line: int
    function: str
    kind: str
    tier: str
    confidence: float
    message: str
    text: str
    repaired: str


@dataclass(frozen=True)
class CheckedRelease:
    """The findings of all tiers in a release, and how many functions it has."""

    findings: tuple[ReleaseFinding, ...]
    functions: int


def confirm_packages(
    names: list[str], registry: Registry, day: str, check: Callable[[Archive], CheckedRelease]
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Check the newest release of each package from before a day, and follow its findings through later releases.

    Returns a row for each finding, and counts of packages, functions and later releases.
    """
    rows: list[dict[str, Any]] = []
    counts = {"packages": 0, "functions": 0, "later_releases": 0}
    with Progress("confirming", total=len(names), unit="packages", counted="findings") as progress:
        for name in names:
            try:
                done = _confirm(name, registry, day, check)
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


def count_verdicts(rows: Iterable[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """The number of findings by tier and verdict."""
    counts = Counter((row["tier"], row["verdict"]) for row in rows)
    return {tier: {verdict: counts[tier, verdict] for verdict in VERDICTS} for tier in TIERS}


@dataclass(frozen=True)
class _Confirmed:
    rows: list[dict[str, Any]]
    functions: int
    later: int


def _confirm(
    name: str, registry: Registry, day: str, check: Callable[[Archive], CheckedRelease]
) -> _Confirmed:
    releases = registry.releases(name).releases
    dates = registry.dates(name)
    old = [i for i, release in enumerate(releases) if dates.get(release.file, "9999") < day]
    if not old:
        raise CorpusError(f"it has no release from before {day}")
    chosen, later = releases[old[-1]], releases[old[-1] + 1 :]
    if not later:
        raise CorpusError(f"it has no release after {chosen.version}")
    checked = check(open_archive(chosen.file, registry.fetch(chosen)))
    pairs = [(found, Suggestion.of(found.path, found.text, found.repaired)) for found in checked.findings]
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
    return _Confirmed(rows, checked.functions, len(later))


def _archives(registry: Registry, releases: tuple[Release, ...]) -> Iterator[tuple[str, Archive]]:
    for release in releases:
        try:
            yield release.version, open_archive(release.file, registry.fetch(release))
        except CorpusError:
            continue  # the next release decides
