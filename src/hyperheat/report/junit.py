"""JUnit XML, for build services that show test results: a suite for each file, a failed test for each finding."""

from collections.abc import Mapping
from itertools import groupby
from xml.etree import ElementTree

from hyperheat.report.finding import Finding, Report, ScanError
from hyperheat.report.rules import RULES
from hyperheat.report.source import SourceText
from hyperheat.report.text import render_finding
from hyperheat.visible_text import visible

__all__ = ["render"]


def render(report: Report, sources: Mapping[str, SourceText]) -> str:
    """Findings are failures, unparsed files errors, skipped ones skipped; without any of them one test passes."""
    root = ElementTree.Element("testsuites", name="hyperheat")
    found = sorted([*report.findings, *report.errors], key=lambda item: item.path)
    for path, items in groupby(found, key=lambda item: item.path):
        suite = ElementTree.SubElement(root, "testsuite", name=visible(path))
        for item in items:
            if isinstance(item, Finding):
                _add_finding(suite, item, sources.get(item.source))
            else:
                _add_error(suite, item)
    if not found:
        suite = ElementTree.SubElement(root, "testsuite", name="hyperheat")
        ElementTree.SubElement(suite, "testcase", classname="hyperheat", name="no findings")
    for element in (*root, root):
        for attribute, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
            element.set(attribute, str(sum(1 for _ in element.iter(tag))))
        element.set("skipped", str(sum(1 for _ in element.iter("skipped"))))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="us-ascii").decode("ascii")
    return f"{text}\n"


def _add_finding(suite: ElementTree.Element, finding: Finding, source: SourceText | None) -> None:
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    name = f"{finding.rule} {finding.function}:{cell}{finding.line}:{finding.column}"
    case = _add_case(suite, finding.path, name, finding.file_line or finding.line)
    failure = ElementTree.SubElement(case, "failure", type=finding.rule, message=visible(finding.message))
    failure.text = f"\n{render_finding(finding, source)}"


def _add_error(suite: ElementTree.Element, error: ScanError) -> None:
    cell = "" if error.cell is None else f" in cell {error.cell}"
    name = f"{error.rule} {RULES[error.rule].name}{cell}"
    case = _add_case(suite, error.path, name, error.file_line or error.line or 1)
    tag = "skipped" if error.rule == "HH901" else "error"
    ElementTree.SubElement(case, tag, type=error.rule, message=visible(error.reason))


def _add_case(suite: ElementTree.Element, path: str, name: str, line: int) -> ElementTree.Element:
    shown = visible(path)
    return ElementTree.SubElement(
        suite, "testcase", classname=shown, name=visible(name), file=shown, line=str(line)
    )
