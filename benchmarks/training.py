"""How fast samples are made and detectors of several sizes trained on them, beside another version of the code.

Every version of the code runs in a process of its own and takes turns with the others: a line of JSON on its standard
input asks for a turn, a line on its standard output says how many samples it took and how many seconds of one core.
"""

import contextlib
import json as json_module
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any, Literal

from benchmarks.command import Positive, fail, print_records, run

__all__ = ["Size", "main", "measure_versions", "serve"]

_ROOT = Path(__file__).parents[1]
_PACKAGES = ("asyncio", "email", "http", "logging", "unittest", "xml")
"""Packages of the standard library that samples are made of."""
_FUNCTIONS = 60
"""Functions of each, at most."""
_STEPS = 6
"""Steps in a turn of training."""
_WIDENING = {"heat": 4, "heat-roles": 2}
"""How much wider the feed-forward part is than the states, in each recipe."""
_SIZES = ("64x3x300", "96x4x300", "128x4x300", "128x4x600", "128x4x2000", "192x5x300")


@dataclass(frozen=True)
class Size:
    """Width, layers, and nodes of the largest function."""

    dim: int
    layers: int
    largest: int

    @classmethod
    def parse(cls, text: str) -> "Size":
        """Read `DIMxLAYERSxLARGEST`."""
        parts = text.split("x")
        if len(parts) != 3 or not all(part.isdecimal() and int(part) > 0 for part in parts):
            raise ValueError(f"size: expected DIMxLAYERSxLARGEST such as 128x4x300, got {text!r}")
        return cls(*map(int, parts))


@dataclass(frozen=True)
class _Turn:
    """What a process is asked to do: make samples, or train at a size."""

    recipe: str = "heat"
    precision: str = "float32"
    size: Size | None = None


# The side of the driver.


def measure_versions(
    recipe: str, sizes: Sequence[Size], versions: dict[str, tuple[Path, str]], *, repeats: int
) -> Iterator[dict[str, Any]]:
    """Records of making and of training at each size, in samples per second of one core.

    `versions` gives each contestant the folder of its code and the precision it trains in; the code in float32 that
    others are compared with is the first.
    """
    with tempfile.TemporaryDirectory() as temporary, contextlib.ExitStack() as stack:
        corpus = Path(temporary) / "corpus"
        _make_corpus(corpus)
        processes = {
            name: stack.enter_context(_process(code, corpus)) for name, (code, _) in versions.items()
        }
        for size in (None, *sizes):
            turns = {name: _Turn(recipe, precision, size) for name, (_, precision) in versions.items()}
            rates: dict[str, list[float]] = {name: [] for name in versions}
            for _ in range(repeats + 1):  # the first turn warms up
                for name, process in processes.items():
                    rates[name].append(_ask(process, turns[name]))
            first = statistics.median(rates[next(iter(versions))][1:])
            for name, values in rates.items():
                rate = statistics.median(values[1:])
                yield {
                    "what": "making" if size is None else f"training {size.dim}x{size.layers}x{size.largest}",
                    "version": name,
                    "per_second": round(rate, 2),
                    "ratio": round(rate / first, 2),
                }


def _make_corpus(folder: Path) -> None:
    from hyperheat.bugs.corpus.build import build_corpus
    from hyperheat.bugs.corpus.corpus_settings import CorpusSettings
    from hyperheat.bugs.corpus.packages import Package

    standard = Path(sysconfig.get_paths()["stdlib"])
    packages = [Package(name=name, folder=str(standard / name)) for name in _PACKAGES]
    settings = CorpusSettings(functions_per_package=_FUNCTIONS, pairs=False, split_files=True)
    with contextlib.redirect_stderr(None):
        build_corpus(packages, folder, settings, workers=1)


@contextlib.contextmanager
def _process(code: Path, corpus: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that answers with the code of a folder."""
    paths = os.pathsep.join([str(code / "src"), str(_ROOT)])
    command = [sys.executable, "-c", "import sys; from benchmarks.training import serve; serve(sys.argv[1])"]
    process = subprocess.Popen(
        [*command, str(corpus)],
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


def _ask(process: subprocess.Popen[str], turn: _Turn) -> float:
    """Samples per second of a turn."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json_module.dumps(asdict(turn)) + "\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        raise ValueError("a process of the benchmark ended early; its message is above")
    return json_module.loads(answer)


# The side of the process, which may run an older version of the code.


def serve(corpus: str) -> None:
    """Answer turns until standard input ends."""
    import torch

    from hyperheat.nn.fast import kernel

    torch.set_num_threads(1)
    kernel.use(None)
    jobs: dict[_Turn, Any] = {}
    for line in sys.stdin:
        values = json_module.loads(line)
        turn = _Turn(values["recipe"], values["precision"], values["size"] and Size(**values["size"]))
        rate = _make() if turn.size is None else _train(Path(corpus), turn, jobs)
        sys.stdout.write(f"{rate}\n")
        sys.stdout.flush()


def _make() -> float:
    """Make the samples of one package again."""
    from hyperheat.bugs.corpus.corpus_settings import CorpusSettings
    from hyperheat.bugs.corpus.duplicates import PackageIndex, index_package, plan_packages
    from hyperheat.bugs.corpus.package_sources import read_folder
    from hyperheat.bugs.corpus.random_bugs import make_shard
    from hyperheat.bugs.corpus.workspace import Workspace
    from hyperheat.bugs.shards import Shard

    name = _PACKAGES[0]
    sources = read_folder(Path(sysconfig.get_paths()["stdlib"]) / name)
    with tempfile.TemporaryDirectory() as temporary:
        space = Workspace(Path(temporary))
        space.make_folders()
        index_package(name, sources, {}, space.indexes)
        plan = plan_packages({name: PackageIndex.read(space.indexes, name)})[name]["files"]
        settings = CorpusSettings(functions_per_package=_FUNCTIONS, pairs=False)
        start = time.process_time()
        make_shard(name, sources, "", plan, settings, space.out, space.unpacked)
        seconds = time.process_time() - start
        made = sum(len(Shard(path, pairs=False)) for path in space.out.glob("*/*.parquet"))
    return made / seconds


def _train(corpus: Path, turn: _Turn, jobs: dict[_Turn, Any]) -> float:
    """A few steps at a size, from columns on disk to updated weights."""
    import torch

    from hyperheat.bugs.recipes import RECIPES
    from hyperheat.bugs.training import BugJob
    from hyperheat.train.learner import Learner
    from hyperheat.train.run import State

    if turn not in jobs:
        assert turn.size is not None
        recipe = RECIPES[turn.recipe]()
        ff = _WIDENING[turn.recipe] * turn.size.dim
        size = {"dim": turn.size.dim, "layers": turn.size.layers, "ff": ff}
        settings = replace(
            recipe, model=replace(recipe.model, **size), largest=turn.size.largest, min_count=1
        )
        job = BugJob(settings, corpus)
        jobs[turn] = job, Learner(job.model, settings.train)
    job, learner = jobs[turn]
    job.model.train()
    precision = torch.autocast("cpu", torch.bfloat16, enabled=turn.precision == "bfloat16")
    takes_state = (
        "state" in signature(learner.update).parameters
    )  # earlier versions take the number of the step
    batches = job.batches(0)[:_STEPS]
    start = time.process_time()
    for step, batch in enumerate(batches):
        tensors = job.load(batch)
        with precision:
            loss, _ = job.loss(tensors)
        learner.backward(loss / len(batch))
        learner.update(State(step=step) if takes_state else step)
    return sum(map(len, batches)) / (time.process_time() - start)


def main(
    *,
    recipe: Literal["heat", "heat-roles"] = "heat",
    size: list[str] | None = None,
    before: Path | None = None,
    precision: list[Literal["float32", "bfloat16"]] | None = None,
    repeats: Positive = 5,
    json: bool = False,
) -> None:
    """Measure how many samples one core makes, and trains on at several sizes, in a second.

    All versions take turns on the same samples, which are made of a part of the standard library; medians count.

    Parameters
    ----------
    recipe
        What is trained.
    size
        DIMxLAYERSxLARGEST: width, layers, and nodes of the largest function. May be repeated.
    before
        Another checkout of hyperheat to compare with, such as a git worktree of an earlier commit.
    precision
        What this code trains in; both unless given. The other checkout trains in float32.
    repeats
        Turns of each version; the median counts.
    json
        Print a list of records.
    """
    versions: dict[str, tuple[Path, str]] = {} if before is None else {"before": (before, "float32")}
    versions |= {name: (_ROOT, name) for name in precision or ("float32", "bfloat16")}
    try:
        if before is not None and not (before / "src" / "hyperheat").is_dir():
            raise ValueError(f"before: expected a checkout of hyperheat, got {before}")
        sizes = [Size.parse(text) for text in size or _SIZES]
        records = measure_versions(recipe, sizes, versions, repeats=repeats)
        columns = {"what": "", "version": "", "per_second": "samples/s", "ratio": "ratio"}
        print_records(records, columns, as_json=json)
    except ValueError as error:
        fail(error)


if __name__ == "__main__":
    run(main)
