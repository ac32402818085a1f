"""Pass two, package by package: functions to samples, one shard for each package, or for each split of its files."""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from hyperheat.bugs.corpus.corpus_settings import SECONDS_PER_FILE, CorpusSettings
from hyperheat.bugs.corpus.package_sources import PackageSources
from hyperheat.bugs.corpus.packages import split_of
from hyperheat.bugs.dataset import SPLITS
from hyperheat.bugs.shards import write_shard
from hyperheat.detector.sample import DENSE, Origin, Sample, make_sample
from hyperheat.files import file_sha256
from hyperheat.pycode import FunctionGraph, SourceError, extract_function, outline
from hyperheat.pycode.calls.project import ProjectIndex
from hyperheat.pycode.extraction import ModuleFacts
from hyperheat.rewrites import Rewrite, candidates
from hyperheat.rewrites.planting import MIN_CANDIDATES, choose_bugs, choose_together, plant, rank, seeded
from hyperheat.workers.limits import time_limit

__all__ = ["make_shard"]

_SHARES = {"train": 0.0, "valid": 0.1, "test": 0.1}  # at least, and training has the rest
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
    """Write the samples of a package and say what they are; without samples there are no files.

    `plan` has the lines of the functions to use for every file to use. `scratch` is a folder in which the sources
    lie for a while, because calls are resolved across files.
    """
    tally = _Tally()
    with tempfile.TemporaryDirectory(dir=scratch, prefix=f"{name}-", ignore_cleanup_errors=True) as folder:
        root = Path(folder).resolve() / name.replace("-", "_")  # its own imports may name it
        root.mkdir()
        sources.unpack(root)
        package = _Package(name, version, sources, ProjectIndex.build(root), settings)
        samples = package.samples(plan, tally)
        if settings.split_files:
            parts: dict[str, Iterable[Sample]] = {**_split_files(samples)}
        else:
            parts = {split_of(name, settings.seed): samples}
        shards = [
            shard
            for split, part in parts.items()
            if (shard := _write(part, split, name, out, settings)) is not None
        ]
    return {
        "split": None if settings.split_files else split_of(name, settings.seed),
        "shards": shards,
        "functions": tally.functions,
        "candidates": dict(tally.candidates),
        "dropped": +tally.dropped,
        "refused": tally.refused,
    }


def _write(
    samples: Iterable[Sample], split: str, name: str, out: Path, settings: CorpusSettings
) -> dict[str, Any] | None:
    """Write a shard and describe it; None, and no file, if there are no samples."""
    kinds: Counter[str] = Counter()

    def counted() -> Iterator[Sample]:
        for sample in samples:
            kinds[sample.kind] += 1
            yield sample

    path = f"{split}/{name}.parquet"
    count = write_shard(counted(), out / path, pairs=settings.pairs)
    if not count:
        (out / path).unlink()
        return None
    digest = file_sha256(out / path)
    return {"split": split, "path": path, "samples": count, "kinds": dict(kinds), "sha256": digest}


def _split_files(samples: Iterable[Sample]) -> dict[str, list[Sample]]:
    """The samples of each split, all samples of a file in the same one; the first three files are in different splits.

    From then on a file goes to validation or test while they have less than their shares.
    """
    parts: dict[str, list[Sample]] = {split: [] for split in SPLITS}
    for _, group in groupby(samples, key=lambda sample: sample.origin.path):
        total = sum(map(len, parts.values()))
        lacking = (
            split for split in SPLITS if len(parts[split]) < _SHARES[split] * total or not parts[split]
        )
        parts[next(lacking, SPLITS[0])].extend(group)
    return parts


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
        module = outline(self.sources.files[path], self.project.root / path, self.project)
        for unread in module.functions:
            if unread.line not in lines:
                continue
            if tally.functions >= room:
                tally.dropped[_OVER_LIMIT] += 1
                continue
            try:
                function = module.read(unread)
            except SourceError:
                tally.dropped["functions: too long"] += 1
                continue
            rewrites = candidates(function)
            if len(rewrites) < MIN_CANDIDATES:
                tally.dropped[f"functions: fewer than {MIN_CANDIDATES} candidates"] += 1
            else:
                tally.functions += 1
                tally.candidates.update(rewrite.kind for rewrite in rewrites)
                yield from self._samples_of_function(path, function, rewrites, module.facts, tally)

    def _samples_of_function(
        self,
        path: str,
        function: FunctionGraph,
        rewrites: tuple[Rewrite, ...],
        facts: ModuleFacts,
        tally: _Tally,
    ) -> Iterator[Sample]:
        """The function as it is, with one bug each, then with many bugs each."""
        settings, line = self.settings, function.span[0]
        origin = Origin(project=self.name, version=self.version, path=path, function=function.name, line=line)
        yield make_sample(function, None, origin, pairs=settings.pairs)
        rng = seeded(settings.seed, self.name, path, function.name, line)
        planted = [([bug], origin) for bug in choose_bugs(rewrites, settings.clean, rng, settings.habits)]
        dense = replace(origin, tags=(DENSE,))
        planted += [(choose_together(rewrites, settings.rate, rng), dense) for _ in range(settings.dense)]
        for bugs, place in planted:
            text, repairs = plant(bugs, function.source)
            try:
                broken = extract_function(text, function, facts)
                yield make_sample(broken, repairs, place, pairs=settings.pairs)
            except SourceError:
                tally.dropped["bugs: the function cannot be read on its own"] += 1
            except ValueError:
                tally.dropped["bugs: the repair is no candidate"] += 1


def _refusal(reason: str, message: str) -> _Tally:
    return _Tally(dropped=Counter({reason: 1}), refused=[message])
