"""All formats of a report.

Rendering is a pure function of its arguments: equal reports and sources give equal text, ready to be written as UTF-8.
"""

from collections.abc import Callable, Mapping

from hyperheat.report import github, html, json, junit, sarif, text
from hyperheat.report.finding import Report
from hyperheat.report.source import SourceText

__all__ = ["FORMATS"]

FORMATS: dict[str, Callable[[Report, Mapping[str, SourceText]], str]] = {
    "text": text.render,
    "json": json.render,
    "jsonl": json.render_lines,
    "sarif": sarif.render,
    "github": github.render,
    "junit": junit.render,
    "html": html.render,
}
"""What writes a report in each format, given the text of every file with findings or heat maps by path."""
