"""The pages about code: the list of findings, and what is to be seen of a function and of a place in it."""

import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from string import Template
from typing import Any, TypeVar

from starlette.requests import Request

from hyperheat.alarm_rate import MEANING, describe_rate
from hyperheat.check.cell_places import CellPlaces
from hyperheat.check.checker import Scan
from hyperheat.check.explanations import ExplainedPlace, Target, read_explained
from hyperheat.check.records import FileRecord, FunctionRecord, ListedFunction
from hyperheat.check.scanned_files import ScannedFile, ScannedFunction, Sources, Suspect, read_record
from hyperheat.report.cause_markup import why_lines
from hyperheat.report.finding import LEVELS, Finding, Report
from hyperheat.report.markup import finding_place, shown
from hyperheat.report.rules import RULES
from hyperheat.report.source import SourceText
from hyperheat.web import function_parts
from hyperheat.web.bars import message
from hyperheat.web.desk import Desk, DeskError
from hyperheat.web.look import Drawing, DrawJob, LookJob, PlacesJob, Refusal, Source, WhyJob
from hyperheat.web.serving import PageError, Reader, texts, whole

__all__ = ["MAX_FILES", "MAX_FINDINGS", "CodeSite"]

MAX_FINDINGS = 2_000
"""The most findings in the list; a browser is slow with more."""
MAX_FILES = 5_000
"""The most files in the list."""
_TIERS = tuple(LEVELS)[:-1]  # what is below is not listed
_KEPT = 32  # functions whose places are remembered

Answered = TypeVar("Answered")


class CodeSite:
    """The pages of one scan; causes take seconds to find, so they are asked for at a desk of their own."""

    def __init__(self, scan: Scan, report: Report, *, desk: Desk, slow_desk: Desk) -> None:
        self._scan, self._report = scan, report
        self._desk, self._slow_desk = desk, slow_desk
        self._files = [file for file in scan.files if file.functions]
        self._number = {file.path: number for number, file in enumerate(self._files)}
        self._looked: OrderedDict[tuple[int, int], _Looked] = OrderedDict()
        self._reported = {_key(finding) for finding in report.findings}
        self._lock = threading.Lock()

    def readers(self) -> dict[str, Reader]:
        """What the server answers, by the last part of the path."""
        return {
            "": self._page,
            "function": self._show_function,
            "place": self._show_place,
            "why": self._show_why,
            "graph": self._show_graph,
        }

    def _page(self, request: Request) -> str:
        report = self._report
        findings = sorted(report.findings, key=lambda finding: -finding.confidence)[:MAX_FINDINGS]
        template = files("hyperheat.web").joinpath("static", "code.html").read_text(encoding="ascii")
        tiers = Counter(finding.tier for finding in findings)
        return Template(template).substitute(
            model=shown(f"Model {report.model.name}"),
            counts="".join(_counts(report)),
            notes="".join(f'<p class="note">{shown(note)}</p>' for note in self._notes(findings)),
            tiers="".join(_tier_box(tier, tiers[tier]) for tier in _TIERS),
            kinds="".join(_options(finding.rule for finding in findings)),
            paths="".join(_options(finding.path for finding in findings)),
            findings="\n".join(self._item(number, finding) for number, finding in enumerate(findings)),
            files="\n".join(self._file_item(number) for number in range(min(len(self._files), MAX_FILES))),
            errors="".join(_errors(report)),
        )

    def _notes(self, findings: Sequence[Finding]) -> Iterator[str]:
        yield from self._report.summary.notes
        if findings:
            yield MEANING
        if len(findings) < len(self._report.findings):
            yield f"Only the {len(findings):,} surest of {len(self._report.findings):,} findings are listed."
        if len(self._files) > MAX_FILES:
            yield f"Only {MAX_FILES:,} of {len(self._files):,} files are listed."

    def _item(self, number: int, finding: Finding) -> str:
        """A finding in the list; its attributes are what it is sorted and filtered by."""
        file = self._number.get(finding.path, -1)
        function = self._around(file, finding) if file >= 0 else None
        rule = RULES[finding.rule]
        at = f"{finding.line}:{finding.column}:{finding.end_line}:{finding.end_column}"
        line = 0 if function is None else function.line
        return (
            f'<li role="option" id="finding-{number}" tabindex="-1" aria-selected="false" data-file="{file}" '
            f'data-line="{line}" data-at="{at}" data-tier="{finding.tier}" data-kind="{finding.rule}" '
            f'data-path="{shown(finding.path)}" data-sure="{finding.confidence:.4f}" data-start="{finding.line}">'
            f'<span class="tier tier{finding.tier}" title="Tier {finding.tier}">{finding.tier}</span>'
            f'<span class="what">{message(finding.message)}</span>'
            f'<span class="where">{finding_place(finding)} &middot; {shown(rule.name)} &middot; '
            f"{describe_rate(finding.alarm_rate)}</span></li>"
        )

    def _around(self, number: int, finding: Finding) -> ScannedFunction | None:
        """The function that a finding is in."""
        file = self._files[number]
        before = next((cell.line - 1 for cell in file.cells if cell.number == finding.cell), 0)
        return next((f for f in file.functions if f.line <= before + finding.line <= f.end_line), None)

    def _file_item(self, number: int) -> str:
        file = self._files[number]
        hottest = max(file.functions, key=_peak)
        return (
            f'<li role="option" id="file-{number}" tabindex="-1" aria-selected="false" data-file="{number}" '
            f'data-line="{hottest.line}" data-path="{shown(file.path)}">'
            f'<span class="what">{shown(file.path)}</span><span class="sure" title="greatest suspicion">'
            f'{_peak(hottest):.2f}</span><span class="where">{_functions(len(file.functions))}</span></li>'
        )

    def _show_function(self, request: Request) -> str:
        number, function = self._asked(request)
        file, found = self._files[number], self._look(number, function).found
        source = self._source(file, found.heat.source)
        return "\n".join(function_parts.function_view(file, number, function, found, source))

    def _show_place(self, request: Request) -> str:
        number, function = self._asked(request)
        looked = self._look(number, function)
        place = _place_of(request, looked.found)
        source = self._source(self._files[number], looked.found.heat.source)
        address = f"why?file={number}&line={function.line}&place={place}"
        finding = looked.found.suspects[place].finding
        reported = _key(finding) in self._reported
        return "\n".join(function_parts.place_view(looked.found, place, source, address, reported=reported))

    def _show_why(self, request: Request) -> str:
        number, function = self._asked(request)
        looked, file = self._look(number, function), self._files[number]
        place = whole(request, "place", among=range(len(looked.found.suspects)))
        finding = looked.joined.suspects[place].finding
        target = Target(finding.line, finding.column, finding.end_line, finding.end_column)
        explained = self._ask(WhyJob(self._data(number), target), ExplainedPlace)
        why = CellPlaces(file.cells).finding(
            read_explained(explained, file.file, self._scan.detector.calibration)
        )
        return "\n".join(why_lines(why, self._source(file, why.source)))

    def _show_graph(self, request: Request) -> str:
        number, function = self._asked(request)
        wanted = None
        if (chosen := texts(request, "relations", longest=6_000, most=1)) != []:
            numbers = [number for number in chosen[0].split(",") if re.fullmatch("[0-9]{1,5}", number)]
            wanted = frozenset(map(int, numbers))
        shown_line = _in_cell(function, CellPlaces(self._files[number].cells)).line
        drawing = self._ask(DrawJob(self._data(number), function.line, wanted, shown_line), Drawing)
        return "\n".join(function_parts.graph_view(drawing, function))

    def _asked(self, request: Request) -> tuple[int, ScannedFunction]:
        """The number of the file and the function in it that a request is about."""
        number = whole(request, "file", among=range(len(self._files)))
        functions = {function.line: function for function in self._files[number].functions}
        return number, functions[whole(request, "line", among=functions)]

    def _look(self, number: int, function: ScannedFunction) -> "_Looked":
        """All places of a function, remembered for a while."""
        key = number, function.line
        with self._lock:
            if key in self._looked:
                self._looked.move_to_end(key)
                return self._looked[key]
        file = self._files[number]
        record = self._ask(PlacesJob(self._data(number), function.line), FunctionRecord)
        listed = ListedFunction(function.name, function.line, "")
        read = read_record(FileRecord((listed,), {"": record}), file.file, self._scan.detector.calibration)
        joined = read.functions[0]
        looked = _Looked(joined, _in_cell(joined, CellPlaces(file.cells)))
        with self._lock:
            self._looked[key] = looked
            while len(self._looked) > _KEPT:
                self._looked.popitem(last=False)
        return looked

    def _ask(self, job: LookJob, kind: type[Answered]) -> Answered:
        try:
            value: Any = (self._slow_desk if isinstance(job, WhyJob) else self._desk).ask(job)
        except DeskError as error:
            raise PageError(f"No answer: {error}.", 503) from None
        if isinstance(value, Refusal):
            raise PageError(f"No answer: {value.reason}.", 422)
        if not isinstance(value, kind):
            raise PageError("The model has nothing to say here.", 422)
        return value

    def _data(self, number: int) -> Source:
        data = self._files[number].data()
        if data is None:
            raise _changed(self._files[number])
        data = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
        return Source(data, bool(self._files[number].cells))

    def _source(self, file: ScannedFile, name: str) -> SourceText:
        """The text of a file, or of a cell of it."""
        text = Sources([file]).get(name)
        if text is None:
            raise _changed(file)
        return text


@dataclass(frozen=True, slots=True)
class _Looked:
    """All places of a function, with the lines of the whole code of a notebook and with those of its cell."""

    joined: ScannedFunction
    found: ScannedFunction


def _in_cell(function: ScannedFunction, cells: CellPlaces) -> ScannedFunction:
    """A function with the places of its cell, as reports have them."""
    heat = cells.heat(function.heat)
    suspects = tuple(
        Suspect.of(cells.finding(one.finding), probability=one.probability, trace=one.trace)
        for one in function.suspects
    )
    return replace(function, line=heat.line, end_line=heat.end_line, suspects=suspects, heat=heat)


def _changed(file: ScannedFile) -> PageError:
    return PageError(f"{file.path} has changed since it was checked: start hyperheat explore again.", 409)


def _place_of(request: Request, function: ScannedFunction) -> int:
    """The place that a request names by its number, or by lines and columns."""
    at = request.query_params.get("at")
    if at is None:
        return whole(request, "place", among=range(len(function.suspects)))
    for number, suspect in enumerate(function.suspects):
        finding = suspect.finding
        if at == f"{finding.line}:{finding.column}:{finding.end_line}:{finding.end_column}":
            return number
    raise PageError("The model sees nothing to change here.")


def _key(finding: Finding) -> tuple[str | int, ...]:
    return finding.source, finding.line, finding.column, finding.end_line, finding.end_column, finding.message


def _peak(function: ScannedFunction) -> float:
    return max((heat.suspicion for heat in function.heat.heats), default=0.0)


def _functions(count: int) -> str:
    return "1 function" if count == 1 else f"{count} functions"


def _errors(report: Report) -> Iterator[str]:
    if report.errors:
        yield f'<details class="errors"><summary>Not checked ({len(report.errors)})</summary><ul>'
        for error in report.errors[:MAX_FILES]:
            line = f":{error.line}" if error.line else ""
            yield f"<li>{shown(error.source)}{line}: {shown(error.reason)}</li>"
        yield "</ul></details>"


def _counts(report: Report) -> Iterator[str]:
    found = Counter(finding.tier for finding in report.findings)
    counts = {"Files": report.summary.files, "Functions": report.summary.functions}
    counts |= {f"Tier {tier}": found[tier] for tier in _TIERS}
    counts |= {"Suppressed": report.summary.suppressed, "In the baseline": report.summary.known}
    always = {"Files", "Functions"}
    yield from (
        f"<div><dt>{name}</dt><dd>{count:,}</dd></div>"
        for name, count in counts.items()
        if count or name in always
    )


def _tier_box(tier: str, count: int) -> str:
    return (
        f'<label class="chip tier{tier}"><input type="checkbox" name="tier" value="{tier}" checked> '
        f'Tier {tier} <span class="count">{count}</span></label>'
    )


def _options(values: Iterator[str]) -> Iterator[str]:
    """The options of a filter, most frequent values first."""
    for value, count in Counter(values).most_common():
        name = f"{value} {RULES[value].name}" if value in RULES else value
        yield f'<option value="{shown(value)}">{shown(name)} ({count})</option>'
