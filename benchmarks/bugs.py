"""How fast samples are made of Python functions, and how fast each encoder trains on them and answers."""

import json as json_module
import statistics
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal

import torch

from benchmarks.command import Positive, fail, run
from benchmarks.timing import interleaved_ms
from hyperheat.bugs.answers import answer_all
from hyperheat.bugs.corpus.corpus_settings import CorpusSettings
from hyperheat.bugs.corpus.duplicates import PackageIndex, index_package, plan_packages
from hyperheat.bugs.corpus.package_sources import read_folder
from hyperheat.bugs.corpus.random_bugs import make_shard
from hyperheat.bugs.corpus.workspace import Workspace
from hyperheat.bugs.dataset import draw_indices
from hyperheat.bugs.encoders import view_of
from hyperheat.bugs.model import losses
from hyperheat.bugs.recipes import RECIPES, BugSettings
from hyperheat.bugs.shards import read_shard
from hyperheat.bugs.trained_detector import DetectorConfig, TrainedDetector, new_detector
from hyperheat.detector.batch import collate_samples
from hyperheat.detector.sample import Sample
from hyperheat.tensors import BudgetSampler, Vocabulary
from hyperheat.train.learner import Learner
from hyperheat.train.run import State

__all__ = ["ENCODERS", "main", "measure_bugs", "measure_encoders", "measure_making"]

ENCODERS = ("heat", "gnn", "great", "allset", "binarised")
_SOURCE = "email"
"""The package of the standard library that samples are made of."""
_FUNCTIONS = 60
_GRAPHS = 32
"""Samples in a turn of an encoder."""
_SECONDS = 120.0


def measure_bugs(encoders: Sequence[str], dim: int, *, repeats: int) -> Iterator[dict[str, Any]]:
    """Records of making samples, then of training and of inference for each encoder."""
    settings = {name: _settings(name, dim) for name in encoders}  # a wrong width is refused at once
    rate, samples = measure_making(Path(sysconfig.get_paths()["stdlib"]) / _SOURCE, repeats=repeats)
    yield {"what": "making", "encoder": None, "per_second": round(rate, 2)}
    yield from measure_encoders(settings, samples, repeats=repeats)


def measure_making(package: Path, *, repeats: int) -> tuple[float, list[Sample]]:
    """Samples per second of one core, and the samples: the second pass of a corpus, from sources to a shard.

    Seconds are those of this process, whatever else the machine does. The first turn warms up and does not count.
    """
    name, settings, sources = (
        package.name,
        CorpusSettings(functions_per_package=_FUNCTIONS),
        read_folder(package),
    )
    with tempfile.TemporaryDirectory() as temporary:
        space = Workspace(Path(temporary))
        space.make_folders()
        index_package(name, sources, {}, space.indexes)
        plan = plan_packages({name: PackageIndex.read(space.indexes, name)})[name]["files"]
        seconds = []
        for _ in range(repeats + 1):
            start = time.process_time()
            made = make_shard(name, sources, "", plan, settings, space.out, space.unpacked)
            seconds.append(time.process_time() - start)
            if not made["shards"]:
                raise ValueError(f"{package}: expected functions that give samples, got none")
        samples = [sample for path in space.out.glob("*/*.parquet") for sample in read_shard(path)]
    return len(samples) / statistics.median(seconds[1:]), samples


def measure_encoders(
    encoders: dict[str, BugSettings], samples: Sequence[Sample], *, repeats: int
) -> Iterator[dict[str, Any]]:
    """Records of training and inference, all encoders in turns on the same samples, which all of them can read."""
    views = [view_of(settings.model, binarise=settings.binarise) for settings in encoders.values()]
    read = [sample for sample in samples if all(view.problem(sample) is None for view in views)]
    read = [read[index] for index in draw_indices(len(read), _GRAPHS)]
    runs = {}
    for name, settings in encoders.items():
        detector = _detector(settings, read)
        runs[f"training {name}"] = _trainer(detector, settings, read)
        runs[f"inference {name}"] = _asker(detector, read)
    ms = interleaved_ms(runs, repeats=repeats, seconds=_SECONDS)
    for what in ("training", "inference"):
        for name in encoders:
            rate = 1e3 * len(read) / ms[f"{what} {name}"]
            yield {"what": what, "encoder": name, "per_second": round(rate, 2)}


def _settings(name: str, dim: int) -> BugSettings:
    """The recipe at another width, as deep as before."""
    settings = RECIPES[name]()
    sizes = {"dim": dim, "ff": 4 * dim}
    own = {field.name for field in fields(settings.model)}
    model = replace(settings.model, **{key: value for key, value in sizes.items() if key in own})
    return replace(settings, model=model)


def _detector(settings: BugSettings, samples: Sequence[Sample]) -> TrainedDetector:
    view = view_of(settings.model, binarise=settings.binarise)
    vocab = Vocabulary.build((view.graph(sample) for sample in samples), max_size=settings.labels)
    torch.manual_seed(0)
    return new_detector(DetectorConfig(model=settings.model, binarise=settings.binarise), vocab)


def _trainer(
    detector: TrainedDetector, settings: BugSettings, samples: Sequence[Sample]
) -> Callable[[], None]:
    """One pass over the samples: planning, forward, backward and an update for each batch."""
    sizes = [sample.graph.num_nodes for sample in samples]
    batches = list(BudgetSampler(sizes=sizes, budget=settings.budget).batches())
    learner = Learner(detector.model, settings.train)

    def run() -> None:
        detector.model.train()
        for indices in batches:
            chosen = [samples[index] for index in indices]
            batch = collate_samples(chosen, detector.view, detector.vocab).to_torch()
            location, repair = losses(detector.model(batch), batch)
            learner.backward((location + settings.repair_weight * repair) / len(chosen))
            learner.update(State())

    return run


def _asker(detector: TrainedDetector, samples: Sequence[Sample]) -> Callable[[], None]:
    """One pass over the samples: from planning to answers."""
    sizes = [sample.graph.num_nodes for sample in samples]

    def run() -> None:
        detector.model.eval()
        for _ in answer_all(detector, samples, sizes):
            pass

    return run


def main(
    *,
    encoder: list[Literal["heat", "gnn", "great", "allset", "binarised"]] | None = None,
    dim: Positive = 128,
    repeats: Positive = 5,
    threads: Positive | None = None,
    json: bool = False,
) -> None:
    """Make samples of a part of the standard library; then all encoders train on some of them and answer, in turns.

    Samples are counted per second that one core works, graphs per second of waiting; planning a batch is included.

    Parameters
    ----------
    encoder
        binarised is HEAT on hypergraphs cut into pairs. All unless given.
    dim
        Width of the states of all encoders; each is as deep as in its recipe.
    repeats
        Turns each contestant takes; the median counts.
    threads
        Threads of torch; as many as it chooses unless given.
    json
        Print a list of records.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    try:
        records = list(measure_bugs(encoder or ENCODERS, dim, repeats=repeats))
    except ValueError as error:
        fail(error)
    sys.stdout.write((json_module.dumps(records, indent=1) if json else _table(records, dim)) + "\n")


def _table(records: Iterable[dict[str, Any]], dim: int) -> str:
    rates = {(record["what"], record["encoder"]): record["per_second"] for record in records}
    title = f"graphs per second at width {dim}"
    rows = [
        f"samples made per second of one core: {rates['making', None]:,.1f}",
        "",
        f"{title}  {'training':>10}  {'inference':>10}",
    ]
    for what, name in rates:
        if what == "training":
            cells = (f"{rates[step, name]:>10,.1f}" for step in ("training", "inference"))
            rows.append("  ".join([f"{name:<{len(title)}}", *cells]))
    return "\n".join(rows)


if __name__ == "__main__":
    run(main)
