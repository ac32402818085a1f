"""`hyperheat bugs corpus`: training data of random bugs from Python packages."""

import os
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from hyperheat.bugs.corpus import (
    Built,
    CorpusSettings,
    build_corpus,
    read_names,
    source_packages,
    summarise,
    without,
)

__all__ = ["corpus"]

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
) -> None:
    """Make samples of functions with and without a bug from packages, which are never installed, imported or run.

    A build that was stopped goes on when the same command is given again.

    Parameters
    ----------
    out
        The folder of the corpus: manifest.json, and shards in train, valid and test.
    packages
        A file with one package a line, name or name==version, downloaded as wheels by pip as it is configured.
    source
        A folder instead: each of its sub-folders is a package, or it is one itself if Python files lie in it directly.
    exclude
        A file of package names to leave out, such as those whose histories are used for testing.
    workers
        Processes that work at the same time; as many as there are processors unless given.
    ray
        Work on this Ray cluster instead, local for one that is started here; all machines must share the folders.
    clean
        The share of samples without a bug, among those with at most one.
    dense
        So many more samples of each function, with many bugs at once, to begin a training with.
    rate
        The share of its places at which a dense sample has bugs.
    pairs
        Add the graphs of pairs, which the GNN and GREAT read; without them a corpus is made faster.
    seed
        Decides the split and the bugs.
    functions_per_package
        At most so many functions of each package are used.
    with_tests
        Use test files, too.
    """
    try:
        if (packages is None) == (source is None):
            raise ValueError("expected either --packages or --source")
        if ray and workers:
            raise ValueError("expected either --workers or --ray, which uses all processors of its cluster")
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
        )
        built = build_corpus(found, out, settings, workers=workers or os.cpu_count() or 1, ray=ray)
    except (ValueError, OSError, ImportError) as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped; the same command goes on from here\n")
        raise SystemExit(130) from None
    sys.stdout.write(f"{summarise(built.manifest)}\n\n{_speed(built)}\n")


def _speed(built: Built) -> str:
    if not built.samples_made:
        return "all samples were there already"
    rate = built.samples_made / built.seconds
    return f"{built.samples_made:,} samples made in {built.seconds:,.0f} s: {rate:,.0f} samples/s"
