"""The open documents of an editor, and the work on them.

After an edit, the functions whose text has changed are scanned at once, and the whole document after a pause: what one
function says may change what is known about calls in others. A newer text makes work on an older one stop. While a text is
not valid Python, findings in functions that did not change stay where these functions are.

Everything here runs in the thread of the event loop, except that workers tell their results from another one.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from hyperheat.check.preload import MODULES, load_once
from hyperheat.check.records import FileRecord, FunctionRecord, PartialRecord, join_parts
from hyperheat.check.scan_work import LIMITS
from hyperheat.detector.detector import Detector
from hyperheat.lsp.results import CheckedText, PlacedFinding, check_record, move_findings
from hyperheat.lsp.work import DocumentSettings, EditorWork, HoverJob, ScanJob, SettingsJob
from hyperheat.report.finding import Finding, ScanError
from hyperheat.report.source import SourceText
from hyperheat.workers.limits import Limits
from hyperheat.workers.outcomes import Lost, WorkersError
from hyperheat.workers.standing_pool import StandingPool, Task
from hyperheat.workers.worker import JobAnswer, Part

__all__ = ["Document", "Session"]

_PAUSE = 0.5  # seconds without an edit until the whole document is scanned again
_WORKERS = 2
_MOST_LOST = 5  # jobs of one text, each of which may be lost to another function
_SPARE = 500  # results of functions that are kept for a document beyond its own


@dataclass(eq=False)
class _Scan:
    """A scan of a document that is under way."""

    text: str
    quick: bool
    known: frozenset[str]
    task: Task | None = None
    parts: list[PartialRecord] = field(default_factory=list)


@dataclass(eq=False, kw_only=True)
class Document:
    """An open document: its text, and all that is known about it."""

    uri: str
    path: Path | None
    version: int | None
    text: str
    settings: DocumentSettings | None = None
    checked: CheckedText | None = None
    """The last text that could be read."""
    errors: tuple[ScanError, ...] = ()
    known: dict[str, FunctionRecord] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    """Why functions were not scored, by their digests."""
    lost: int = 0
    scan: _Scan | None = None
    pause: asyncio.TimerHandle | None = None

    @property
    def findings(self) -> tuple[PlacedFinding, ...]:
        """The findings that are known to be in the current text."""
        if self.checked is None or (self.settings is not None and self.settings.left_out):
            return ()
        return move_findings(self.checked, self.text)

    def finding_at(self, offset: int) -> PlacedFinding | None:
        """The finding around an index of the text; the shortest if there are several."""
        source = SourceText(self.text)
        around = []
        for placed in self.findings:
            finding = placed.finding
            start = source.offset(finding.line, finding.column)
            end = source.offset(finding.end_line, finding.end_column)
            if start <= offset <= end:
                around.append((end - start, len(around), placed))
        return min(around)[2] if around else None


class Session:
    """All open documents, and the workers.

    `publish` is called when there is news about a document, and `complain` with sentences for the user.
    """

    def __init__(
        self,
        detector: Detector,
        *,
        publish: Callable[[Document], None],
        complain: Callable[[str], None],
        limits: Limits = LIMITS,
        max_characters: int,
    ) -> None:
        self.documents: dict[str, Document] = {}
        self.folders: list[Path] = []
        self.options: Mapping[str, object] = {}
        self._detector, self._publish, self._complain = detector, publish, complain
        self._complaints: set[str] = set()
        self._loop = asyncio.get_running_loop()
        self._max_characters = max_characters
        self._pool = StandingPool(
            EditorWork(detector, limits, max_characters),
            workers=_WORKERS,
            limits=limits,
            preload=MODULES,
            prepare=partial(load_once, detector.folder, detector.key),
        )

    def open(self, uri: str, path: Path | None, version: int | None, text: str) -> None:
        """Take a document and scan it."""
        self.close(uri)
        document = self.documents[uri] = Document(uri=uri, path=path, version=version, text=text)
        self._begin(document, quick=False, settle=True)

    def change(self, uri: str, version: int | None, text: str) -> None:
        """Take the new text of a document and scan what has changed."""
        document = self.documents[uri]
        document.version, document.text, document.lost = version, text, 0
        self._begin(document, quick=document.checked is not None, settle=document.settings is None)

    def save(self, uri: str) -> None:
        """Scan a document whole, with the settings as they are now."""
        self._begin(self.documents[uri], quick=False, settle=True)

    def settings_changed(self) -> None:
        """Scan all documents with new settings."""
        self._complaints.clear()
        for document in self.documents.values():
            self._begin(document, quick=False, settle=True)

    def close(self, uri: str) -> None:
        """Forget a document."""
        document = self.documents.pop(uri, None)
        if document is not None:
            self._give_up(document)

    def end(self) -> None:
        """End all processes."""
        for document in self.documents.values():
            self._give_up(document)
        self._pool.close()

    async def explain(self, document: Document, finding: Finding) -> Finding:
        """A finding with what it depends on, or as it is if a worker cannot tell; the work stops if this is cancelled."""
        future: asyncio.Future[Any] = self._loop.create_future()

        def take(said: Part | JobAnswer) -> None:
            if isinstance(said, JobAnswer) and not future.done():
                future.set_result(said.value)

        job = HoverJob(text=document.text, finding=finding)
        task = self._pool.submit(job, tell=partial(self._pass_on, take), urgent=True)
        try:
            answer = await future
        finally:
            self._pool.cancel(task)
        return replace(finding, why=answer.why) if isinstance(answer, Finding) else finding

    def _give_up(self, document: Document) -> None:
        """Stop what is being done for a document."""
        if document.pause is not None:
            document.pause.cancel()
        if document.scan is not None and document.scan.task is not None:
            self._pool.cancel(document.scan.task)
        document.pause = document.scan = None

    def _begin(self, document: Document, *, quick: bool, settle: bool) -> None:
        self._give_up(document)
        if not settle and document.settings is not None and document.settings.left_out:
            return
        if len(document.text) > self._max_characters:
            self._refuse(document)
            return
        known = frozenset(document.known)
        scan = document.scan = _Scan(document.text, quick, known)
        checked = document.checked
        job = ScanJob(
            text=document.text,
            known=known.union(document.refused),
            guesses=checked.guesses if quick and checked is not None else {},
            settings=self._settings_job(document) if settle else None,
        )
        tell = partial(self._pass_on, partial(self._hear, document, scan))
        scan.task = self._pool.submit(job, tell=tell, urgent=quick)

    def _refuse(self, document: Document) -> None:
        """Tell that a text is too long to be sent to a worker."""
        reason = f"expected at most {self._max_characters} characters, got {len(document.text)}"
        document.errors = (ScanError(path=document.uri, rule="HH901", reason=reason),)
        document.checked = None
        self._publish(document)

    def _settings_job(self, document: Document) -> SettingsJob:
        path = document.path
        around = [folder for folder in self.folders if path is None or path.is_relative_to(folder)]
        inmost = max(around, key=lambda folder: len(folder.parts), default=None)
        folder = inmost or (Path.cwd() if path is None else path.parent)
        return SettingsJob(path=path, folder=folder, options=self.options)

    def _pass_on(self, take: Callable[[Part | JobAnswer], None], said: Part | JobAnswer) -> None:
        """Bring what a worker says into the thread of the event loop."""
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(take, said)

    def _hear(self, document: Document, scan: _Scan, said: Part | JobAnswer) -> None:
        if document.scan is not scan:  # out of date
            return
        if isinstance(said, JobAnswer):
            document.scan = None
            self._answered(document, scan, said.value)
        elif isinstance(said.value, DocumentSettings):
            document.settings = said.value
            for problem in said.value.problems:
                self._complain_once(problem)
        else:
            scan.parts.append(said.value)
            document.known.update(said.value.known)
            document.refused.update(said.value.refused)

    def _answered(self, document: Document, scan: _Scan, answer: object) -> None:
        if isinstance(answer, WorkersError):
            self._complain_once(str(answer))
            return
        lost = answer if isinstance(answer, Lost) else None
        if lost is not None and self._try_again(document, scan, lost):
            return
        if document.settings is None:  # reading them was too much
            self._complain_once(f"{document.uri}: not checked: {lost.reason if lost else 'no settings'}")
        elif document.settings.left_out:
            document.checked, document.errors = None, ()
            self._publish(document)
        else:
            self._show(document, scan, document.settings, _joined(document, scan, lost))

    def _try_again(self, document: Document, scan: _Scan, lost: Lost) -> bool:
        """Scan again without the function that exceeded a limit, or once more after a crash."""
        document.lost += 1
        if lost.limited:
            finished = {*scan.known, *document.known, *document.refused}
            listed = (function for part in scan.parts for function in part.functions)
            guilty = next((f.digest for f in listed if f.digest not in finished), None)
            if guilty is None or document.lost > _MOST_LOST:
                return False
            document.refused[guilty] = f"not checked: {lost.reason}"
        elif document.lost > 1:
            return False
        self._begin(document, quick=scan.quick, settle=document.settings is None)
        return True

    def _show(self, document: Document, scan: _Scan, settings: DocumentSettings, record: FileRecord) -> None:
        checked = check_record(record, scan.text, settings, document.path, self._detector)
        readable = bool(record.functions) or not record.errors
        if readable:
            document.checked = checked
        if readable or not scan.quick:  # a text may be broken for as long as it takes to write a word
            document.errors = checked.errors
        if scan.quick:
            document.pause = self._loop.call_later(
                _PAUSE, partial(self._begin, document, quick=False, settle=False)
            )
        elif len(document.known) > len(record.functions) + _SPARE:
            document.known = dict(record.known)
        self._publish(document)

    def _complain_once(self, problem: str) -> None:
        if problem not in self._complaints:
            self._complaints.add(problem)
            self._complain(problem)


def _joined(document: Document, scan: _Scan, lost: Lost | None) -> FileRecord:
    """The record of the scanned text, with what was known before."""
    parts = [*scan.parts, PartialRecord(refused=document.refused)]
    record = join_parts(parts, scan.known, lost=None if lost is None else lost.reason)
    records = {**document.known, **record.known}
    return replace(record, known={f.digest: records[f.digest] for f in record.functions})
