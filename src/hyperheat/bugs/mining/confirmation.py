"""What became of findings: fixed by a later release exactly as suggested, changed otherwise, or still there.

A place is the whole lines that a suggested repair changes, in their function. The first later release whose version
of the function no longer has these lines as often as before decides: it is mended if the repaired lines have come in
their place. Comments, brackets, commas and layout do not count.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from hyperheat.bugs.mining.archive import Archive
from hyperheat.bugs.mining.prefilter import Functions, Place, tokens

__all__ = ["CHANGED", "MENDED", "STILL_THERE", "VERDICTS", "Suggestion", "follow"]

MENDED, CHANGED, STILL_THERE = "mended", "changed otherwise", "still there"
VERDICTS = (MENDED, CHANGED, STILL_THERE)

Lines = tuple[tuple[bytes, ...], ...]


@dataclass(frozen=True)
class Suggestion:
    """A repair that was suggested: the lines of a function that it changes, as tokens, and what it makes of them."""

    path: str
    place: Place
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
