"""The report as JSON: one document, or one object a line.

{"version", "model": {"name", "sha256"},
 "findings": [{"path", "cell", "rule", "kind", "line", "column", "end_line", "end_column", "function", "message",
               "confidence", "tier", "alarm_rate", "safe",
               "fix": {"edits": [{"line", "column", "end_line", "end_column", "text"}]},
               "alternatives": [{"kind", "message", "confidence", "fix"}], "previous", "why"}],
 "errors": [{"path", "cell", "rule", "line", "reason"}],
 "summary": {"files", "functions", "too_small", "too_large", "shown", "hidden", "suppressed", "known",
             "unrisen", "not_parsed", "skipped", "notes"}}

`line` of an error may be null. `cell` is null except in notebooks, where lines count from the start of the cell with that
number, the first of all cells being 1. `previous` is the confidence of a finding in the earlier version that --since
compares with, null if its place is new or nothing was compared. `shown` and `hidden` count findings per tier.

`alarm_rate` is the number of a finding: the
findings of its confidence or more per function of unedited real code, or null if that was not measured; its tier follows
from it. `confidence`, from 0 to 1, ranks findings; it is a probability only on code with planted bugs. `safe` says that
`hyperheat fix` makes the repair without --unsafe-fixes. Of `functions`, `too_small` and `too_large` were not judged.

With `--why`, a finding has "why": {"confidence", "causes": [cause, ...], "against": [cause, ...], "tried", "left_out"} if
that could be found out. A cause is {"kind", "text", "meaning", "places": [{"line", "column", "end_line", "end_column"}],
"confidence"}; its confidence is that of the finding without the cause. See `report/finding_causes.py`.

As lines, told apart by `type`: {"type": "report", "version", "model"}, then {"type": "finding", ...} and
{"type": "error", ...} as above, and {"type": "summary", ...} at the end.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict

from hyperheat.report.finding import LEVELS, Finding, Report, ScanError
from hyperheat.report.source import SourceText
from hyperheat.visible_text import dump_json

__all__ = ["render", "render_lines"]


def render(report: Report, sources: Mapping[str, SourceText]) -> str:
    """One JSON document; equal reports give equal text."""
    document = {
        "version": report.version,
        "model": asdict(report.model),
        "findings": [_finding(finding) for finding in report.findings],
        "errors": [_error(error) for error in report.errors],
        "summary": _summary(report),
    }
    return f"{dump_json(document, indent=2)}\n"


def render_lines(report: Report, sources: Mapping[str, SourceText]) -> str:
    """One line for the run, one for each finding and each error, one for the summary."""
    lines = [
        {"type": "report", "version": report.version, "model": asdict(report.model)},
        *({"type": "finding"} | _finding(finding) for finding in report.findings),
        *({"type": "error"} | _error(error) for error in report.errors),
        {"type": "summary"} | _summary(report),
    ]
    return "".join(f"{dump_json(line)}\n" for line in lines)


def _finding(finding: Finding) -> dict[str, object]:
    """A finding as the object that stands in the document."""
    alternatives = [
        asdict(other) | {"confidence": round(other.confidence, 3)} for other in finding.alternatives
    ]
    rate = None if finding.alarm_rate is None else round(finding.alarm_rate, 7)
    plain = asdict(finding) | {
        "confidence": round(finding.confidence, 3),
        "alarm_rate": rate,
        "alternatives": alternatives,
    }
    if finding.why is None:
        del plain["why"]
    del plain["file_line"]
    return {"path": plain.pop("path"), "cell": plain.pop("cell")} | plain


def _error(error: ScanError) -> dict[str, object]:
    """A scan error as the object that stands in the document."""
    return {
        "path": error.path,
        "cell": error.cell,
        "rule": error.rule,
        "line": error.line,
        "reason": error.reason,
    }


def _summary(report: Report) -> dict[str, object]:
    """The summary without what differs from run to run."""
    summary = report.summary
    tiers = Counter(finding.tier for finding in report.findings)
    rules = Counter(error.rule for error in report.errors)
    return {
        "files": summary.files,
        "functions": summary.functions,
        "too_small": summary.too_small,
        "too_large": summary.too_large,
        "shown": {tier: tiers[tier] for tier in LEVELS},
        "hidden": {tier: summary.hidden.get(tier, 0) for tier in LEVELS},
        "suppressed": summary.suppressed,
        "known": summary.known,
        "unrisen": summary.unrisen,
        "not_parsed": rules["HH900"],
        "skipped": rules["HH901"],
        "notes": list(summary.notes),
    }
