"""Samples of bugs that shipped, made from the release that had them, with the whole package as the project."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from hyperheat.bugs.corpus.packages import CorpusError, PassingError
from hyperheat.bugs.corpus.settings import SECONDS_PER_FILE
from hyperheat.bugs.corpus.sources import Sources
from hyperheat.bugs.mining.fix import Fix
from hyperheat.bugs.mining.folder import ProjectResult
from hyperheat.bugs.mining.record import describe_fix
from hyperheat.bugs.mining.references import ReleaseReference
from hyperheat.bugs.mining.samples import NO_CLEAN, make_samples
from hyperheat.bugs.mining.tally import FOUND, MISSING, NOT_EXPRESSIBLE
from hyperheat.bugs.releases.archive import open_archive
from hyperheat.bugs.releases.registry import Registry
from hyperheat.pycode import extract
from hyperheat.pycode.calls.project import ProjectIndex
from hyperheat.rewrites import candidates
from hyperheat.workers.limits import time_limit

__all__ = ["package_samples"]


class _Missing(Exception):
    """Something that can no longer be had."""


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
            sources = _read(registry, file, archives, sha256)
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


def _read(registry: Registry, file: str, archives: dict, sha256: str) -> Sources:
    contents = registry.fetch(archives[file])
    if hashlib.sha256(contents).hexdigest() != sha256:
        raise _Missing("the archive as it was")
    return open_archive(file, contents).sources()


def _add_samples(
    result: ProjectResult, references: list[ReleaseReference], sources: Sources, *, with_clean: bool
) -> None:
    with TemporaryDirectory(prefix="hyperheat-", ignore_cleanup_errors=True) as folder:
        root = Path(folder).resolve() / "package"
        root.mkdir()
        sources.unpack(root)
        project = ProjectIndex.build(root)
        for reference in references:
            try:
                with time_limit(SECONDS_PER_FILE):
                    fix = _find(reference, sources, project)
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


def _find(reference: ReleaseReference, sources: Sources, project: ProjectIndex) -> Fix:
    """The candidate that a reference names, in the function that it names."""
    contents = sources.files.get(reference.path)
    if contents is None:
        raise _Missing("the file")
    module = extract(contents, project.root / reference.path, project)
    for function in module.functions:
        if function.name == reference.function and function.span[0] == reference.start_line:
            for repair in candidates(function):
                if repair.kind == reference.kind:
                    fix = Fix(function=function, repair=repair, module=module)
                    described = describe_fix(fix)
                    if (
                        described["span"] == list(reference.span)
                        and described["after_text"] == reference.after_text
                    ):
                        return fix
            raise _Missing("the candidate")
    raise _Missing("the function")
