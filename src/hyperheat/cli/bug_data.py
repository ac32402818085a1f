"""`hyperheat bugs corpus|mine|realise`: samples of random bugs, and of real bugs from releases and commits."""

import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

from cyclopts import Parameter, validators

from hyperheat.bugs.corpus import (
    Built,
    CorpusSettings,
    Package,
    build_corpus,
    read_names,
    source_packages,
    summarise,
    without,
)
from hyperheat.bugs.mining import Mining, Reference, ReleaseReference, Repository, read_references, select
from hyperheat.bugs.mining.pipeline import MiningSource, PackageSource, Places, RepositorySource, gather
from hyperheat.bugs.mining.pipeline import realise as realise_references
from hyperheat.bugs.mining.real_bugs import FOUND, RealBugs, Tally
from hyperheat.bugs.mining.registry import Registry
from hyperheat.bugs.shards import check_parquet
from hyperheat.cli.refusal import fail
from hyperheat.rewrites.habits import Habits, learn_habits

__all__ = ["corpus", "mine", "realise"]

_Positive = Annotated[int, Parameter(validator=validators.Number(gte=1))]


def corpus(
    *,
    out: Path,
    packages: Path | None = None,
    source: Path | None = None,
    exclude: Path | None = None,
    workers: _Positive | None = None,
    ray: str | None = None,
    clean: float = CorpusSettings.clean,
    dense: int = CorpusSettings.dense,
    rate: float = CorpusSettings.rate,
    pairs: bool = CorpusSettings.pairs,
    seed: int = CorpusSettings.seed,
    functions_per_package: _Positive = CorpusSettings.functions_per_package,
    with_tests: bool = CorpusSettings.with_tests,
    like: tuple[Path, ...] = (),
    beside: tuple[Path, ...] = (),
) -> None:
    """Make samples of functions with and without a bug from packages, which are never installed, imported or run.

    To continue a build that was stopped, run the same command again.

    Parameters
    ----------
    out
        The folder of the corpus: manifest.json, and shards in train, valid and test.
    packages
        A file with one package per line, name or name==version, whose wheels are downloaded by pip as it is configured.
    source
        A folder instead: each of its sub-folders is a package, or the folder itself if it has Python files.
    exclude
        A file of package names to leave out, such as those used for testing.
    workers
        The number of worker processes; by default, one per processor.
    ray
        The address of a Ray cluster to run on, or local to start one here; all machines must share the folders.
    clean
        The share of samples without a bug, among those with at most one.
    dense
        The number of extra samples of each function with many bugs at once, for the first phase of training.
    rate
        The share of locations at which such a sample has bugs.
    pairs
        Add the graphs of pairs, which the GNN and GREAT read; without them a corpus is made faster.
    seed
        The random seed of the split and the bugs.
    functions_per_package
        The maximum number of functions from each package.
    with_tests
        Use test files too.
    like
        References to real bugs: bugs are drawn by what people confuse in those of the training split, not evenly.
    beside
        Finished corpora: functions and files that they hold are left out as duplicates, so that all of them together
        are one corpus.
    """
    try:
        if (packages is None) == (source is None):
            raise ValueError("give either --packages or --source")
        if ray and workers:
            raise ValueError("give either --workers or --ray, which uses all processors of its cluster")
        found = read_names(packages) if packages else source_packages(source or Path())
        if exclude:
            found = without(found, read_names(exclude))
        settings = CorpusSettings(
            clean=clean,
            dense=dense,
            rate=rate,
            pairs=pairs,
            seed=seed,
            functions_per_package=functions_per_package,
            with_tests=with_tests,
            habits=_habits(like),
        )
        built = build_corpus(
            found, out, settings, beside=beside, workers=workers or os.cpu_count() or 1, ray=ray
        )
    except (ValueError, OSError, ImportError) as error:
        fail(error)
    except KeyboardInterrupt:
        _stopped()
    sys.stdout.write(f"{summarise(built.manifest)}\n\n{_speed(built)}\n")


def _habits(paths: Sequence[Path]) -> Habits | None:
    """What the bugs of the training split say, in some files of references."""
    if not paths:
        return None
    references = [reference for path in paths for reference in select(read_references(path), ["split=train"])]
    if not references:
        raise ValueError(f"{paths[0]}: expected references to bugs of the split 'train', got none")
    return learn_habits(reference.record for reference in references)


def _speed(built: Built) -> str:
    if not built.samples_made:
        return "all samples already exist"
    rate = built.samples_made / built.seconds
    return f"{built.samples_made:,} samples made in {built.seconds:,.0f} s: {rate:,.0f} samples/s"


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
    """Find bugs that one small rewrite fixed, in releases of packages or in commits, and write them as samples.

    Finished projects in the output folder are kept. To continue a run that was stopped, run the same command again.

    Parameters
    ----------
    repos
        Local git repositories, bare or with a work tree.
    out
        The output folder: references.jsonl.gz, manifest.json, and shards in train, valid and test.
    package
        A package whose releases are compared; may be repeated.
    packages
        A file with one package name per line.
    exclude
        A file of package names to leave out, such as those used for testing.
    refs_only
        Only write the references, for bugs realise.
    max_releases
        Compare only this many releases of each package, the newest.
    index
        The address of a package index; by default, the one that pip is configured with.
    workers
        The number of worker processes; by default, one per processor.
    ray
        The address of a Ray cluster to run on, or local to start one here; all machines must share the folders.
    since
        Only commits after a date, as git log understands it.
    max_commits
        The maximum number of commits from each repository, the newest.
    all_refs
        Include commits that are only on other branches, tags or pull requests.
    tests
        Include test files in commits; most of their changes are new expectations.
    any_message
        Include commits whose subject does not mention a fix.
    with_clean
        Add the repaired function of each fix as a sample without a bug, tagged repaired.
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
        if not refs_only:
            check_parquet()
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
        sys.stderr.write(
            f"{len(failed)} of {len(sources)} failed; run the same command again to retry them\n"
        )


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
    """Turn references to fixes into samples: read the sources and find the rewrite that each reference names.

    To continue a run that was stopped, run the same command again.

    Parameters
    ----------
    refs
        References, one JSON object per line, gzipped or not: as bugs mine writes them, or as PyPIBugs is published.
    out
        The output folder: manifest.json, left_out.jsonl, and shards in train, valid and test.
    repos
        The folder with the repositories of commits, each in owner+name, owner/name, owner__name or name.
    clone
        Clone missing repositories from the addresses in the references.
    where
        Only references that match, such as fix_like=true; may be repeated, and all must match.
    with_clean
        Add the repaired function of each fix as a sample without a bug, tagged repaired.
    index
        The address of a package index; by default, the one that pip is configured with.
    workers
        The number of worker processes; by default, one per processor.
    ray
        The address of a Ray cluster to run on, or local to start one here; all machines must share the folders.
    """
    settings = {"refs": refs.name, "where": list(where), "with_clean": with_clean}
    try:
        references = select(read_references(refs), where)
        if not references:
            fail(f"{refs}: no references" + (" that match --where" if where else ""))
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
    sys.stdout.write(f"{done.tally.table()}\n{done.seconds:.1f} s, {each:.2f} s per reference\n")
    if done.failed:
        fail(f"{len(done.failed)} projects failed; run the same command again to retry them")


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
    """The folders of repositories by name, the first of each; problems with others are reported elsewhere."""
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
    sys.stderr.write("\nstopped; finished work is kept, run the same command again to continue\n")
    raise SystemExit(130)
