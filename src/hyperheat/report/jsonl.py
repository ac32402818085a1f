"""The report as JSON lines, one object a line, told apart by `type`.

{"type": "report", "version", "model"}, then {"type": "finding", ...} and {"type": "error", ...} as in the JSON
document, at last {"type": "summary", ...}.
"""

from collections.abc import Mapping
from dataclasses import asdict

from hyperheat.report.finding import Report
from hyperheat.report.json import error_to_json, finding_to_json, summary_to_json
from hyperheat.report.source import SourceText
from hyperheat.visible_text import dump_json

__all__ = ["render"]


def render(report: Report, sources: Mapping[str, SourceText]) -> str:
    """One line for the run, one for each finding and each error, one for the summary."""
    lines = [
        {"type": "report", "version": report.version, "model": asdict(report.model)},
        *({"type": "finding"} | finding_to_json(finding) for finding in report.findings),
        *({"type": "error"} | error_to_json(error) for error in report.errors),
        {"type": "summary"} | summary_to_json(report),
    ]
    return "".join(f"{dump_json(line)}\n" for line in lines)
