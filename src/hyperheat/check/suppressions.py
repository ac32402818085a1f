"""Comments that suppress findings.

    x = a - a  # hyperheat: ignore                     all rules
    x = a - a  # hyperheat: ignore[HH101, HH302] why   these rules
    # hyperheat: ignore-file[HH401]                    these rules in the whole file; without brackets all of them
    x = a - a  # noqa: E501, HH101                     of a list for several tools, our rules
    x = a - a  # noqa                                  all rules

A comment covers its own line and the first line of its statement, since a statement of several lines often has room for a
comment only at its end. A finding is suppressed if any of its lines is covered.
"""

import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hyperheat.report.rules import RULES
from hyperheat.report.source import SourceText

if TYPE_CHECKING:
    from hyperheat.report.finding import Finding

__all__ = ["Suppressed", "Suppression", "UnusedSuppression", "find_suppressions", "suppress"]

_OURS = re.compile(r"#\s*hyperheat\s*:\s*(?P<word>[\w-]*)\s*(?:\[(?P<rules>[^\]]*)\])?")
_NOQA = re.compile(r"#\s*noqa\b(?:\s*:\s*(?P<rules>[A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*))?", re.IGNORECASE)
_HINT = re.compile(r"#\s*(hyperheat\s*:|noqa)", re.IGNORECASE)  # without it a file is not worth its tokens
_BETWEEN_STATEMENTS = {tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
_RULES = frozenset(rule.id for rule in RULES.values() if rule.kinds)
_WORDS = ("ignore", "ignore-file")


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """One comment: its position, and the lines and rules that it applies to; None means all of them.

    `problem` describes a mistake in the comment. A bare `# noqa`, which may be for another tool, is not `expected_to_work`:
    it is never reported as unused.
    """

    line: int
    column: int
    lines: frozenset[int] | None
    rules: tuple[str, ...] | None
    expected_to_work: bool = True
    problem: str | None = None

    def covers(self, finding: "Finding") -> bool:
        """Whether the comment is for the place and the rule of a finding."""
        if self.rules is not None and finding.rule not in self.rules:
            return False
        return self.lines is None or any(finding.line <= line <= finding.end_line for line in self.lines)


@dataclass(frozen=True, slots=True, order=True)
class UnusedSuppression:
    """A comment that keeps nothing quiet, and why."""

    line: int
    column: int
    reason: str


@dataclass(frozen=True, slots=True)
class Suppressed:
    """The findings of a file that are reported, those that are suppressed, and the comments that suppress nothing."""

    shown: "tuple[Finding, ...]"
    quiet: "tuple[Finding, ...]"
    unused: tuple[UnusedSuppression, ...]


def find_suppressions(source: SourceText) -> tuple[Suppression, ...]:
    """The comments of a file in order; those before the first error if it cannot be tokenized."""
    if not _HINT.search(source.text):
        return ()
    found = []
    for line, column, comment, statement in _comments(source.text):
        lines = frozenset({line, statement})
        for match in _OURS.finditer(comment):
            found.append(_ours(match, line, column + match.start(), lines))
        for match in _NOQA.finditer(comment):
            rules = _known(match["rules"]) if match["rules"] else None
            if rules != ():  # otherwise the comment is for other tools
                found.append(
                    Suppression(
                        line=line,
                        column=column + match.start(),
                        lines=lines,
                        rules=rules,
                        expected_to_work=rules is not None,
                    )
                )
    return tuple(found)


def suppress(
    findings: "Iterable[Finding]", suppressions: Iterable[Suppression], *, rules: Iterable[str]
) -> Suppressed:
    """Sort the findings of one file by what its comments say.

    Give the findings of all tiers, and the rules that were looked for: a comment for another rule may be needed
    in another run, so it is not called unused.
    """
    findings, suppressions, rules = tuple(findings), tuple(suppressions), frozenset(rules)
    if not suppressions:
        return Suppressed(findings, (), ())
    quiet = {f for f in findings if any(suppression.covers(f) for suppression in suppressions)}
    unused = [place for suppression in suppressions for place in _unused(suppression, quiet, rules)]
    return Suppressed(
        tuple(f for f in findings if f not in quiet),
        tuple(f for f in findings if f in quiet),
        tuple(sorted(unused)),
    )


def _ours(match: re.Match[str], line: int, column: int, lines: frozenset[int]) -> Suppression:
    word, written = match["word"], match["rules"]
    rules, problem = None if written is None else _known(written), None
    if word not in _WORDS:
        rules, problem = (), f"expected `hyperheat: ignore` or `hyperheat: ignore-file`, got {word!r}"
    elif written is not None and (
        strange := [rule for rule in _split(written) or [""] if rule not in _RULES]
    ):
        problem = f"expected rules such as HH101, got {strange[0]!r}"
    whole_file = word == "ignore-file"
    return Suppression(
        line=line, column=column, lines=None if whole_file else lines, rules=rules, problem=problem
    )


def _unused(
    suppression: Suppression, quiet: "set[Finding]", checked: frozenset[str]
) -> Iterator[UnusedSuppression]:
    place = suppression.line, suppression.column
    if suppression.problem:
        yield UnusedSuppression(*place, suppression.problem)
    if not suppression.expected_to_work:
        return
    used = {finding.rule for finding in quiet if suppression.covers(finding)}
    if suppression.rules is None:
        if not used and checked >= _RULES:
            yield UnusedSuppression(*place, "no finding here")
        return
    for rule in suppression.rules:
        if rule in checked and rule not in used:
            yield UnusedSuppression(*place, f"no {rule} here")


def _known(written: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(rule for rule in _split(written) if rule in _RULES))


def _split(written: str) -> list[str]:
    return [part.upper() for part in re.split(r"[\s,]+", written) if part]


def _comments(text: str) -> Iterator[tuple[int, int, str, int]]:
    """Line and column of each comment, its text, and the first line of the statement that it belongs to."""
    lines = io.StringIO(text.removeprefix("\ufeff"), newline=None)
    statement = None
    try:
        for token in tokenize.generate_tokens(lines.readline):
            line, column = token.start
            if token.type == tokenize.COMMENT:
                yield line, column + 1, token.string, statement or line
            elif token.type == tokenize.NEWLINE:
                statement = None
            elif statement is None and token.type not in _BETWEEN_STATEMENTS:
                statement = line
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError):
        return
