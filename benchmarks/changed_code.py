"""Changes of code to measure the checker on: real bugs at the moment they are made, and commits that fix nothing."""

import hashlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from hyperheat.bugs.corpus.packages import CorpusError
from hyperheat.bugs.mining.archive import open_archive
from hyperheat.bugs.mining.commits import is_fix_like, is_revert
from hyperheat.bugs.mining.references import ReleaseReference, read_references
from hyperheat.bugs.mining.registry import Registry
from hyperheat.bugs.mining.repository import Repository
from hyperheat.check.analysis import analyse_edited, read_text
from hyperheat.check.changes import Changes, OldFile, changes_between, read_old_files
from hyperheat.check.discovery import MAX_BYTES, FoundFile
from hyperheat.check.records import FunctionRecord, join_parts, key_of_lines
from hyperheat.check.scan_work import load_scorer
from hyperheat.check.scanned_files import ScannedFile, read_record
from hyperheat.detector.detector import Detector
from hyperheat.detector.sample import Sample
from hyperheat.detector.scorer import SampleScores
from hyperheat.git import git_call
from hyperheat.pycode import FunctionGraph, SourceError, TooMuchSource
from hyperheat.pycode.extraction import outline
from hyperheat.report.source import SourceText
from hyperheat.rewrites import Rewrite, Span, candidates, place

__all__ = ["BugCode", "read_bugs", "read_commits", "scan_changed"]

_MOST_FILES = 20
_PYTHON = "*.py"


@dataclass(frozen=True, kw_only=True)
class BugCode:
    """A bug as a change: the file with it, the repaired text before, and what changed."""

    name: str
    kind: str
    path: Path
    data: bytes
    text: str
    repaired: str
    changes: Changes


def scan_changed(data: bytes, path: Path, changes: Changes, detector: Detector) -> ScannedFile:
    """A file as the checker reads it, but only functions that changed are scored."""
    scorer, calibration = load_scorer(detector), detector.calibration
    file = FoundFile(str(path), path)  # two files of a commit may have the same name

    def score(sample: Sample) -> SampleScores:
        if problem := scorer.problem(sample):
            raise TooMuchSource(None, None, problem)
        return scorer.score_batch([sample])[0]

    try:
        text = read_text(data)
        source = SourceText(text)
        places = outline(text).functions
    except SourceError:
        return ScannedFile(file=file, source=data)
    same = {
        key_of_lines(place.name, source.lines(place.line, place.end_line)): place
        for place in places
        if not changes.touch(path, place.line, place.end_line)
    }
    guesses = {key: key for key in same}
    record = join_parts(analyse_edited(text, guesses, guesses, score, calibration), guesses)
    unread = {key: FunctionRecord(tuple(range(p.end_line - p.line + 1))) for key, p in same.items()}
    return read_record(replace(record, known={**unread, **record.known}), file, calibration, source=data)


def read_bugs(
    path: Path,
    split: str,
    folder: Path,
    *,
    without: Collection[str] = (),
    tell: Callable[[str], object] = lambda _: None,
) -> Iterator[BugCode]:
    """The bugs of a part of a list, from the package index; the repaired versions are kept in a folder, in git."""
    store = git_call("git", ["-C", str(folder)])
    store.run("init", "--bare", "--quiet")
    registry = Registry.configured()
    for reference in read_references(path):
        if reference.split != split or not isinstance(reference, ReleaseReference):
            continue
        name = f"{reference.project} {reference.path}:{reference.span[0]}:{reference.span[1]}"
        if name in without:
            continue
        try:
            data = _read_release(reference, registry)
            text = read_text(data)
            function, repair = _find_repair(reference, text)
        except (CorpusError, SourceError, LookupError) as error:
            tell(f"{name}: left out: {error}")
            continue
        source = SourceText(text)
        lines = source.lines(function.span[0], function.span[2])
        repaired = text.replace(lines, _with_line_ends(repair.apply(function.source), lines), 1)
        blob = store.run("hash-object", "-w", "--stdin", given=repaired.encode()).decode().strip()
        file = folder.resolve() / reference.path
        first, _, last, _ = place(function, repair.location)
        yield BugCode(
            name=name,
            kind=reference.kind,
            path=file,
            data=text.encode(),
            text=text,
            repaired=repaired,
            changes=Changes(
                {file: (range(first, last + 1),)},
                frozenset(),
                {file: OldFile(folder.resolve(), file, blob)},
            ),
        )


def _read_release(reference: ReleaseReference, registry: Registry) -> bytes:
    release = registry.releases(reference.package).archives[reference.archive]
    contents = registry.fetch(release)
    if hashlib.sha256(contents).hexdigest() != reference.sha256:
        raise CorpusError("the archive is another one now")
    data = open_archive(reference.archive, contents).read(reference.path)
    if data is None:
        raise CorpusError("the file cannot be read")
    return data


def _find_repair(reference: ReleaseReference, text: str) -> tuple[FunctionGraph, Rewrite]:
    """The function of a reference, and the candidate that it names."""
    module = outline(text)
    for place_of in module.functions:
        if place_of.name == reference.function and place_of.line == reference.start_line:
            function = module.read(place_of)
            for repair in candidates(function):
                span = Span(repair.edits[0].start, repair.edits[-1].end)
                after = repair.apply(function.source)
                end = span.end + len(after) - len(function.source)
                if (
                    repair.kind == reference.kind
                    and place(function, span) == tuple(reference.span)
                    and after[span.start : end] == reference.after_text
                ):
                    return function, repair
    raise LookupError("the function, or its repair, is not there")


def _with_line_ends(text: str, like: str) -> str:
    return text.replace("\n", "\r\n") if "\r\n" in like else text


def read_commits(
    folder: Path, count: int, *, without: Collection[str] = ()
) -> Iterator[tuple[str, Changes, dict[Path, bytes]]]:
    """The newest commits of a repository that change Python files and fix nothing, and the new contents of these files.

    Merges are left out, and commits of more than twenty Python files.
    """
    top = Repository.open(folder).folder.resolve()
    project = f"{folder.parent.name if folder.name == 'repo' else folder.name}"
    log = git_call("git", ["-C", str(top)]).run(
        "log", "--no-merges", "--format=%H%x00%P%x00%s", "HEAD", "--", _PYTHON
    )
    left = count
    for line in log.decode(errors="replace").splitlines():
        sha, parents, subject = line.split("\0")
        if not left:
            return
        if len(parents.split()) != 1 or is_fix_like(subject) or is_revert(subject):
            continue
        name = f"{project}@{sha[:12]}"
        if name in without:
            left -= 1
            continue
        changes = changes_between(parents, sha, top=top)
        if not 1 <= len(changes.lines) <= _MOST_FILES:
            continue
        after = changes_between(sha, parents, top=top)  # whose earlier versions are those of the commit
        versions = {*after.old.values(), *after.removed}
        contents = {
            old.path: data
            for old, data in read_old_files(versions, max_bytes=MAX_BYTES)
            if isinstance(data, bytes) and old.path in changes.lines
        }
        left -= 1
        yield name, changes, dict(sorted(contents.items()))
