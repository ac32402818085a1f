"""`hyperheat bugs mine|realise`: real bugs as samples, from releases of packages and from git histories."""

import os
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, NoReturn

from cyclopts import Parameter, validators

from hyperheat.bugs.corpus import Package, read_names, without
from hyperheat.bugs.mining import Mining, Reference, ReleaseReference, Repository, read_references, select
from hyperheat.bugs.mining.pipeline import MiningSource, PackageSource, Places, RepositorySource, gather
from hyperheat.bugs.mining.pipeline import realise as realise_references
from hyperheat.bugs.mining.real_bugs import FOUND, RealBugs, Tally
from hyperheat.bugs.mining.registry import Registry
from hyperheat.cli.refusal import fail

__all__ = ["mine", "realise"]

_Positive = Annotated[int, Parameter(validator=validators.Number(gte=1))]


def mine(
    repos: tuple[Path, ...] = (),
    /,
    *,
    out: Path,
    package: tuple[str, ...] = (),
    packages: Path | None = None,
    exclude: Path | None = None,
    refs_only: bool = False,
    max_releases: Annotated[int | None, Parameter(validator=validators.Number(gte=2))] = None,
    index: str | None = None,
    workers: _Positive | None = None,
    ray: str | None = None,
    since: str | None = None,
    max_commits: int | None = None,
    all_refs: bool = False,
    tests: bool = False,
    any_message: bool = False,
    with_clean: bool = False,
) -> None:
    """Find bugs that one small rewrite mended, in releases of packages or in commits, and write them as samples.

    What is already in the output folder is kept and added to. A run that was stopped goes on when the same command is
    given again.

    Parameters
    ----------
    repos
        Local git repositories, bare or with a work tree.
    out
        The folder that gets references.jsonl.gz, manifest.json and shards in train, valid and test.
    package
        A package whose releases are compared; can be given several times.
    packages
        A file with one package name a line.
    exclude
        A file of package names to leave out, such as those that are used for testing.
    refs_only
        Only write the references, for bugs realise.
    max_releases
        Compare only the newest releases of each package, so many of them.
    index
        The address of a package index; the one that pip is configured with unless given.
    workers
        Processes that work at the same time; as many as there are processors unless given.
    ray
        Work on this Ray cluster instead, local for one that is started here; all machines must share the folders.
    since
        Only commits after a date, as git log understands it.
    max_commits
        At most so many commits of each repository, the newest.
    all_refs
        Also commits that only other branches, tags or pull requests hold.
    tests
        Also files of tests in commits, where most changes are new expectations.
    any_message
        Also commits whose subject speaks of no fix.
    with_clean
        Add the repaired function of each fix as a sample without a bug, with the tag repaired.
    """
    processes = workers or os.cpu_count() or 1
    mining = Mining(
        since=since, max_commits=max_commits, all_refs=all_refs, tests=tests, any_message=any_message
    )
    try:
        if ray and workers:
            raise ValueError("give either --workers or --ray, which uses all processors of its cluster")
        names = _names(package, packages, exclude)
        if not names and not repos:
            raise ValueError("nothing to mine: give git repositories, --package NAME or --packages FILE")
        registry = _registry(index) if names else None
        sources: list[MiningSource] = [
            RepositorySource(folder=folder.resolve(), mining=mining) for folder in repos
        ]
        if registry is not None:
            sources += [PackageSource(name=name, registry=registry, most=max_releases) for name in names]
        found, counts, failed = gather(sources, out, workers=processes, ray=ray)
        if len(failed) == len(sources) and not found:
            fail("nothing could be mined")
        if not refs_only:
            references = [(ReleaseReference if "package" in r else Reference).of(r) for r in found]
            given = _repositories(repos)
            places = Places(repositories=given, registry=registry)
            kept = [r for r in references if isinstance(r, ReleaseReference) or r.repo in given]
            RealBugs(out).keep_only({r.project for r in references})
            realise_references(
                kept,
                out,
                places,
                with_clean=with_clean,
                replace=True,
                settings={"with_clean": with_clean},
                report={"counts": dict(counts), "failed": failed},
                workers=processes,
                ray=ray,
            )
    except (ValueError, OSError, ImportError) as error:
        fail(error)
    except KeyboardInterrupt:
        _stopped()
    sys.stdout.write(_summary(found, counts))
    if failed:
        sys.stderr.write(f"{len(failed)} of {len(sources)} failed; the same command tries them again\n")


def realise(
    refs: Path,
    /,
    *,
    out: Path,
    repos: Path | None = None,
    clone: bool = False,
    where: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    with_clean: bool = False,
    index: str | None = None,
    workers: _Positive | None = None,
    ray: str | None = None,
) -> None:
    """Turn references to fixes into samples: read the sources again and find the rewrite that each reference names.

    A run that was stopped goes on when the same command is given again.

    Parameters
    ----------
    refs
        References, one JSON object a line, gzipped or not: as bugs mine writes them, or as PyPIBugs is published.
    out
        The folder that gets manifest.json, left_out.jsonl and shards in train, valid and test.
    repos
        The folder with the repositories of commits, each in owner+name, owner/name, owner__name or name.
    clone
        Clone repositories that are missing from the addresses in the references.
    where
        Only references with a value in a field, such as fix_like=true; all of them must hold.
    with_clean
        Add the repaired function of each fix as a sample without a bug, with the tag repaired.
    index
        The address of a package index; the one that pip is configured with unless given.
    workers
        Processes that work at the same time; as many as there are processors unless given.
    ray
        Work on this Ray cluster instead, local for one that is started here; all machines must share the folders.
    """
    settings = {"refs": refs.name, "where": list(where), "with_clean": with_clean}
    try:
        references = select(read_references(refs), where)
        if not references:
            fail(f"{refs}: expected references, got none" + (" that fit --where" if where else ""))
        if repos is None and any(isinstance(reference, Reference) for reference in references):
            fail(f"{refs} refers to commits: give the folder of the repositories with --repos")
        released = any(isinstance(reference, ReleaseReference) for reference in references)
        places = Places(repos=repos, clone=clone, registry=_registry(index) if released else None)
        done = realise_references(
            references,
            out,
            places,
            with_clean=with_clean,
            settings=settings,
            workers=workers or os.cpu_count() or 1,
            ray=ray,
        )
    except (ValueError, OSError, ImportError) as error:
        fail(error)
    except KeyboardInterrupt:
        _stopped()
    each = done.seconds / len(references)
    sys.stdout.write(f"{done.tally.table()}\n{done.seconds:.1f} s, {each:.2f} s a reference\n")
    if done.failed:
        fail(f"{len(done.failed)} projects failed for now; run the same command again to try them again")


def _names(package: tuple[str, ...], packages: Path | None, exclude: Path | None) -> list[str]:
    """The packages to mine, each once, without the excluded ones."""
    chosen = [Package.named(name) for name in package]
    chosen += read_names(packages) if packages else []
    if chosen and exclude:
        chosen = without(chosen, read_names(exclude))
    return list(dict.fromkeys(package.name for package in chosen))


def _registry(index: str | None) -> Registry:
    return Registry(index) if index else Registry.configured()


def _repositories(repos: tuple[Path, ...]) -> dict[str, Path]:
    """The folders of repositories by name, the first of each; what is wrong with others is told elsewhere."""
    found = {}
    for folder in repos:
        try:
            found.setdefault(Repository.open(folder).name, folder.resolve())
        except ValueError:
            continue
    return found


def _summary(found: list[dict[str, object]], counts: Counter[str]) -> str:
    tally = Tally()
    for record in found:
        tally.add(FOUND, "", str(record["kind"]))
    rows = [f"{count:>9,}  {what}" for what, count in counts.most_common()]
    return "\n".join([tally.table() if found else "no fixes found", "", *rows, ""])


def _stopped() -> NoReturn:
    sys.stderr.write("\nstopped; what was finished is kept, and the same command goes on from here\n")
    raise SystemExit(130)
