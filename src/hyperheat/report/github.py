"""Workflow commands, which GitHub shows beside the changed lines of a pull request."""

from collections.abc import Mapping

from hyperheat.report.finding import LEVELS, Finding, Report, ScanError
from hyperheat.report.rules import RULES
from hyperheat.report.source import SourceText
from hyperheat.visible_text import visible

__all__ = ["render"]

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report, sources: Mapping[str, SourceText]) -> str:
    """One line for each finding and each file that was not checked."""
    lines = [*map(_finding, report.findings), *map(_error, report.errors)]
    return "".join(f"{line}\n" for line in lines)


def _finding(finding: Finding) -> str:
    sure = finding.worth
    if finding.cell is not None:  # GitHub shows the file of a notebook
        place = {"line": finding.file_line or 1}
        sure = f"cell {finding.cell}, line {finding.line}, column {finding.column}; {sure}"
    else:
        place = {"line": finding.line, "endLine": finding.end_line}
        if finding.line == finding.end_line:  # GitHub refuses columns for more than one line
            place |= {"col": finding.column, "endColumn": finding.end_column}
    command = _COMMANDS[LEVELS[finding.tier]]
    return _command(command, finding.path, place, finding.rule, f"{finding.message} ({sure})")


def _error(error: ScanError) -> str:
    line = error.line if error.cell is None else error.file_line
    where = "" if error.cell is None else f" (cell {error.cell}, line {error.line or 1})"
    place = {} if line is None else {"line": line}
    return _command("warning", error.path, place, error.rule, f"{error.reason}{where}")


def _command(command: str, path: str, place: Mapping[str, int], rule: str, message: str) -> str:
    places = "".join(f",{name}={value}" for name, value in place.items())
    title = f"{rule} {RULES[rule].name}"
    return f"::{command} file={_property(path)}{places},title={title}::{_data(visible(message))}"


def _data(text: str) -> str:
    return text.replace("%", "%25")


def _property(text: str) -> str:
    r"""A value that the runner decodes unchanged, line ends included; other invisible characters are spelled out."""
    shown = "%0A".join("%0D".join(map(_data, map(visible, part.split("\r")))) for part in text.split("\n"))
    return shown.replace(":", "%3A").replace(",", "%2C")
