"""Scanning files: known results from the cache, all others from workers, in the order of the files.

    detector = load_detector()
    found = discover(["src"], root=root, selection=Selection())
    for file in scan_files(found.files, detector, jobs=2, cache=Cache.open(detector)):
        print(file.path, [suspect.finding.message for function in file.functions for suspect in function.suspects])

This process reads the files but parses nothing: that is done by workers, which start only if there is anything to do. Every
function is scored alone, so that its result depends on nothing else that is scanned.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hyperheat.check.cache import Cache, Entry
from hyperheat.check.detector import Detector
from hyperheat.check.discover import MAX_BYTES, FoundFile
from hyperheat.check.records import Record, ScannedFile, read_record
from hyperheat.check.workers import MODULES, load_once
from hyperheat.files.reading import SkippedFile, read_regular
from hyperheat.report.finding import ScanError
from hyperheat.workers.limits import Limits
from hyperheat.workers.pool import run_jobs
from hyperheat.workers.serve import Lost, WorkersError

if TYPE_CHECKING:
    from hyperheat.bugs.onnx import SampleScores, Scorer
    from hyperheat.bugs.sample import Sample

__all__ = ["LIMITS", "load_scorer", "run_in_workers", "scan_data", "scan_files", "scan_source"]

LIMITS = Limits(seconds=300, work_seconds=10, memory=1 << 30)
"""What reading a file may use, and what scoring any one of its functions may use."""

_NOT_A_RECORD = (LookupError, TypeError, ValueError, AttributeError)

Progress = Callable[[ScannedFile], None]
Job = TypeVar("Job")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _Job:
    """A file for a worker: its place in the scan, its bytes, and the functions whose results are known."""

    number: int
    data: bytes
    known: frozenset[str]


def scan_files(
    files: Iterable[FoundFile],
    detector: Detector,
    *,
    jobs: int,
    cache: Cache | None = None,
    progress: Progress | None = None,
) -> Iterator[ScannedFile]:
    """Scan files in some processes and yield them in their order; `progress` hears of each as soon as it is done."""
    scan = _Scan(list(files), detector, cache, progress)
    for job, result in run_in_workers(_Work(detector), scan.jobs(), detector, workers=jobs):
        scan.finish(job, result)
        yield from scan.in_order()
    yield from scan.in_order()
    if cache is not None and scan.stored:
        cache.tidy_now_and_then()


def scan_data(data: bytes, file: FoundFile, detector: Detector) -> ScannedFile:
    """Scan bytes as those of a file, which need not exist, in a process of their own and without a cache."""
    scan = _Scan([file], detector, None, None)
    job = _Job(0, data, frozenset())
    for _, result in run_in_workers(_Work(detector), [job], detector, workers=1):
        scan.finish(job, result)
    (scanned,) = scan.in_order()
    return scanned


def scan_source(source: str, detector: Detector, *, path: str = "<source>") -> ScannedFile:
    """Scan a text in this process, without limits on time and memory and without a cache."""
    from hyperheat.check.examine import examine_text

    scorer = load_scorer(detector)
    record = examine_text(source, (), lambda sample: _score(scorer, sample), detector.calibration)
    return read_record(record, FoundFile(path, Path(path)), source, detector.calibration, cached=0)


class _Scan:
    """Where a scan is: which files are done and wait for those before them, and what was known of the others."""

    def __init__(
        self, files: list[FoundFile], detector: Detector, cache: Cache | None, progress: Progress | None
    ) -> None:
        self.stored = 0
        self._files, self._calibration = files, detector.calibration
        self._cache, self._progress = cache, progress
        self._known: dict[int, Record] = {}  # functions by digest, for files that are with a worker
        self._done: dict[int, ScannedFile] = {}
        self._next = 0

    def jobs(self) -> Iterator[_Job]:
        """Look at one file after the other, and give those that are not known."""
        for number, file in enumerate(self._files):
            try:
                data = read_regular(file.path, max_bytes=MAX_BYTES)
            except SkippedFile as error:
                self._tell(number, _skipped(file, str(error), None))
                continue
            entry = None if self._cache is None else self._cache.load(file)
            before = None if entry is None else self._read(number, data, entry.record)
            if entry is None or before is None:
                self._known[number] = {}
            elif entry.sha256 == _sha256(data):
                self._tell(number, before)
                continue
            else:
                functions = entry.record["functions"]  # only these were read, and are what they should be
                self._known[number] = {digest: entry.record["known"][digest] for _, _, digest in functions}
            yield _Job(number, data, frozenset(self._known[number]))

    def finish(self, job: _Job, result: Record | Lost) -> None:
        """Take what a worker found, or that it found nothing."""
        known = self._known.pop(job.number, {})
        file = self._files[job.number]
        if isinstance(result, Lost):
            self._tell(job.number, _skipped(file, f"could not be looked at: {result.reason}", job.data))
            return
        digests = [digest for _, _, digest in result["functions"]]
        old = {digest: known[digest] for digest in digests if digest in known}
        record = result | {"known": result["known"] | old}
        if self._cache is not None:
            self._cache.store(file, Entry(_sha256(job.data), record))
            self.stored += 1
        cached = sum(digest in old for digest in digests)
        scanned = read_record(record, file, job.data, self._calibration, cached=cached)
        self._tell(job.number, scanned)

    def in_order(self) -> Iterator[ScannedFile]:
        """The files that are done, up to the first that is not."""
        while self._next in self._done:
            yield self._done.pop(self._next)
            self._next += 1

    def _read(self, number: int, data: bytes, record: Record) -> ScannedFile | None:
        """The file that a record of the cache describes; None if it is no record."""
        try:
            cached = len(record["functions"])
            return read_record(record, self._files[number], data, self._calibration, cached=cached)
        except _NOT_A_RECORD:
            return None

    def _tell(self, number: int, file: ScannedFile) -> None:
        self._done[number] = file
        if self._progress is not None:
            self._progress(file)


@dataclass(frozen=True, slots=True)
class _Work:
    """What a worker does with a job."""

    detector: Detector

    def __call__(self, job: _Job) -> Record:
        from hyperheat.check.examine import examine

        return examine(job.data, job.known, self._score, self.detector.calibration)

    def _score(self, sample: "Sample") -> "SampleScores":
        try:
            scorer = load_scorer(self.detector)
        except ValueError as error:  # which concerns all files
            raise WorkersError(str(error)) from None
        LIMITS.begin_job()
        return _score(scorer, sample)


def run_in_workers(
    work: Callable[[Job], Result], jobs: Iterable[Job], detector: Detector, *, workers: int
) -> Iterator[tuple[Job, Result | Lost]]:
    """Do jobs in processes with limits, in which the detector is loaded."""
    prepare = partial(load_once, detector.folder, detector.key)
    return run_jobs(work, jobs, workers=workers, limits=LIMITS, preload=MODULES, prepare=prepare)


def load_scorer(detector: Detector) -> "Scorer":
    """What scores functions, loaded once in a process."""
    return _load_scorer(detector.folder, detector.key)


@lru_cache(maxsize=1)
def _load_scorer(folder: Path, key: str) -> "Scorer":
    from hyperheat.bugs.onnx import Scorer

    return Scorer.of(load_once(folder, key))


def _score(scorer: "Scorer", sample: "Sample") -> "SampleScores":
    from hyperheat.pycode import TooMuchSource

    problem = scorer.problem(sample)
    if problem is not None:
        raise TooMuchSource(None, None, problem)
    return scorer.score_batch([sample])[0]


def _skipped(file: FoundFile, reason: str, data: bytes | None) -> ScannedFile:
    return ScannedFile(
        file=file, source=data, errors=(ScanError(path=file.shown, rule="HH901", reason=reason),)
    )


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
