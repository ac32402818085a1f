"""Bugs that shipped: what one release of a package had wrong and the next one fixed.

Consecutive releases are compared function by function, with ever finer filters: the checksums of files, the texts of
functions and the tokens of the lines that differ (`prefilter`), the candidates of the function alone, and finally the
candidates and trees of the whole files. A function that differs by exactly one candidate is kept, whatever else has
changed in its file.
"""

import hashlib
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from hyperheat.bugs.corpus.corpus_settings import SECONDS_PER_FILE
from hyperheat.bugs.corpus.packages import CorpusError, PassingError
from hyperheat.bugs.mining.archive import Archive, open_archive
from hyperheat.bugs.mining.bug_fix import (
    BugFix,
    NoFix,
    describe_fix,
    find_function_fix,
    has_candidate,
    parse_version,
)
from hyperheat.bugs.mining.prefilter import (
    ChangedFunction,
    FunctionPlace,
    Functions,
    code_tokens,
    differing_functions,
    function_may_be_rewritten,
)
from hyperheat.bugs.mining.references import ReleaseReference
from hyperheat.bugs.mining.registry import Registry, Release
from hyperheat.pycode import ModuleGraphs, extract
from hyperheat.pycode.anchors import FunctionNode
from hyperheat.pycode.extraction import outermost_functions
from hyperheat.workers.limits import time_limit

__all__ = ["MIN_RELEASES", "PackageHistory", "mine_package"]

MIN_RELEASES = 2
_AHEAD = 3
"""Archives that are downloaded while others are compared."""


@dataclass
class PackageHistory:
    """What the releases of a package gave: fixes as records, counts of what was looked at, and of what was left out."""

    package: str
    releases: list[str] = field(default_factory=list)
    fixes: list[dict[str, Any]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0
    """Of processor time."""

    def to_json(self) -> dict[str, Any]:
        """The record of the package; `asdict` would take the counters apart."""
        return {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}


def mine_package(
    package: str, registry: Registry, *, most: int | None = None, seconds: float | None = None
) -> PackageHistory:
    """Compare the releases of a package, the newest `most` if given, for at most so many seconds of processor time.

    Raises CorpusError where the index has no such package, PassingError where it cannot be reached.
    """
    begun = time.process_time()
    listing = registry.releases(package)
    releases = listing.releases if most is None else listing.releases[-most:]
    history = PackageHistory(package, left_out=Counter(listing.left_out))
    comparison = _Comparison(history)
    for release, contents in _download(registry, releases):
        if seconds is not None and time.process_time() - begun > seconds:
            left = len(releases) - releases.index(release)
            history.problems.append(f"stopped after {seconds:g} s of work, before the {left} newest releases")
            history.left_out["releases: no time left"] += left
            break
        try:
            if isinstance(contents, CorpusError):
                raise contents
            archive = open_archive(release.file, contents)
        except CorpusError as error:
            history.left_out["releases: not readable"] += 1
            history.problems.append(f"{release.version}: {error}")
            continue
        comparison.add(release, release.sha256 or hashlib.sha256(contents).hexdigest(), archive)
        history.releases.append(release.version)
    if len(history.releases) < MIN_RELEASES:
        history.problems.append(f"nothing to compare: {len(history.releases)} of its releases can be read")
    history.seconds = time.process_time() - begun
    return history


def _download(
    registry: Registry, releases: Iterable[Release]
) -> Iterator[tuple[Release, bytes | CorpusError]]:
    """The archives in order, a few of them on their way while earlier ones are worked on."""

    def fetch(release: Release) -> bytes | CorpusError:
        try:
            return registry.fetch(release)
        except PassingError:
            raise
        except CorpusError as error:
            return error

    waiting: deque[tuple[Release, Future[bytes | CorpusError]]] = deque()
    with ThreadPoolExecutor(_AHEAD) as threads:
        try:
            for release in releases:
                waiting.append((release, threads.submit(fetch, release)))
                if len(waiting) > _AHEAD:
                    first, contents = waiting.popleft()
                    yield first, contents.result()
            while waiting:
                first, contents = waiting.popleft()
                yield first, contents.result()
        finally:
            threads.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class _Version:
    """A release as the next one is compared with it."""

    number: int
    release: Release
    sha256: str
    archive: Archive


class _Comparison:
    """The release seen last, and since when its functions are what they are."""

    def __init__(self, history: PackageHistory) -> None:
        self._history = history
        self._last: _Version | None = None
        self._split: dict[str, Functions] = {}
        """The files that the last step has split, which the next step may need again."""
        self._file_since: dict[str, int] = {}
        self._since: dict[str, dict[FunctionPlace, int]] = {}
        """By path, the release in which a function got its text, where that is not the one in which the file came."""

    def add(self, release: Release, sha256: str, archive: Archive) -> None:
        """Compare one more release with the one before."""
        number = 0 if self._last is None else self._last.number + 1
        new = _Version(number, release, sha256, archive)
        split: dict[str, Functions] = {}
        for path in archive.members:
            self._file_since.setdefault(path, number)
        if self._last is not None:
            for path, member in archive.members.items():
                before = self._last.archive.members.get(path)
                if before is not None and before.key != member.key:
                    self._history.counts["changed files"] += 1
                    split[path] = self._file(self._last, new, path)
        for path in self._file_since.keys() - archive.members.keys():
            del self._file_since[path]
            self._since.pop(path, None)
        self._last, self._split = new, split

    def _file(self, last: _Version, new: _Version, path: str) -> Functions:
        """Compare two versions of a file; the functions of the second."""
        counts = self._history.counts
        before = self._split.get(path) or Functions.of(last.archive.read(path) or b"")
        after = Functions.of(new.archive.read(path) or b"")
        changed = list(differing_functions(before, after))
        counts["changed functions"] += len(changed)
        pair = _FilePair(before.text, after.text)
        for function in changed:
            if not function_may_be_rewritten(function.before, function.after):
                continue
            counts["past the tokens"] += 1
            try:
                with time_limit(SECONDS_PER_FILE):
                    record = _record(last, new, path, pair.find(function))
                ReleaseReference.of(record)
            except NoFix as error:
                counts[error.reason] += 1
            except (ValueError, RecursionError, MemoryError, TimeoutError):
                counts["not readable as Python 3"] += 1
            else:
                counts["fixes"] += 1
                since = self._since.get(path, {}).get(function.place, self._file_since[path])
                record["releases_with_bug"] = last.number - since + 1
                record["functions_changed"] = _count_changes(changed, before, after)
                self._history.fixes.append(record)
        self._remember(path, changed, before, after, new.number)
        return after

    def _remember(
        self, path: str, changed: list[ChangedFunction], before: Functions, after: Functions, number: int
    ) -> None:
        since = self._since.setdefault(path, {})
        for place in since.keys() - after.spans.keys():
            del since[place]
        since.update(dict.fromkeys(after.spans.keys() - before.spans.keys(), number))
        since.update({function.place: number for function in changed})


@dataclass
class _FilePair:
    """Two versions of a file, read when one of their functions may be fixed."""

    before: bytes
    after: bytes
    _read: tuple[ModuleGraphs, dict[FunctionPlace, FunctionNode], Any] | None = None

    def find(self, function: ChangedFunction) -> BugFix:
        """The candidate that leads from the function to its next version; raises NoFix where there is none."""
        if not has_candidate(function.before, function.after):
            raise NoFix("no candidate leads to the fixed function")
        if self._read is None:
            source, tree = parse_version(self.after, "after")
            self._read = extract(self.before), _places(outermost_functions(tree)), source
        module, targets, source = self._read
        names = ((graph.name, graph) for graph in module.functions)
        found, target = _places(names).get(function.place), targets.get(function.place)
        if found is None or target is None:
            raise NoFix("the function is not found again")
        return find_function_fix(module, found, target, source)


def _count_changes(changed: Iterable[ChangedFunction], before: Functions, after: Functions) -> int:
    """How many functions come, go or get other code, comments, docstrings, layout and annotations aside."""
    other_code = sum(code_tokens(function.before) != code_tokens(function.after) for function in changed)
    return other_code + len(before.spans.keys() ^ after.spans.keys())


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Counter) else value


def _places(named: Iterable[tuple[str, Any]]) -> dict[FunctionPlace, Any]:
    counts: Counter[str] = Counter()
    places = {}
    for name, value in named:
        places[name, counts[name]] = value
        counts[name] += 1
    return places


def _record(last: _Version, new: _Version, path: str, fix: BugFix) -> dict[str, Any]:
    """The record of a fix in a list of references."""
    return {
        "package": last.release.package,
        "before": last.release.version,
        "after": new.release.version,
        "archive": last.release.file,
        "sha256": last.sha256,
        "path": path,
        **describe_fix(fix),
    }
