"""Code frames for people who read a terminal, and the summary of a scan."""

from collections import Counter
from collections.abc import Iterator, Mapping

from hyperheat.report.colours import painted
from hyperheat.report.finding import LEVELS, Finding, Report, ScanError, Summary
from hyperheat.report.listing import FrameLine, frame
from hyperheat.report.rules import RULES
from hyperheat.report.source import SourceText
from hyperheat.visible_text import columns, visible, visible_code, visible_line

__all__ = ["render", "render_finding", "summarise"]

_REST = "D"  # nearly every function has such a finding, so counting them says nothing


def render(report: Report, sources: Mapping[str, SourceText], *, colour: bool = False) -> str:
    """All findings with code frames, then the files that were not checked."""
    blocks = [
        render_finding(finding, sources.get(finding.source), colour=colour) for finding in report.findings
    ]
    errors = "".join(f"{_error(error, colour)}\n" for error in report.errors)
    return "\n".join([*blocks, errors] if errors else blocks)


def render_finding(finding: Finding, source: SourceText | None, *, colour: bool = False) -> str:
    """One finding: what, where, the code, the repair, and what else may be meant."""
    level = LEVELS[finding.tier]
    rule = painted(f"{finding.rule} {RULES[finding.rule].name}", level, colour=colour)
    sure = painted(f"[{finding.worth}]", "faint", colour=colour)
    lines = frame(finding, source) if source else ()
    gutter = max([len(str(line.number)) for line in lines if line.number] or [1])
    place = f"{visible(finding.source)}:{finding.line}:{finding.column}"
    shown = [
        f"{rule}: {painted(visible(finding.message), 'strong', colour=colour)}  {sure}",
        f"{' ' * gutter}--> {place} in {visible(finding.function)}",
    ]
    if lines:
        shown.append(painted(f"{'':>{gutter}} |", "faint", colour=colour))
        shown += [row for line in lines for row in _rows(line, gutter, level, colour)]
    for other in finding.alternatives:
        text = f"= or: {visible(other.message)}"
        shown.append(f"{' ' * gutter} {painted(text, 'faint', colour=colour)}")
    text = "".join(f"{row}\n" for row in shown)
    if finding.why is None:
        return text
    from hyperheat.report.cause_marks import render_why

    return f"{text}\n{render_why(finding, finding.why, source, colour=colour)}"


def summarise(report: Report, *, colour: bool = False, hints: bool = True) -> str:
    """What was checked, found, hidden and left out, in a few sentences for standard error.

    `hints` name options of `hyperheat check` that change it.
    """
    summary = report.summary
    took = "" if summary.seconds is None else f" in {summary.seconds:.1f} s"
    cached = f" ({summary.cached} cached)" if summary.cached else ""
    shown = Counter(finding.tier for finding in report.findings)
    found = ", ".join(f"{shown[tier]} in tier {tier}" for tier in LEVELS if shown[tier])
    sentences = [
        f"Checked {_count(summary.files, 'file')}, {_count(summary.functions, 'function')}{took}{cached}.",
        *_not_judged(summary),
        painted(
            f"{_count(len(report.findings), 'finding')}{f': {found}' if found else ''}.",
            "strong",
            colour=colour,
        ),
    ]
    hidden = ", ".join(
        f"{summary.hidden[tier]} in tier {tier}"
        for tier in LEVELS
        if summary.hidden.get(tier) and tier != _REST
    )
    if hidden:
        sentences.append(f"Hidden: {hidden}{' (--show-all)' if hints else ''}.")
    if summary.suppressed or summary.known:
        sentences.append(f"Not shown: {summary.suppressed} suppressed, {summary.known} in the baseline.")
    if summary.unrisen:
        hint = " (--absolute)" if hints else ""
        sentences.append(f"No more suspicious than before the change: {summary.unrisen}{hint}.")
    if report.errors:
        rules = Counter(error.rule for error in report.errors)
        counts = ", ".join(f"{rules[rule]} {RULES[rule].name.replace('-', ' ')}" for rule in sorted(rules))
        hint = " (--strict to fail)" if hints else ""
        sentences.append(painted(f"Not checked: {counts}{hint}.", "warning", colour=colour))
    return "".join(f"{line}\n" for line in (" ".join(sentences), *map(visible_line, summary.notes)))


def _not_judged(summary: Summary) -> Iterator[str]:
    """How many functions were not judged, and why."""
    if not summary.too_small and not summary.too_large:
        return
    reasons = [f"{summary.too_small} with fewer than {summary.min_candidates} candidate changes"]
    reasons += [f"{summary.too_large} too large"]
    counted = [reason for reason in reasons if not reason.startswith("0 ")]
    yield f"Not judged: {' and '.join(counted)}."


def _error(error: ScanError, colour: bool) -> str:
    place = visible(error.source) + (f":{error.line}" if error.line else "")
    rule = painted(f"{error.rule} {RULES[error.rule].name}", "warning", colour=colour)
    return f"{rule}: {place}: {visible(error.reason)}"


def _rows(line: FrameLine, gutter: int, level: str, colour: bool) -> Iterator[str]:
    before, marked, after = visible_code(line.before, line.marked, line.after)
    blank = " " if before or marked or after else ""
    if line.number is None:
        bar = painted(f"{'+':>{gutter}} |", "added", colour=colour)
        yield f"{bar}{blank}{before}{painted(marked, 'added', colour=colour)}{after}"
        return
    bar = painted(f"{line.number:>{gutter}} |", "faint", colour=colour)
    yield f"{bar}{blank}{before}{marked}{after}"
    if marked:
        bar = painted(f"{'':>{gutter}} |", "faint", colour=colour)
        yield f"{bar} {' ' * columns(before)}{painted('^' * max(columns(marked), 1), level, colour=colour)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
