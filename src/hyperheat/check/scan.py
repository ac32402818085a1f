"""Scanning files: known results from the cache, all others from workers, in the order of the files.

    detector = load_detector()
    found = discover(["src"], root=root, selection=Selection())
    for file in scan_files(found.files, detector, jobs=2, cache=Cache.open(detector)):
        print(file.path, [suspect.finding.message for function in file.functions for suspect in function.suspects])

This process reads the files; workers parse them, and start only if there is something to do. Every function is scored
alone, so its result does not depend on what else is scanned. If a file exceeds a limit, the functions finished before are
kept, and the file is not tried again until it changes or the limits are raised.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from hyperheat.check.cache import Cache, Entry
from hyperheat.check.discovery import MAX_BYTES, FoundFile
from hyperheat.check.model_check import ModelCheck
from hyperheat.check.records import FileRecord, FunctionRecord, PartialRecord, join_parts
from hyperheat.check.scan_work import LIMITS, FileJob, FileWork, load_scorer, run_in_workers, score_alone
from hyperheat.check.scanned_files import ScannedFile, read_record, sha256_of
from hyperheat.detector.detector import Detector
from hyperheat.files import SkippedFile, read_regular
from hyperheat.report.finding import ScanError
from hyperheat.workers.limits import Limits
from hyperheat.workers.outcomes import Lost

__all__ = [
    "is_final",
    "make_entry",
    "record_of",
    "scan_data",
    "scan_files",
    "scan_source",
]


def scan_files(
    files: Iterable[FoundFile],
    detector: Detector,
    *,
    jobs: int,
    cache: Cache | None = None,
    progress: Callable[[ScannedFile], None] | None = None,
    part: Callable[[FoundFile, int, int], None] | None = None,
    limits: Limits = LIMITS,
    max_bytes: int = MAX_BYTES,
) -> Iterator[ScannedFile]:
    """Scan files in worker processes and yield them in order.

    `progress` is called as each file finishes, and `part` while a worker is at it, with the number of its functions that
    are done and of all.
    """
    scan = _Scanner(list(files), detector, cache, progress, part, limits, max_bytes)
    work = FileWork(detector, limits, max_bytes)
    for job, result in run_in_workers(
        work, scan.jobs(), detector, workers=jobs, limits=limits, on_part=scan.take_part
    ):
        scan.finish(job, result)
        yield from scan.in_order()
    yield from scan.in_order()
    scan.check_model()
    if cache is not None and scan.stored:
        cache.tidy_now_and_then()


def scan_data(data: bytes, file: FoundFile, detector: Detector, *, limits: Limits = LIMITS) -> ScannedFile:
    """Scan bytes as the contents of a file, which need not exist, in a separate process and without a cache."""
    job = FileJob(0, data, frozenset(), file.is_notebook)
    work = FileWork(detector, limits, MAX_BYTES if file.is_notebook else max(len(data), MAX_BYTES))
    ((_, result),) = run_in_workers(work, [job], detector, workers=1, limits=limits)
    return read_record(record_of(result, ()), file, detector.calibration, source=data)


def scan_source(source: str, detector: Detector, *, path: str = "<source>") -> ScannedFile:
    """Scan a text in this process, without limits on time and memory and without a cache."""
    from hyperheat.check.analysis import analyse_text

    scorer = load_scorer(detector)
    record = analyse_text(source, (), lambda sample: score_alone(scorer, sample), detector.calibration)
    return read_record(record, FoundFile(path, Path(path)), detector.calibration, source=source)


class _Scanner:
    """The state of a scan: finished files that wait for earlier ones, and what the cache knows of the others."""

    def __init__(
        self,
        files: list[FoundFile],
        detector: Detector,
        cache: Cache | None,
        progress: Callable[[ScannedFile], None] | None,
        part: Callable[[FoundFile, int, int], None] | None,
        limits: Limits,
        max_bytes: int,
    ) -> None:
        self.stored = 0
        self._model = ModelCheck(detector, cache)
        self._part = part
        self._counts: dict[
            int, tuple[int, int]
        ] = {}  # functions done and in all, of files that are with a worker
        self._files, self._calibration = files, detector.calibration
        self._cache, self._progress = cache, progress
        self._limits, self._max_bytes = limits, max_bytes
        self._known: dict[
            int, Mapping[str, FunctionRecord]
        ] = {}  # functions by digest, for files that are with a worker
        self._done: dict[int, ScannedFile] = {}
        self._next = 0

    def jobs(self) -> Iterator[FileJob]:
        """Read the files in order, and yield jobs for those that are not in the cache."""
        for number, file in enumerate(self._files):
            try:
                data = read_regular(file.path, max_bytes=file.most_bytes(self._max_bytes))
            except SkippedFile as error:
                skipped = ScanError(path=file.shown, rule="HH901", reason=str(error))
                self._tell(number, ScannedFile(file=file, errors=(skipped,)))
                continue
            entry = None if self._cache is None else self._cache.load(file)
            if entry is not None and not entry.record.is_complete:
                entry = None
            if entry is not None:
                self._model.begin()
            sha256 = "" if entry is None else sha256_of(data)
            if entry is not None and entry.sha256 == sha256 and is_final(entry, self._limits):
                self._tell(number, self._read(file, entry.record, sha256, len(data)))
                continue
            self._known[number] = {} if entry is None else entry.record.known
            self._model.expect_workers()
            yield FileJob(number, data, frozenset(self._known[number]), file.is_notebook)

    def take_part(self, job: FileJob, part: PartialRecord) -> None:
        """Count what a worker has done of a file."""
        if self._part is None:
            return
        done, listed = self._counts.get(job.number, (0, 0))
        done += len(part.known) + len(part.refused) + sum(f.digest in job.known for f in part.functions)
        listed += len(part.functions)
        self._counts[job.number] = done, listed
        self._part(self._files[job.number], done, listed)

    def finish(self, job: FileJob, result: list[PartialRecord] | Lost) -> None:
        """Take what a worker found, all of it or what was done before it was lost."""
        self._counts.pop(job.number, None)
        known = self._known.pop(job.number, {})
        file, sha256 = self._files[job.number], sha256_of(job.data)
        record = record_of(result, known)
        if any(function.no_bug is not None for function in record.known.values()):
            self._model.was_loaded()
        digests = [function.digest for function in record.functions]
        old = {digest: known[digest] for digest in digests if digest in known}
        record = replace(record, known={**record.known, **old})
        if self._cache is not None:
            self._cache.store(file, make_entry(sha256, record, result, self._limits))
            self.stored += 1
        scanned = read_record(
            record,
            file,
            self._calibration,
            sha256=sha256,
            size=len(job.data),
            cached=sum(digest in old for digest in digests),
        )
        self._tell(job.number, scanned)

    def check_model(self) -> None:
        """Raise WorkersError if results came from the cache, but the model they are said to come from is damaged."""
        self._model.finish()

    def in_order(self) -> Iterator[ScannedFile]:
        """The files that are done, up to the first that is not."""
        while self._next in self._done:
            yield self._done.pop(self._next)
            self._next += 1

    def _read(self, file: FoundFile, record: FileRecord, sha256: str, size: int) -> ScannedFile:
        """The file that a record of the cache describes."""
        cached = len(record.functions)
        return read_record(record, file, self._calibration, sha256=sha256, size=size, cached=cached)

    def _tell(self, number: int, file: ScannedFile) -> None:
        self._done[number] = file
        if self._progress is not None:
            self._progress(file)


def record_of(result: list[PartialRecord] | Lost, known: Collection[str]) -> FileRecord:
    """The record of a file from what a worker sent, all of it or what was done before it was lost."""
    if isinstance(result, Lost):
        return join_parts(result.parts, known, lost=result.reason)
    return join_parts(result, known)


def make_entry(sha256: str, record: FileRecord, result: list[PartialRecord] | Lost, limits: Limits) -> Entry:
    """The cache entry of a file; if its worker crashed, only the functions that were finished."""
    if not isinstance(result, Lost):
        return Entry(sha256, record)
    return Entry(sha256 if result.limited else "", record, _plain_limits(limits))


def is_final(entry: Entry, limits: Limits) -> bool:
    """Whether scanning again would give the same: no limit was reached, or no limit has been raised since."""
    return entry.limits is None or all(
        now <= then for now, then in zip(_plain_limits(limits), entry.limits, strict=True)
    )


def _plain_limits(limits: Limits) -> tuple[float, float, float]:
    return limits.seconds, limits.work_seconds or 0, limits.memory or 0
