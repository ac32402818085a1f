"""A finding and what it depends on, as a text that appears beside the code: the same figures as `hyperheat explain`."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hyperheat.report.cause_marks import count_parts, describe_cause, number_causes
from hyperheat.report.finding import Finding
from hyperheat.report.finding_causes import FindingCauses
from hyperheat.report.rules import RULES
from hyperheat.visible_text import visible

__all__ = ["describe_finding"]

_MARKUP = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~&])")


def describe_finding(finding: Finding, *, markdown: bool) -> str:
    """A finding with all that is known about it."""
    style = _Style(_words, "**") if markdown else _Style(visible, "")
    lines = [*_finding(finding, style)]
    if finding.why is not None:
        lines += _why(finding.why, style)
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class _Style:
    """How words are written, in which code stands between backticks, and what makes them bold."""

    words: Callable[[str], str]
    bold: str


def _finding(finding: Finding, style: _Style) -> Iterator[str]:
    name = style.words(f"{finding.rule} {RULES[finding.rule].name}")
    yield f"{style.bold}{name}{style.bold}: {style.words(finding.message)}"
    yield ""
    yield f"T{finding.worth[1:]}."
    if finding.alternatives:
        yield from ("", "Other repairs:", "")
        for other in finding.alternatives:
            yield f"- {style.words(other.message)}"


def _why(why: FindingCauses, style: _Style) -> Iterator[str]:
    numbered = [cause for _, cause in number_causes(why)]
    causes, against = numbered[: len(why.causes)], numbered[len(why.causes) :]
    yield ""
    if not numbered:
        yield f"No single part of the function decides it: without any, the confidence stays near {why.confidence:.3f}."
    for title, some in (
        (f"Without one of these, the confidence of {why.confidence:.3f} falls to", causes),
        (f"Against it: without one of these, the confidence of {why.confidence:.3f} rises to", against),
    ):
        if some:
            yield from ("", title, "")
            yield from (f"- {cause.confidence:.3f} {style.words(describe_cause(cause))}" for cause in some)
    yield from ("", count_parts(why))


def _words(text: str) -> str:
    """Text that Markdown takes as it is, but for code between backticks."""
    parts = enumerate(re.split("`([^`]+)`", visible(text)))
    return "".join(f"`{part}`" if number % 2 else _MARKUP.sub(r"\\\1", part) for number, part in parts)
