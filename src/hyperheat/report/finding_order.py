"""A report in another order, or with the surest findings only."""

from dataclasses import replace

from hyperheat.report.finding import Report

__all__ = ["arrange"]


def arrange(report: Report, *, by_confidence: bool = False, top: int | None = None) -> Report:
    """The report with its surest findings first, or only so many of them; what is left out is counted in a note."""
    findings = sorted(report.findings, key=lambda finding: -finding.confidence)[:top]
    notes = report.summary.notes
    if len(findings) < len(report.findings):
        notes = (*notes, f"Showing the {len(findings)} surest of {len(report.findings)} findings (--top).")
    summary = replace(report.summary, notes=notes)
    return replace(report, findings=tuple(findings), summary=summary, by_confidence=by_confidence)
