"""SARIF 2.1.0, the exchange format of static analysis: for code scanning services, editors and reviewers.

One run, minified. `rank` orders results; how far to trust one is in its message, and in `alarmRate` as a number. Columns
count code points, and a carriage return alone ends a line too; both are declared. Paths are
relative to `%SRCROOT%`. Files that were not checked are notifications of the invocation. A place in a
notebook is a line of its file, with the cell and the place in it among the properties, and without a fix.
"""

from collections.abc import Mapping

from hyperheat.report.finding import LEVELS, FileEdit, Finding, Report, ScanError
from hyperheat.report.fingerprint import fingerprints
from hyperheat.report.rules import RULES, Rule
from hyperheat.report.source import SourceText
from hyperheat.visible_text import dump_json, uri, visible

__all__ = ["render"]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES = [rule for rule in RULES.values() if rule.kinds]
_NOTIFICATIONS = [rule for rule in RULES.values() if not rule.kinds]

_Object = dict[str, object]


def render(report: Report, sources: Mapping[str, SourceText]) -> str:
    """One SARIF document; equal reports give equal text."""
    names = fingerprints(report.findings, sources)
    run = {
        "tool": {
            "driver": {
                "name": "hyperheat",
                "version": report.version,
                "rules": [_descriptor(rule) for rule in _RULES],
                "notifications": [_descriptor(rule) for rule in _NOTIFICATIONS],
                "properties": {"model": report.model.name, "modelSha256": report.model.sha256},
            }
        },
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [_notification(error) for error in report.errors],
            }
        ],
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "results": [_result(finding, name) for finding, name in zip(report.findings, names, strict=True)],
    }
    return f"{dump_json({'$schema': _SCHEMA, 'version': '2.1.0', 'runs': [run]})}\n"


def _descriptor(rule: Rule) -> _Object:
    return {
        "id": rule.id,
        "name": rule.name.title().replace("-", ""),
        "shortDescription": _message(rule.summary),
        "fullDescription": _message(rule.help),
        "help": _message(rule.help),
        "defaultConfiguration": {"level": "warning"},
    }


def _result(finding: Finding, fingerprint: str) -> _Object:
    in_cell = finding.cell is not None
    result: _Object = {
        "ruleId": finding.rule,
        "ruleIndex": [rule.id for rule in _RULES].index(finding.rule),
        "level": LEVELS[finding.tier],
        "rank": round(100 * finding.confidence, 1),
        "message": _message(f"{finding.message} ({finding.worth})"),
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": _artifact(finding.path),
                    "region": {"startLine": finding.file_line or 1} if in_cell else _region(finding),
                },
                "logicalLocations": [{"fullyQualifiedName": visible(finding.function), "kind": "function"}],
            }
        ],
        "partialFingerprints": {"hyperheatFinding/v1": fingerprint},
        "fixes": [_fix(finding)],
        "properties": {
            "kind": finding.kind,
            "tier": finding.tier,
            "alarmRate": None if finding.alarm_rate is None else round(finding.alarm_rate, 7),
            "safe": finding.safe,
        }
        | ({} if finding.previous is None else {"previousConfidence": finding.previous})
        | ({"cell": finding.cell, "regionInCell": _region(finding)} if in_cell else {}),
    }
    if in_cell:
        del result["fixes"]
    return result


def _fix(finding: Finding) -> _Object:
    replacements = [
        {"deletedRegion": _region(edit), "insertedContent": {"text": edit.text}} for edit in finding.fix.edits
    ]
    change = {"artifactLocation": _artifact(finding.path), "replacements": replacements}
    return {"description": _message(finding.message), "artifactChanges": [change]}


def _notification(error: ScanError) -> _Object:
    place: _Object = {"artifactLocation": _artifact(error.path)}
    line = error.line if error.cell is None else error.file_line
    if line is not None:
        place["region"] = {"startLine": line}
    cell = {} if error.cell is None else {"properties": {"cell": error.cell, "lineInCell": error.line}}
    return {
        **cell,
        "descriptor": {"id": error.rule, "index": [rule.id for rule in _NOTIFICATIONS].index(error.rule)},
        "level": "warning",
        "message": _message(error.reason),
        "locations": [{"physicalLocation": place}],
    }


def _artifact(path: str) -> _Object:
    return {"uri": uri(path)} if path.startswith("/") else {"uri": uri(path), "uriBaseId": "%SRCROOT%"}


def _region(place: Finding | FileEdit) -> _Object:
    return {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }


def _message(text: str) -> _Object:
    """A message in which braces are no placeholders and brackets no links."""
    shown = visible(text).replace("{", "{{").replace("}", "}}")
    return {"text": shown.replace("](", "\\](")}
