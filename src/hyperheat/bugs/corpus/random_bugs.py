"""Pass two, package by package: functions to samples, one shard for each package."""

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hyperheat.bugs.corpus.corpus_settings import SECONDS_PER_FILE, CorpusSettings
from hyperheat.bugs.corpus.package_sources import PackageSources
from hyperheat.bugs.corpus.packages import split_of
from hyperheat.bugs.shards import write_shard
from hyperheat.detector.sample import DENSE, Origin, Sample, make_sample
from hyperheat.files import file_sha256
from hyperheat.pycode import FunctionGraph, ModuleGraphs, SourceError, extract, extract_function
from hyperheat.pycode.calls.project import ProjectIndex
from hyperheat.rewrites import Rewrite, candidates
from hyperheat.rewrites.planting import MIN_CANDIDATES, choose_bugs, choose_together, plant, rank, seeded
from hyperheat.workers.limits import time_limit

__all__ = ["make_shard"]

_OVER_LIMIT = "functions: over the limit of a package"


@dataclass
class _Tally:
    """What happened while a package's samples were made."""

    functions: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    candidates: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)

    def add(self, other: "_Tally") -> None:
        """Count what happened elsewhere, too."""
        self.functions += other.functions
        for own, others in ((self.kinds, other.kinds), (self.candidates, other.candidates)):
            own.update(others)
        self.dropped.update(other.dropped)
        self.refused.extend(other.refused)


def make_shard(
    name: str,
    sources: PackageSources,
    version: str,
    plan: dict[str, list[int]],
    settings: CorpusSettings,
    out: Path,
    scratch: Path,
) -> dict[str, Any]:
    """Write the samples of a package and say what they are; without samples there is no file.

    `plan` has the lines of the functions to use for every file to use. `scratch` is a folder in which the sources
    lie for a while, because calls are resolved across files.
    """
    tally = _Tally()
    split = split_of(name, settings.seed)
    path = f"{split}/{name}.parquet"
    with tempfile.TemporaryDirectory(dir=scratch, prefix=f"{name}-", ignore_cleanup_errors=True) as folder:
        root = Path(folder).resolve() / name.replace("-", "_")  # its own imports may name it
        root.mkdir()
        sources.unpack(root)
        package = _Package(name, version, sources, ProjectIndex.build(root), settings)
        count = write_shard(package.samples(plan, tally), out / path, pairs=settings.pairs)
    shard = None
    if count:
        digest = file_sha256(out / path)
        shard = {"path": path, "samples": count, "kinds": dict(tally.kinds), "sha256": digest}
    else:
        (out / path).unlink()
    return {
        "split": split,
        "shard": shard,
        "functions": tally.functions,
        "candidates": dict(tally.candidates),
        "dropped": +tally.dropped,
        "refused": tally.refused,
    }


@dataclass(frozen=True)
class _Package:
    name: str
    version: str
    sources: PackageSources
    project: ProjectIndex
    settings: CorpusSettings

    def samples(self, plan: dict[str, list[int]], tally: _Tally) -> Iterator[Sample]:
        """All samples, file by file in a random order of the files, until there are enough functions."""
        seed, limit = self.settings.seed, self.settings.functions_per_package
        for path in sorted(plan, key=lambda path: rank(seed, self.name, path)):
            part = _Tally()
            made: list[Sample] = []
            try:
                with time_limit(SECONDS_PER_FILE):
                    made.extend(self._samples_of_file(path, set(plan[path]), limit - tally.functions, part))
            except SourceError as error:
                part = _refusal("files: not readable", f"{path}: {error.problem}")
            except (RecursionError, MemoryError, TimeoutError) as error:
                problem = f"{path}: expected a file of ordinary size, got {error or type(error).__name__}"
                part = _refusal("files: too much time or memory", problem)
            else:
                part.kinds.update(sample.kind for sample in made)
                yield from made
            tally.add(part)

    def _samples_of_file(self, path: str, lines: set[int], room: int, tally: _Tally) -> Iterator[Sample]:
        """The samples of the functions that begin on some lines; of the first that there is room for."""
        if room <= 0:
            tally.dropped[_OVER_LIMIT] += len(lines)
            return
        module = extract(self.sources.files[path], self.project.root / path, self.project)
        tally.dropped["functions: too long"] += len(module.refused)
        for function in module.functions:
            if function.span[0] not in lines:
                continue
            rewrites = candidates(function)
            if len(rewrites) < MIN_CANDIDATES:
                tally.dropped[f"functions: fewer than {MIN_CANDIDATES} candidates"] += 1
            elif tally.functions >= room:
                tally.dropped[_OVER_LIMIT] += 1
            else:
                tally.functions += 1
                tally.candidates.update(rewrite.kind for rewrite in rewrites)
                yield from self._samples_of_function(path, function, rewrites, module, tally)

    def _samples_of_function(
        self,
        path: str,
        function: FunctionGraph,
        rewrites: tuple[Rewrite, ...],
        module: ModuleGraphs,
        tally: _Tally,
    ) -> Iterator[Sample]:
        """The function as it is, with one bug each, then with many bugs each."""
        settings, line = self.settings, function.span[0]
        origin = Origin(project=self.name, version=self.version, path=path, function=function.name, line=line)
        yield make_sample(function, None, origin, pairs=settings.pairs)
        rng = seeded(settings.seed, self.name, path, function.name, line)
        planted = [([bug], origin) for bug in choose_bugs(rewrites, settings.clean, rng)]
        dense = replace(origin, tags=(DENSE,))
        planted += [(choose_together(rewrites, settings.rate, rng), dense) for _ in range(settings.dense)]
        for bugs, place in planted:
            text, repairs = plant(bugs, function.source)
            try:
                broken = extract_function(text, function, module.facts)
                yield make_sample(broken, repairs, place, pairs=settings.pairs)
            except SourceError:
                tally.dropped["bugs: the function cannot be read on its own"] += 1
            except ValueError:
                tally.dropped["bugs: the repair is no candidate"] += 1


def _refusal(reason: str, message: str) -> _Tally:
    return _Tally(dropped=Counter({reason: 1}), refused=[message])
