"""Patterns with the meaning that git gives them in a .gitignore file.

Patterns are compared byte by byte, as git does: `?` is one byte. The last pattern that matches decides; one that begins
with `!` includes the path again. Matching takes time proportional to the length of the pattern times that of the path, for
every pattern. Most patterns are plain names or endings; these are looked up all at once.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

__all__ = ["Globs", "Pattern"]

_SPECIAL = b"*?[\\"
_ALL = (1 << 256) - 1  # bytes as a set of bits
_SLASH = 1 << ord("/")
_LONGEST = 10_000  # no path that can be opened is as long
_CLASSES = {
    b"alnum": bytes.isalnum,
    b"alpha": bytes.isalpha,
    b"blank": lambda one: one in b" \t",
    b"cntrl": lambda one: one < b" " or one == b"\x7f",
    b"digit": bytes.isdigit,
    b"graph": lambda one: b"!" <= one <= b"~",
    b"lower": bytes.islower,
    b"print": lambda one: b" " <= one <= b"~",
    b"punct": lambda one: b"!" <= one <= b"~" and not one.isalnum(),
    b"space": lambda one: one in b" \t\n\r\v\f",
    b"upper": bytes.isupper,
    b"xdigit": lambda one: one in b"0123456789abcdefABCDEF",
}


class _Malformed(ValueError):
    """A pattern that matches nothing, such as an unclosed bracket."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One place of a pattern: the bytes that lead on, those that may be repeated here, and whether it may be left out."""

    moves: int = 0
    repeats: int = 0
    optional: bool = False


class _Automaton:
    """All ways to fit a pattern, followed at once: bit i of a state is set while step i may come next."""

    def __init__(self, steps: list[_Step]) -> None:
        self._steps = steps
        self._optional = _bits(step.optional for step in steps)
        self._leads_on = _bits(bool(step.moves) for step in steps)
        self._shortest = sum(not step.optional for step in steps)
        self._of_byte: dict[int, tuple[int, int]] = {}

    def fits(self, text: bytes) -> bool:
        if len(text) < self._shortest:
            return False
        state = self._skip(1)
        for byte in text:
            moves, repeats = self._of_byte.get(byte) or self._learn(byte)
            moved, stayed = (state & moves) << 1, state & repeats
            # A star may be left after it took something; `**/` must end with its slash.
            state = stayed | self._skip(moved | stayed & ~self._leads_on)
            if not state:
                return False
        return bool(state >> len(self._steps))

    def _learn(self, byte: int) -> tuple[int, int]:
        moves = _bits(step.moves >> byte & 1 for step in self._steps)
        self._of_byte[byte] = moves, _bits(step.repeats >> byte & 1 for step in self._steps)
        return self._of_byte[byte]

    def _skip(self, state: int) -> int:
        while (more := state | (state & self._optional) << 1) != state:
            state = more
        return state


@dataclass(frozen=True)
class Pattern:
    """One line of a .gitignore file."""

    glob: bytes
    negated: bool = False
    folders_only: bool = False

    @classmethod
    def read(cls, line: bytes) -> "Pattern | None":
        """The pattern of a line without its line end; None for blank lines and comments."""
        if line.startswith(b"#"):
            return None
        glob = _without_trailing_blanks(line)
        negated = glob.startswith(b"!")
        glob = glob[negated:]
        folders_only = glob.endswith(b"/")
        glob = glob[: len(glob) - folders_only]
        return cls(glob, negated, folders_only) if glob else None

    def fits(self, path: bytes, *, folder: bool) -> bool:
        """Whether the pattern matches a path relative to its folder."""
        if self.folders_only and not folder:
            return False
        if b"/" not in self.glob:
            path = path.rpartition(b"/")[2]
        start, rest = self._start, self._rest
        return path.startswith(start) and rest is not None and rest.fits(path[len(start) :])

    @property
    def name(self) -> bytes | None:
        """The name that a file or folder must have, wherever it is, if that is all that the pattern says."""
        return None if b"/" in self.glob or _special(self.glob) else self.glob

    @property
    def path(self) -> bytes | None:
        """The path that a file or folder must have, if that is all that the pattern says."""
        return self.glob.removeprefix(b"/") if b"/" in self.glob and not _special(self.glob) else None

    @property
    def ending(self) -> bytes | None:
        """How the name of a file or folder must end, if that is all that the pattern says."""
        end = self.glob[1:]
        return end if self.glob[:1] == b"*" and end and b"/" not in end and not _special(end) else None

    @cached_property
    def _start(self) -> bytes:
        """What stands before the first special sign."""
        glob = self.glob[self.glob.startswith(b"/") :]
        return glob[: min((at for sign in _SPECIAL if (at := glob.find(sign)) >= 0), default=len(glob))]

    @cached_property
    def _rest(self) -> _Automaton | None:
        glob = self.glob[self.glob.startswith(b"/") :]
        try:
            # git compares the start on its own, so that `**` right behind it counts as if it began the pattern.
            return _Automaton(_compile(glob[len(self._start) :]))
        except _Malformed:
            return None


@dataclass(frozen=True)
class Globs:
    """Patterns and the folder that they are relative to, an absolute path."""

    base: bytes
    patterns: tuple[Pattern, ...]

    @classmethod
    def of(cls, globs: Iterable[str], base: str | os.PathLike[str]) -> "Globs":
        """Patterns given one by one, as in settings."""
        return cls.read(b"\n".join(map(os.fsencode, globs)), base)

    @classmethod
    def read(cls, text: bytes, base: str | os.PathLike[str]) -> "Globs":
        """The patterns of the text of a .gitignore file."""
        lines = text.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        found = (Pattern.read(line.removesuffix(b"\r")) for line in lines)
        folder = os.fsencode(Path(base).as_posix()).rstrip(b"/")
        return cls(folder, tuple(pattern for pattern in found if pattern is not None))

    def verdict(self, path: bytes, *, folder: bool) -> bool | None:
        """Whether a path, given as an absolute one, is left out (True) or taken back (False); None if nothing fits."""
        if not path.startswith(self.base + b"/"):
            return None
        inside = path[len(self.base) + 1 :]
        last = self._table.last(inside, folder=folder)
        for index, pattern in self._table.others:
            if index < last:
                break
            if pattern.fits(inside, folder=folder):
                last = index
                break
        return None if last < 0 else not self.patterns[last].negated

    @cached_property
    def _table(self) -> "_Table":
        return _Table(self.patterns)

    def cover(self, path: Path) -> bool:
        """Whether a file, given by its absolute path, or a folder around it is left out."""
        whole = os.fsencode(path.as_posix())
        ends = [at for at in range(len(self.base) + 1, len(whole)) if whole[at] == ord("/")]
        return any(self.verdict(whole[:end], folder=True) for end in ends) or bool(
            self.verdict(whole, folder=False)
        )


class _Table:
    """Patterns by what they say: names, paths and endings to look up, and the others with their indices, last first."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self.others: list[tuple[int, Pattern]] = []
        self._names: dict[tuple[bool, bytes], int] = {}
        self._paths: dict[tuple[bool, bytes], int] = {}
        self._endings: dict[tuple[bool, bytes], int] = {}
        for index, pattern in enumerate(patterns):
            for table, text in (
                (self._names, pattern.name),
                (self._paths, pattern.path),
                (self._endings, pattern.ending),
            ):
                if text is not None:
                    table[pattern.folders_only, text] = index
                    break
            else:
                self.others.append((index, pattern))
        self.others.reverse()

    def last(self, path: bytes, *, folder: bool) -> int:
        """The index of the last matching pattern among those that can be looked up, -1 if none matches."""
        name = path.rpartition(b"/")[2]
        last = -1
        for folders_only in (False, True) if folder else (False,):
            last = max(
                last, self._names.get((folders_only, name), -1), self._paths.get((folders_only, path), -1)
            )
            if self._endings:
                ends = (self._endings.get((folders_only, name[at:]), -1) for at in range(len(name)))
                last = max(last, *ends, -1)
        return last


def _without_trailing_blanks(line: bytes) -> bytes:
    """The line without blanks at its end, but for one behind a backslash."""
    shorn = line.rstrip(b" ")
    escaped = (len(shorn) - len(shorn.rstrip(b"\\"))) % 2
    return line[: len(shorn) + escaped]


def _special(glob: bytes) -> bool:
    return any(sign in glob for sign in _SPECIAL)


_LITERALS = [_Step(1 << byte) for byte in range(256)]  # shared, since a pattern may have many


def _compile(glob: bytes) -> list[_Step]:
    if len(glob) > _LONGEST:
        raise _Malformed
    steps: list[_Step] = []
    at = 0
    while at < len(glob):
        sign = glob[at : at + 1]
        if sign == b"*":
            at = _stars(glob, at, steps)
        elif sign == b"[":
            chosen, at = _bracket(glob, at + 1)
            steps.append(_Step(chosen & ~_SLASH))
        elif sign == b"?":
            steps.append(_Step(_ALL & ~_SLASH))
            at += 1
        else:
            at += sign == b"\\"
            if at == len(glob):
                raise _Malformed
            steps.append(_LITERALS[glob[at]])
            at += 1
    return steps


def _stars(glob: bytes, start: int, steps: list[_Step]) -> int:
    """Add the steps of one or more stars; the place behind them."""
    at = start
    while glob[at : at + 1] == b"*":
        at += 1
    behind = glob[at : at + 2]
    whole_parts = start == 0 or glob[start - 1 : start] == b"/"
    if at - start == 1 or not whole_parts or (behind and behind[:1] != b"/" and behind != b"\\/"):
        step = _Step(repeats=_ALL & ~_SLASH, optional=True)
    elif behind[:1] == b"/":  # nothing at all, or anything that ends with a slash
        step = _Step(moves=_SLASH, repeats=_ALL, optional=True)
        at += 1
    else:
        step = _Step(repeats=_ALL, optional=True)
    if steps[-1:] != [step]:  # `**/**/` is `**/`
        steps.append(step)
    return at


def _bits(flags: Iterable[bool | int]) -> int:
    return int("".join("1" if flag else "0" for flag in flags)[::-1] or "0", 2)


def _bracket(glob: bytes, at: int) -> tuple[int, int]:
    """The bytes that a bracket fits, as a set of bits, and the place behind it."""
    negated = glob[at : at + 1] in (b"!", b"^") and at < len(glob)
    at += negated
    chosen, low, first = 0, None, True
    while first or glob[at : at + 1] != b"]":
        first = False
        sign = glob[at : at + 1]
        if glob[at : at + 2] == b"[:" and (named := _named_class(glob, at)) is not None:
            members, at = named
            chosen, low = chosen | members, None
        elif sign == b"-" and low is not None and glob[at + 1 : at + 2] not in (b"", b"]"):
            high, at = _literal(glob, at + 1)
            chosen |= sum(1 << byte for byte in range(low, high + 1))
            low = None
        else:
            low, at = _literal(glob, at)
            chosen |= 1 << low
    return (_ALL & ~chosen if negated else chosen), at + 1


def _literal(glob: bytes, at: int) -> tuple[int, int]:
    at += glob[at : at + 1] == b"\\"
    if at >= len(glob):
        raise _Malformed
    return glob[at], at + 1


def _named_class(glob: bytes, at: int) -> tuple[int, int] | None:
    """The bytes of a class such as `[:alpha:]`; None if it is none but a set that holds a bracket and a colon."""
    end = glob.find(b"]", at + 2)
    if end < 0:
        raise _Malformed
    if end < at + 3 or glob[end - 1 : end] != b":":
        return None
    belongs = _CLASSES.get(glob[at + 2 : end - 1])
    if belongs is None:
        raise _Malformed
    return sum(1 << byte for byte in range(128) if belongs(bytes([byte]))), end + 1
