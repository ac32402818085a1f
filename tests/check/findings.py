"""Findings of which only the place and the rule matter."""

from hyperheat.report import FileEdit, Finding, Fix

_KINDS = {"HH101": "variable-misuse", "HH201": "argument-swap", "HH401": "literal"}


def make_finding(
    line: int, rule: str = "HH101", *, path: str = "a.py", end_line: int | None = None, column: int = 1
) -> Finding:
    end_line = end_line or line
    edit = FileEdit(line=line, column=column, end_line=end_line, end_column=column + 1, text="")
    return Finding(
        path=path,
        rule=rule,
        kind=_KINDS[rule],
        line=line,
        column=column,
        end_line=end_line,
        end_column=column + 1,
        function="f",
        message="",
        confidence=0.5,
        tier="A",
        fix=Fix((edit,)),
    )
