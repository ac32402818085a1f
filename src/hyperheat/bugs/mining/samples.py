"""Samples of fixes: the function with its bug, and on request the function without it.

For a commit, both versions of the file are read and the rewrite between them is found again, with the Python files of
the parent commit as the project. For a release, the release that had the bug is the project.
"""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from hyperheat.bugs.corpus.corpus_settings import SECONDS_PER_FILE
from hyperheat.bugs.corpus.package_sources import PackageSources
from hyperheat.bugs.corpus.packages import CorpusError, PassingError
from hyperheat.bugs.mining.archive import open_archive
from hyperheat.bugs.mining.bug_fix import BugFix, NoFix, describe_fix, find_fix
from hyperheat.bugs.mining.real_bugs import FOUND, MISSING, NOT_EXPRESSIBLE, ProjectResult
from hyperheat.bugs.mining.references import AnyReference, Reference, ReleaseReference
from hyperheat.bugs.mining.registry import Registry
from hyperheat.bugs.mining.repository import GitError, Objects, Repository, find_repository
from hyperheat.detector.sample import REPAIRED, Origin, Sample, make_sample
from hyperheat.pycode import FunctionGraph, ModuleGraphs, extract, outline
from hyperheat.pycode.calls.project import ProjectIndex
from hyperheat.rewrites import candidates, place
from hyperheat.workers.limits import time_limit

__all__ = ["Checkout", "commit_samples", "package_samples", "repository_samples"]

NO_CLEAN = "the repaired function cannot be read alone, or has no candidates"
"""Why a fix may have no clean sample; a closure over the class around it cannot be read alone."""


class _Missing(Exception):
    """Part of the history or of the release is not there."""


def commit_samples(
    references: Sequence[Reference], repos: Path, *, clone: bool, with_clean: bool
) -> ProjectResult:
    """The samples of references to one repository, which is found below a folder or, on request, cloned."""
    result = ProjectResult()
    try:
        found = find_repository(references[0].repo, references[0].address, repos, clone=clone)
    except GitError as error:
        result.problems.append(str(error))
        found = None
    if found is None:
        for reference in references:
            result.leave_out(reference, MISSING, "the repository")
        return result
    return repository_samples(references, found, with_clean=with_clean, result=result)


def repository_samples(
    references: Sequence[Reference],
    repository: Repository,
    *,
    with_clean: bool,
    result: ProjectResult | None = None,
) -> ProjectResult:
    """The samples of references to a repository."""
    result = result or ProjectResult()
    with Objects(repository) as objects, Checkout(repository, objects) as checkout:
        for reference in _newest_first(references, repository):
            try:
                before, after = _versions(reference, repository, objects)
                fix = find_fix(
                    before, after, partial(checkout.extract, reference.parent, reference.path, before)
                )
                samples = make_samples(reference, fix, with_clean=with_clean)
            except _Missing as error:
                result.leave_out(reference, MISSING, str(error))
            except NoFix as error:
                result.leave_out(reference, NOT_EXPRESSIBLE, _explain(error, reference))
            except ValueError as error:
                result.leave_out(reference, MISSING, "unreadable")
                result.problems.append(f"{reference.repo} {reference.sha}: {error}")
            else:
                result.counts.append((FOUND, "", fix.repair.kind))
                result.samples += samples
                if with_clean and len(samples) == 1:
                    result.problems.append(
                        f"{reference.repo} {reference.sha}: {NO_CLEAN}, so there is no clean sample"
                    )
    return result


def _newest_first(references: Sequence[Reference], repository: Repository) -> list[Reference]:
    """References sorted by the date of their commits, so that few files differ from one to the next."""
    try:
        newest = repository.by_date([reference.sha for reference in references])
    except GitError:  # a damaged commit, which is reported when it is read
        return list(references)
    order = {sha: place for place, sha in enumerate(newest)}
    return sorted(references, key=lambda reference: order.get(reference.sha, len(order)))


def _versions(reference: Reference, repository: Repository, objects: Objects) -> tuple[bytes, bytes]:
    """The contents of a file before and after a commit."""
    found = [objects.read(f"{commit}:{reference.path}") for commit in (reference.parent, reference.sha)]
    before, after = found
    if before is None or after is None:
        if repository.resolve(f"{reference.sha}^{{commit}}") is None:
            raise _Missing("the commit")
        if repository.resolve(f"{reference.parent}^{{commit}}") is None:
            raise _Missing("the commit before")
        raise _Missing("the file before" if before is None else "the file after")
    return before, after


def _explain(error: NoFix, reference: Reference) -> str:
    """The reason in a few words; if no candidate matches, whether its place has any candidates."""
    function, span = error.function, reference.record.get("span")
    if function is None or not isinstance(span, list):
        return error.reason
    wanted = tuple(span)
    for rewrite in candidates(function):
        if rewrite.kind == reference.kind:
            found = place(function, rewrite.location)
            if found == wanted or (
                rewrite.kind == "argument-swap" and found[:2] <= wanted[:2] and wanted[2:] <= found[2:]
            ):
                return "its place has candidates, this one not among them"
    return "its place has no candidates of the kind"


class Checkout:
    """A temporary folder with the Python files of one commit after another, so calls lead to the definitions of their time.

    Only the files that differ from the previous commit are written; files that the history lacks are left out.
    """

    def __init__(self, repository: Repository, objects: Objects) -> None:
        self._repository = repository
        self._objects = objects
        self._folder = TemporaryDirectory(prefix="hyperheat-")
        self._held: dict[str, str] = {}
        self._project: tuple[str, ProjectIndex] | None = None

    def __enter__(self) -> "Checkout":
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def extract(self, commit: str, path: str, contents: bytes) -> ModuleGraphs:
        """The graphs of a file as part of the project that the commit held."""
        project = self._at(commit)
        return extract(contents, project.root / path, project)

    def _at(self, commit: str) -> ProjectIndex:
        if self._project is None or self._project[0] != commit:
            self._update(commit)
            self._project = commit, ProjectIndex.build(self._folder.name)
        return self._project[1]

    def _update(self, commit: str) -> None:
        wanted = {path: id for path, id in self._repository.python_files(commit).items() if _is_safe(path)}
        for path in self._held.keys() - wanted.keys():
            self._remove(path)
        for path, id in wanted.items():
            if self._held.get(path) != id:
                contents = self._objects.read(id)
                if contents is not None and self._write(path, contents):
                    self._held[path] = id
                elif path in self._held:
                    self._remove(path)

    def _write(self, path: str, contents: bytes) -> bool:
        target = Path(self._folder.name, path)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(contents)
        except OSError:  # a name that this system does not allow, or a folder where a file was
            return False
        return True

    def _remove(self, path: str) -> None:
        Path(self._folder.name, path).unlink(missing_ok=True)
        del self._held[path]


def _is_safe(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return not path.startswith("/") and ".." not in parts and "\0" not in path


def package_samples(
    references: Sequence[ReleaseReference], registry: Registry, *, with_clean: bool
) -> ProjectResult:
    """The samples of one package's references, release by release; raises PassingError without a connection."""
    result = ProjectResult()
    by_archive: dict[tuple[str, str], list[ReleaseReference]] = {}
    for reference in references:
        by_archive.setdefault((reference.archive, reference.sha256), []).append(reference)
    try:
        archives = registry.releases(references[0].package).archives
    except PassingError:
        raise
    except CorpusError as error:
        result.problems.append(f"{references[0].package}: {error}")
        archives = {}
    for (file, sha256), group in by_archive.items():
        try:
            if file not in archives:
                raise _Missing("the release")
            sources = _read_release(registry, file, archives, sha256)
        except PassingError:
            raise
        except (_Missing, CorpusError) as error:
            reason = str(error) if isinstance(error, _Missing) else "the archive is not readable"
            if isinstance(error, CorpusError):
                result.problems.append(f"{group[0].package} {group[0].before}: {error}")
            for reference in group:
                result.leave_out(reference, MISSING, reason)
        else:
            _add_samples(result, group, sources, with_clean=with_clean)
    return result


def _read_release(registry: Registry, file: str, archives: dict, sha256: str) -> PackageSources:
    contents = registry.fetch(archives[file])
    if hashlib.sha256(contents).hexdigest() != sha256:
        raise _Missing("the archive as it was")
    return open_archive(file, contents).sources()


def _add_samples(
    result: ProjectResult, references: list[ReleaseReference], sources: PackageSources, *, with_clean: bool
) -> None:
    with TemporaryDirectory(prefix="hyperheat-", ignore_cleanup_errors=True) as folder:
        root = Path(folder).resolve() / "package"
        root.mkdir()
        sources.unpack(root)
        project = ProjectIndex.build(root)
        for reference in references:
            try:
                with time_limit(SECONDS_PER_FILE):
                    fix = _find_fix(reference, sources, project)
                    samples = make_samples(reference, fix, with_clean=with_clean)
            except _Missing as error:
                result.leave_out(reference, MISSING, str(error))
            except (ValueError, RecursionError, MemoryError, TimeoutError) as error:
                result.leave_out(reference, NOT_EXPRESSIBLE, "the function cannot be read")
                result.problems.append(f"{reference.package} {reference.before} {reference.path}: {error}")
            else:
                result.counts.append((FOUND, "", reference.kind))
                result.samples += samples
                if with_clean and len(samples) == 1:
                    where = f"{reference.package} {reference.before} {reference.function}"
                    result.problems.append(f"{where}: {NO_CLEAN}, so there is no clean sample")


def _find_fix(reference: ReleaseReference, sources: PackageSources, project: ProjectIndex) -> BugFix:
    """The candidate that a reference names, in the function that it names."""
    contents = sources.files.get(reference.path)
    if contents is None:
        raise _Missing("the file")
    module = outline(contents, project.root / reference.path, project)
    for unread in module.functions:
        if unread.name == reference.function and unread.line == reference.start_line:
            function = module.read(unread)
            for repair in candidates(function):
                if repair.kind == reference.kind:
                    fix = BugFix(function=function, repair=repair, facts=module.facts)
                    described = describe_fix(fix)
                    if (
                        described["span"] == list(reference.span)
                        and described["after_text"] == reference.after_text
                    ):
                        return fix
            raise _Missing("the candidate")
    raise _Missing("the function")


def make_samples(reference: AnyReference, fix: BugFix, *, with_clean: bool) -> list[Sample]:
    """The function with its bug and, on request, the repaired function, unless NO_CLEAN applies."""
    samples = [make_sample(fix.function, fix.repair, _origin(reference, fix.function))]
    if with_clean:
        with suppress(ValueError):
            samples.append(make_sample(fix.repaired(), None, _origin(reference, fix.function, REPAIRED)))
    return samples


def _origin(reference: AnyReference, function: FunctionGraph, *tags: str) -> Origin:
    return Origin(
        project=reference.project,
        version=reference.before if isinstance(reference, ReleaseReference) else reference.sha,
        path=reference.path,
        function=function.name,
        line=function.span[0],
        tags=(*reference.tags, *tags),
    )
