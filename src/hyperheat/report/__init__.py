"""Findings and what people and programs get to see of them.

report = Report(version=..., model=Model(...), findings=(Finding(...),), summary=Summary(files=1, functions=3))
text = FORMATS["sarif"](report, {"src/a.py": SourceText(source)})

Rendering is a pure function of its arguments: equal reports and sources give equal text, ready to be written as UTF-8.
"""

from collections.abc import Callable, Mapping

from hyperheat.report import github, html, json, jsonl, junit, sarif, text
from hyperheat.report.finding import (
    LEVELS,
    Alternative,
    FileEdit,
    Finding,
    Fix,
    FunctionHeat,
    Heat,
    Model,
    Report,
    ScanError,
    Summary,
)
from hyperheat.report.fingerprint import fingerprints
from hyperheat.report.rules import RULE_OF_KIND, RULES, Rule
from hyperheat.report.source import SourceText
from hyperheat.report.text import summarise

__all__ = [
    "FORMATS",
    "LEVELS",
    "RULES",
    "RULE_OF_KIND",
    "Alternative",
    "FileEdit",
    "Finding",
    "Fix",
    "FunctionHeat",
    "Heat",
    "Model",
    "Report",
    "Rule",
    "ScanError",
    "SourceText",
    "Summary",
    "fingerprints",
    "summarise",
]

FORMATS: dict[str, Callable[[Report, Mapping[str, SourceText]], str]] = {
    "text": text.render,
    "json": json.render,
    "jsonl": jsonl.render,
    "sarif": sarif.render,
    "github": github.render,
    "junit": junit.render,
    "html": html.render,
}
"""What writes a report in each format, given the text of every file with findings or heat maps by path."""
