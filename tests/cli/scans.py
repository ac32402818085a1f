"""Scans without a model: a bug is where the code says so.

    return a - a  # 0.95

is a finding of confidence 0.95: the last `a` should be `b`. Commands run in this process.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.check.scores import tiered

from hyperheat.check.cache import Cache
from hyperheat.check.changes import Changes, read_old_files
from hyperheat.check.discovery import FoundFile
from hyperheat.check.explanations import Target
from hyperheat.check.old_versions import Rises
from hyperheat.check.rises import Rise
from hyperheat.check.scan_work import LIMITS
from hyperheat.check.scanned_files import ScannedFile, ScannedFunction, Suspect
from hyperheat.check.suppressions import find_suppressions
from hyperheat.cli import main
from hyperheat.detector.detector import Detector
from hyperheat.files import SkippedFile, read_regular
from hyperheat.report import FileEdit, Finding, Fix, FunctionHeat, HeatSpan, Report, ScanError, SourceText
from hyperheat.report.finding_causes import CodeCause, CodePlace, FindingCauses
from hyperheat.workers.limits import Limits

BUGGY = "def area(a, b):\n    return a * a  # 0.95\n\n\ndef scale(a, b):\n    return a - a  # 0.65\n"
CLEAN = "def area(a, b):\n    return a * b\n"
CALIBRATION = tiered(safe=0.93, A=0.8, B=0.6, C=0.05)
_FUNCTION = re.compile(r"def (\w+)\(")
_BUG = re.compile(r"(?P<before>.*) (?P<wrong>a)  # (?P<confidence>0\.\d+)")


def fake_scan(
    files: Iterable[FoundFile],
    detector: Detector,
    *,
    jobs: int,
    cache: Cache | None = None,
    progress: Callable[[ScannedFile], None] | None = None,
    part: Callable[[FoundFile, int, int], None] | None = None,
    limits: Limits = LIMITS,
    max_bytes: int = 100_000,
) -> Iterator[ScannedFile]:
    """Files as a real scan would yield them."""
    for file in files:
        try:
            scanned = fake_scan_data(read_regular(file.path, max_bytes=max_bytes), file, detector)
        except SkippedFile as error:
            scanned = ScannedFile(
                file=file, source=None, errors=(ScanError(path=file.shown, rule="HH901", reason=str(error)),)
            )
        if progress is not None:
            progress(scanned)
        yield scanned


def fake_scan_data(
    data: bytes, file: FoundFile, detector: Detector, *, limits: Limits = LIMITS
) -> ScannedFile:
    """A file whose functions are the lines from one `def` to the next; one with a `?` is not parsed."""
    text = data.decode()
    if "?" in text:
        error = ScanError(path=file.shown, rule="HH900", reason="expected Python, got a question", line=1)
        return ScannedFile(file=file, source=data, errors=(error,))
    functions, lines = [], text.splitlines()
    starts = [number for number, line in enumerate(lines, 1) if _FUNCTION.match(line)]
    for start, stop in pairwise([*starts, len(lines) + 1]):
        name = _FUNCTION.match(lines[start - 1])[1]  # pyright: ignore[reportOptionalSubscript]
        bugs = [(number, match) for number in range(start, stop) if (match := _BUG.match(lines[number - 1]))]
        suspects = tuple(Suspect.of(_finding(file.shown, name, n, m), probability=0.5) for n, m in bugs)
        heats = tuple(_heat(suspect.finding) for suspect in suspects)
        heat = FunctionHeat(path=file.shown, function=name, line=start, end_line=stop - 1, heats=heats)
        functions.append(
            ScannedFunction(
                name=name,
                line=start,
                end_line=stop - 1,
                no_bug=0.5 if suspects else None,
                suspects=suspects,
                heat=heat,
            )
        )
    return ScannedFile(
        file=file, source=data, functions=tuple(functions), suppressions=find_suppressions(SourceText(text))
    )


def fake_explain_place(
    data: bytes, target: Target, file: FoundFile, detector: Detector, *, limits: Limits = LIMITS
) -> Finding | None:
    """The finding at a place, which depends on the parameter `b` alone."""
    for function in fake_scan_data(data, file, detector).functions:
        for finding in (suspect.finding for suspect in function.suspects):
            if target.meets((finding.line, finding.column, finding.end_line, finding.end_column)):
                column = data.decode().splitlines()[function.line - 1].index("b)") + 1
                place = CodePlace(
                    line=function.line, column=column, end_line=function.line, end_column=column + 1
                )
                cause = CodeCause(kind="token", text="b", meaning="", places=(place,), confidence=0.125)
                why = FindingCauses(
                    confidence=finding.confidence, causes=(cause,), against=(), tried=7, left_out=2
                )
                return replace(finding, why=why)
    return None


def fake_explain_findings(
    report: Report, files: Sequence[ScannedFile], detector: Detector, **_: Any
) -> Report:
    """The report with every finding explained."""
    scanned = {file.path: file for file in files}
    explained = []
    for finding in report.findings:
        data, target = scanned[finding.path].data(), Target(finding.line, finding.column)
        assert isinstance(data, bytes)
        explained.append(fake_explain_place(data, target, scanned[finding.path].file, detector))
    return replace(report, findings=tuple(explained))


def fake_rises(files: Sequence[ScannedFile], changes: Changes, detector: Detector, **_: Any) -> Rises:
    """Findings rose if the function of the same name was less certain before, or was not there."""
    found: dict[Finding, Rise] = {}
    for file in files:
        old = changes.before(file.file.path)
        before: dict[str, float] = {}
        for _old, data in read_old_files([old] if old else [], max_bytes=100_000):
            assert isinstance(data, bytes)
            earlier = fake_scan_data(data, file.file, detector)
            before = {f.name: f.suspects[0].finding.confidence for f in earlier.functions if f.suspects}
        for finding in (suspect.finding for function in file.functions for suspect in function.suspects):
            previous = before.get(finding.function)
            found[finding] = Rise(previous is None or previous < finding.confidence, previous)
    return Rises(found)


def _finding(path: str, function: str, line: int, bug: re.Match[str]) -> Finding:
    start, end = bug.start("wrong") + 1, bug.end("wrong") + 1
    confidence = float(bug["confidence"])
    return Finding(
        path=path,
        rule="HH101",
        kind="variable-misuse",
        line=line,
        column=start,
        end_line=line,
        end_column=end,
        function=function,
        message="did you mean `b` instead of `a`?",
        confidence=confidence,
        tier=CALIBRATION.tier(confidence),
        alarm_rate=CALIBRATION.rate(confidence),
        safe=CALIBRATION.is_safe(confidence),
        fix=Fix((FileEdit(line=line, column=start, end_line=line, end_column=end, text="b"),)),
    )


def _heat(finding: Finding) -> HeatSpan:
    return HeatSpan(
        line=finding.line,
        column=finding.column,
        end_line=finding.end_line,
        end_column=finding.end_column,
        suspicion=finding.confidence,
    )


class Ran(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


@dataclass
class Project:
    """A folder to run commands in."""

    folder: Path
    capture: pytest.CaptureFixture[str]
    patch: pytest.MonkeyPatch
    scans: list[dict[str, Any]] = field(default_factory=list)

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.folder / f"{name}.py").write_text(text)

    def run(self, *words: str) -> Ran:
        """Run `hyperheat` with these words."""
        self.patch.setattr(sys, "argv", ["hyperheat", *words])
        self.capture.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        out, err = self.capture.readouterr()
        return Ran(int(end.value.code or 0), out, err)


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty folder, without colours, with a detector that believes what the code says."""
    found = Project(tmp_path, capsys, monkeypatch)

    def scan(files: Iterable[FoundFile], detector: Detector, **options: Any) -> Iterator[ScannedFile]:
        found.scans.append(options)
        return fake_scan(files, detector, **options)

    detector = Detector(tmp_path, "fake", "0" * 64, CALIBRATION, "key")
    monkeypatch.setattr("hyperheat.check.checker.scan_files", scan)
    monkeypatch.setattr("hyperheat.check.checker.scan_data", fake_scan_data)
    monkeypatch.setattr("hyperheat.check.old_versions.find_rises", fake_rises)
    monkeypatch.setattr("hyperheat.cli.explain_line.scan_data", fake_scan_data)
    monkeypatch.setattr("hyperheat.cli.explain_line.explain_place", fake_explain_place)
    monkeypatch.setattr("hyperheat.check.explanations.explain_findings", fake_explain_findings)
    monkeypatch.setattr("hyperheat.check.installed_models.load_model", lambda text, setting=None: detector)
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return found
