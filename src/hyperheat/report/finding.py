"""What a scan has to say, as plain data.

Places. Lines and columns count from 1, columns in characters (code points), and an end is the first place that is
no longer part. Lines end with a newline, a carriage return or both, as in Python; a byte order mark is not counted.

    line, column, end_line, end_column = 3, 8, 3, 12      the characters 8, 9, 10, 11 of the third line

In a notebook a place is one in a cell: `cell` is the cell's number among all cells, from 1, and lines are those of the
cell. `file_line` is then the line of the notebook's file, for programs that show that file.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hyperheat.alarm_rate import describe_rate
from hyperheat.report.rules import RULE_OF_KIND, RULES

if TYPE_CHECKING:
    from hyperheat.report.finding_causes import FindingCauses

__all__ = [
    "LEVELS",
    "Alternative",
    "FileEdit",
    "Finding",
    "Fix",
    "FunctionHeat",
    "HeatSpan",
    "InFile",
    "Model",
    "Report",
    "ScanError",
    "Summary",
    "sort_findings",
]

LEVELS = {"A": "error", "B": "warning", "C": "note", "D": "note"}
"""The tiers, best first, and how severe outputs with levels call them; D is what is only shown on request."""


class InFile:
    """Something that is in a file or, if `cell` is not None, in a cell of a notebook."""

    __slots__ = ()
    path: str
    cell: int | None

    @property
    def source(self) -> str:
        """The name of the text that it is in: `shop.py`, or `shop.ipynb:cell 3`."""
        return self.path if self.cell is None else f"{self.path}:cell {self.cell}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEdit:
    """Put `text` in place of what lies between two places of a file."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str

    def __post_init__(self) -> None:
        _check_places(self.line, self.column, self.end_line, self.end_column)


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits of one file, in order and without overlap, that belong together."""

    edits: tuple[FileEdit, ...]

    def __post_init__(self) -> None:
        ends = [(1, 1), *((edit.end_line, edit.end_column) for edit in self.edits)]
        starts = [(edit.line, edit.column) for edit in self.edits]
        if not self.edits or any(start < end for start, end in zip(starts, ends, strict=False)):
            raise ValueError(f"expected edits in order and without overlap, got {self.edits}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Another repair for the same finding, less likely than the suggested one."""

    kind: str
    message: str
    confidence: float
    fix: Fix

    def __post_init__(self) -> None:
        _check_share("confidence", self.confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(InFile):
    """One suspected bug: where, what in plain words, how sure, and the suggested repair.

    `path` is relative to the root of the scan, with forward slashes. `function` is the qualified name of the
    outermost function around it. `alternatives` come most likely first. `previous` is the confidence that it had in the
    earlier version that it was compared with; None if its place is new or there was no comparison. `why` is what it
    depends on, if that was asked.

    `alarm_rate` says how far to trust it: findings of this confidence or more for each function of real code, as it was
    measured; None if it was not. `confidence` ranks findings. `safe` says that `hyperheat fix` repairs it without being
    told to.
    """

    path: str
    rule: str
    kind: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str
    message: str
    confidence: float
    tier: str
    alarm_rate: float | None = None
    safe: bool = False
    fix: Fix
    alternatives: tuple[Alternative, ...] = ()
    previous: float | None = None
    why: "FindingCauses | None" = None
    cell: int | None = None
    file_line: int | None = None

    @property
    def worth(self) -> str:
        """The tier and what it was measured to mean, as every output says it; and how confidence has changed, if it has."""
        change = (
            "" if self.previous is None else f", confidence {self.confidence:.3f}, {self.previous:.3f} before"
        )
        return f"tier {self.tier}, {describe_rate(self.alarm_rate)}{change}"

    def __post_init__(self) -> None:
        _check_places(self.line, self.column, self.end_line, self.end_column)
        _check_share("confidence", self.confidence)
        if self.previous is not None:
            _check_share("previous confidence", self.previous)
        if self.alarm_rate is not None and not 0 < self.alarm_rate <= 1:
            raise ValueError(f"expected alarms per function, above 0 and at most 1, got {self.alarm_rate}")
        if RULE_OF_KIND.get(self.kind) != self.rule:
            pairs = ", ".join(f"{rule} {kind}" for kind, rule in RULE_OF_KIND.items())
            raise ValueError(f"expected a rule and a kind of {pairs}; got {self.rule} {self.kind}")
        if self.tier not in LEVELS:
            raise ValueError(f"expected a tier of {', '.join(LEVELS)}; got {self.tier!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanError(InFile):
    """A file, or a part of it, that was not checked: HH900 (not parsed) or HH901 (skipped)."""

    path: str
    rule: str
    reason: str
    line: int | None = None
    cell: int | None = None
    file_line: int | None = None

    def __post_init__(self) -> None:
        expected = [rule.id for rule in RULES.values() if not rule.kinds]
        if self.rule not in expected:
            raise ValueError(f"expected a rule of {', '.join(expected)}; got {self.rule!r}")
        if self.line is not None:
            _check_places(self.line, 1, self.line, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What was checked, and what is not among the findings.

    `functions` counts all that were read; `too_small` and `too_large` those that were not judged: fewer candidate changes
    than `min_candidates`, or over a limit. `hidden` counts findings per tier that is not shown, `suppressed` those with a
    comment in the code, `known` those in the baseline file, `unrisen` those
    that were as suspicious in the earlier version. `notes` are sentences for the reader, such as where a
    threshold comes from. `cached` and `seconds` differ from run to run, so only the summary on the terminal shows them.
    """

    files: int
    functions: int
    too_small: int = 0
    too_large: int = 0
    min_candidates: int = 0
    hidden: Mapping[str, int] = field(default_factory=dict)
    suppressed: int = 0
    known: int = 0
    unrisen: int = 0
    notes: tuple[str, ...] = ()
    cached: int = 0
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatSpan:
    """How suspicious the code between two places is, from 0 to 1."""

    line: int
    column: int
    end_line: int
    end_column: int
    suspicion: float

    def __post_init__(self) -> None:
        _check_places(self.line, self.column, self.end_line, self.end_column)
        _check_share("suspicion", self.suspicion)


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionHeat(InFile):
    """The heat map of one function, which takes the lines from `line` to `end_line`, the latter included.

    Where heats overlap the greatest counts.
    """

    path: str
    function: str
    line: int
    end_line: int
    heats: tuple[HeatSpan, ...]
    cell: int | None = None

    def __post_init__(self) -> None:
        _check_places(self.line, 1, self.end_line, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """Which model file found it."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All that a scan has to say, in the order of places; findings by their confidence if `by_confidence`."""

    version: str
    model: Model
    findings: tuple[Finding, ...]
    errors: tuple[ScanError, ...] = ()
    summary: Summary
    heat: tuple[FunctionHeat, ...] = ()
    by_confidence: bool = False

    def __post_init__(self) -> None:
        findings = sort_findings(self.findings)
        if self.by_confidence:
            findings = sorted(findings, key=lambda finding: -finding.confidence)
        errors = sorted(
            self.errors,
            key=lambda error: (error.path, error.cell or 0, error.line or 0, error.rule, error.reason),
        )
        heat = sorted(self.heat, key=lambda heat: (heat.path, heat.cell or 0, heat.line, heat.function))
        for name, value in (("findings", findings), ("errors", errors), ("heat", heat)):
            object.__setattr__(self, name, tuple(value))


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings in the order of a report."""
    return tuple(sorted(findings, key=_order_of_findings))


def _order_of_findings(finding: Finding) -> tuple[str | int, ...]:
    start, end = (finding.line, finding.column), (finding.end_line, finding.end_column)
    return (finding.path, finding.cell or 0, *start, finding.rule, *end, finding.message)


def _check_places(line: int, column: int, end_line: int, end_column: int) -> None:
    if min(line, column, end_line, end_column) < 1 or (end_line, end_column) < (line, column):
        raise ValueError(
            "expected lines and columns from 1 and an end that is not before the start, "
            f"got {line}:{column} to {end_line}:{end_column}"
        )


def _check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"expected a {name} from 0 to 1, got {value}")
