"""Places in the code of all cells of a notebook as places in single cells, as reports show them."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from hyperheat.check.records import CellRecord
from hyperheat.report.finding import FileEdit, Finding, Fix, FunctionHeat, HeatSpan, ScanError

if TYPE_CHECKING:
    from hyperheat.report.finding_causes import CodeCause, CodePlace, FindingCauses

__all__ = ["CellPlaces"]

PlaceT = TypeVar("PlaceT", FileEdit, HeatSpan, "CodePlace")


@dataclass(frozen=True, slots=True)
class CellPlaces:
    """The cells of a notebook in order; without any, everything stays where it is."""

    cells: Sequence[CellRecord]

    def find_cell(self, line: int) -> CellRecord:
        """The cell that a line of the joined code belongs to."""
        return self.cells[max(bisect_right(self.cells, line, key=lambda cell: cell.line) - 1, 0)]

    def joined_line(self, number: int | None, line: int) -> int | None:
        """The line of the joined code for a line of a cell, given by its number; None if there is no such line."""
        if not self.cells:
            return line if number is None else None
        cell = next((cell for cell in self.cells if cell.number == number), None)
        return None if cell is None or not 1 <= line <= len(cell.file_lines) else cell.line + line - 1

    def show(self, path: str, line: int) -> str:
        """A file, or a cell, and a line in it, as reports show them."""
        if not self.cells:
            return f"{path}:{line}"
        cell = self.find_cell(line)
        return f"{path}:cell {cell.number}:{line - cell.line + 1}"

    def finding(self, finding: Finding) -> Finding:
        """A finding by its place in a cell."""
        if not self.cells:
            return finding
        cell = self.find_cell(finding.line)
        return replace(
            finding,
            cell=cell.number,
            file_line=_file_line(cell, finding.line),
            line=finding.line - cell.line + 1,
            end_line=finding.end_line - cell.line + 1,
            fix=_moved(finding.fix, cell),
            alternatives=tuple(replace(other, fix=_moved(other.fix, cell)) for other in finding.alternatives),
            why=finding.why and _moved_why(finding.why, cell),
        )

    def error(self, error: ScanError) -> ScanError:
        """An error by its place in a cell; one that concerns the whole notebook has none."""
        if not self.cells or error.line is None:
            return error
        cell = self.find_cell(error.line)
        line = error.line - cell.line + 1
        return replace(error, cell=cell.number, line=line, file_line=_file_line(cell, error.line))

    def heat(self, heat: FunctionHeat) -> FunctionHeat:
        """A heat map by its place in a cell."""
        if not self.cells:
            return heat
        cell = self.find_cell(heat.line)
        line, end_line = heat.line - cell.line + 1, heat.end_line - cell.line + 1
        heats = tuple(_shifted(part, cell) for part in heat.heats)
        return replace(heat, cell=cell.number, line=line, end_line=end_line, heats=heats)


def _file_line(cell: CellRecord, line: int) -> int | None:
    index = line - cell.line
    return cell.file_lines[index] if index < len(cell.file_lines) else None


def _moved(fix: Fix, cell: CellRecord) -> Fix:
    return Fix(tuple(_shifted(edit, cell) for edit in fix.edits))


def _moved_why(why: "FindingCauses", cell: CellRecord) -> "FindingCauses":
    return replace(
        why,
        causes=tuple(_moved_cause(cause, cell) for cause in why.causes),
        against=tuple(_moved_cause(cause, cell) for cause in why.against),
    )


def _moved_cause(cause: "CodeCause", cell: CellRecord) -> "CodeCause":
    return replace(cause, places=tuple(_shifted(place, cell) for place in cause.places))


def _shifted(place: PlaceT, cell: CellRecord) -> PlaceT:
    return replace(place, line=place.line - cell.line + 1, end_line=place.end_line - cell.line + 1)
