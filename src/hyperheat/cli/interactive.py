"""Asking on a terminal which repairs to make, one by one."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from hyperheat.cli.outputs import colourful, put

if TYPE_CHECKING:
    from hyperheat.report import Finding, SourceText

__all__ = ["choose_repairs", "refuse_without_terminal"]

_ANSWERS = {
    "y": "make this repair",
    "n": "skip it",
    "a": "make this repair and all others in the file",
    "q": "skip it and all that follow; repairs already accepted are made",
}


def refuse_without_terminal() -> None:
    """Raise ValueError if there is nobody to answer."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ValueError("--interactive asks on a terminal, but standard input or output is not one")


def choose_repairs(findings: "Iterable[Finding]", sources: "Mapping[str, SourceText]") -> "Iterator[Finding]":
    """The findings whose repair is accepted; they must be sorted by path. The end of the input means q.

    A repair of a function is for the function as it was scanned, so there is no question about a second one.
    """
    left = list(findings)
    for path, group in groupby(left, key=lambda finding: finding.path):
        every = False
        repaired: set[str] = set()
        for finding in group:
            if finding.function in repaired:
                continue
            answer = "y" if every else _ask(finding, sources.get(path), left.index(finding) + 1, len(left))
            if answer == "q":
                return
            if answer != "n":
                every = answer == "a" or every
                repaired.add(finding.function)
                yield finding


def _ask(finding: "Finding", source: "SourceText | None", number: int, total: int) -> str:
    from hyperheat.report.text import render_finding

    put(render_finding(finding, source, colour=colourful(sys.stdout)), sys.stdout)
    while True:
        put(f"({number}/{total}) Make this repair? [y,n,a,q,?] ", sys.stdout)
        line = sys.stdin.readline()
        answer = line.strip().lower()[:1]
        if not line:
            put("\n", sys.stdout)
            return "q"
        if answer in _ANSWERS:
            put("\n", sys.stdout)
            return answer
        put("".join(f"{key} - {meaning}\n" for key, meaning in _ANSWERS.items()), sys.stdout)
