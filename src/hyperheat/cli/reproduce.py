"""`hyperheat reproduce`: the rows of the paper's tables, and the page of them."""

import os
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter, validators

from hyperheat.cli.refusal import fail

if TYPE_CHECKING:
    from hyperheat.kg.datasets import StatementDataset
    from hyperheat.reproduce.paper_tables import TableName
    from hyperheat.reproduce.running import RowTask

__all__ = ["reproduce"]

_Positive = Annotated[int, Parameter(validator=validators.Number(gte=1))]
_STATEMENTS = "wd50k_100"
_SEEDS = (0, 1)


def reproduce(
    what: Literal["table1", "table2", "table3", "all", "page"],
    /,
    *,
    row: str | None = None,
    budget: Annotated[float | None, Parameter(validator=validators.Number(gt=0))] = None,
    seed: Annotated[int | None, Parameter(validator=validators.Number(gte=0))] = None,
    work: Path = Path("reproduce"),
    data: str | None = None,
    corpus: Literal["full", "quick"] | None = None,
    labels: Path | None = None,
    size: Literal["small", "large"] = "small",
    samples: _Positive | None = None,
    set: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    final: Annotated[bool, Parameter(negative="")] = False,
    realbugs: Path | None = None,
    released: Path | None = None,
    workers: _Positive | None = None,
    out: Path | None = None,
) -> None:
    """Train and measure rows of the paper's tables.

    Parameters
    ----------
    what
        A table, all tables, or page: write the page of all runs in the work folder. Table 1 compares encoders, Table 2
        variants of HEAT, Table 3 models of statements.
    row
        The row, such as heat, gnn or no-qualifiers; all rows of the table unless given.
    budget
        The number of minutes. A run that does not fit sees fewer samples and says so.
    seed
        The random seed. Default: 0 for a table, 0 and 1 for all.
    work
        The folder of corpora, runs and records.
    data
        For Tables 1 and 2, a folder that bugs corpus wrote; by default, a corpus is made from packages of PyPI. For Table 3,
        a folder of statements or the name of a published data set; by default, wd50k_100.
    corpus
        The corpus of Tables 1 and 2: full, with 150 packages, or quick, with 14; by default, as the budget allows.
    labels
        For Table 3, a file with an id, a tab and a label on each line.
    size
        The size of the models of Tables 1 and 2: width 64 and 3 layers, or width 128 and 4 layers.
    samples
        The number of samples that each run sees. A run that the budget ends before that is continued by the same command.
    set
        Settings that differ from those of the row, such as train.lr=1e-3 model.dropout=0.2, to tune it.
    final
        Measure on test data, too. For Table 3, this trains on train and valid, as the paper does.
    realbugs
        With --final, a folder of real bugs that bugs realise wrote.
    released
        With --final, a folder of released bugs that bugs realise wrote.
    workers
        The number of processes that make a corpus; by default, one per processor.
    out
        The folder that page writes to. Default: the work folder.
    """
    given = _Given(
        start=time.monotonic(),
        budget=budget,
        work=work,
        data=data,
        corpus=corpus,
        labels=labels,
        size=size,
        samples=samples,
        changes=set,
        final=final,
        real={name: path for name, path in (("real fixes", realbugs), ("released bugs", released)) if path},
        workers=workers or os.cpu_count() or 1,
    )
    try:
        if what == "page":
            _write_page(work, work if out is None else out)
        elif what == "all" or row is None:
            if row is not None:
                raise ValueError("--row: expected a table with it, got all")
            tables: tuple[TableName, ...] = ("table1", "table2", "table3") if what == "all" else (what,)
            _run_series(given, tables, (seed,) if seed is not None else _SEEDS if what == "all" else (0,))
        else:
            _run_one(given, what, row, seed or 0)
    except (ValueError, OSError, ImportError, RuntimeError) as error:
        fail(error)
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped; finished work is kept, run the same command again to continue\n")
        raise SystemExit(130) from None


@dataclass(frozen=True, kw_only=True)
class _Given:
    """The options that all runs share."""

    start: float
    budget: float | None
    work: Path
    data: str | None
    corpus: str | None
    labels: Path | None
    size: str
    samples: int | None
    changes: tuple[str, ...]
    final: bool
    real: dict[str, Path]
    workers: int

    @property
    def deadline(self) -> float | None:
        return None if self.budget is None else self.start + 60 * self.budget

    def samples_folder(self) -> Path:
        """The folder of the corpus of Tables 1 and 2; it is made if it is not there."""
        from hyperheat.reproduce.row_corpora import CORPORA, choose_corpus, make_corpus

        if self.data is not None:
            return Path(self.data)
        plan = choose_corpus(self.work, self.budget) if self.corpus is None else CORPORA[self.corpus]
        folder = self.work / "corpus" / plan.name
        if not (folder / "manifest.json").exists():
            counted = ", ".join(f"{count} {split}" for split, count in plan.packages.items())
            _say(
                f"making the {plan.name} corpus of {counted} packages from PyPI in {folder}, "
                f"about {plan.minutes:.0f} minutes of one core"
            )
        return make_corpus(plan, self.work, workers=self.workers)

    def statements(self) -> "StatementDataset":
        """The statements of Table 3."""
        from hyperheat import kg

        return kg.read(self.data or _STATEMENTS, labels=self.labels)

    def options(self) -> tuple[str, ...]:
        """What a process that makes one of the runs is told beside the row."""
        words = ["--data", self.data] if self.data is not None else []
        words += ["--corpus", self.corpus] if self.corpus is not None else []
        words += ["--labels", str(self.labels)] if self.labels is not None else []
        words += ["--final"] if self.final else []
        flags = {"real fixes": "--realbugs", "released bugs": "--released"}
        return tuple(words + [word for name, path in self.real.items() for word in (flags[name], str(path))])


def _run_one(given: _Given, table: "TableName", name: str, seed: int) -> None:
    from hyperheat.reproduce.paper_tables import find_row, task_of

    row = find_row(table, name)
    from hyperheat.reproduce.row_records import read_records
    from hyperheat.reproduce.running import RowOrder, run_row
    from hyperheat.reproduce.tables_page import compare_with_paper

    read_records(given.work)  # a broken file is reported before hours of work
    task: RowTask
    if task_of(table) == "bugs":
        from hyperheat.reproduce.bug_rows import BugRowTask

        folder = given.samples_folder()
        task = BugRowTask(row, given.size, folder, seed=seed, changes=given.changes, real=given.real)
    else:
        from hyperheat.reproduce.kg_rows import KgRowTask

        task = KgRowTask(row, given.statements(), seed=seed, changes=given.changes, final=given.final)
    order = RowOrder(
        table=table,
        row=row,
        size=given.size,
        seed=seed,
        changes=given.changes,
        samples=given.samples,
        deadline=given.deadline,
        work=given.work,
        final=given.final,
    )
    record = run_row(order, task, _say)
    if record is None:
        return
    sys.stdout.write("\n" + compare_with_paper(table, row, record, read_records(given.work)) + "\n")


def _run_series(given: _Given, tables: "tuple[TableName, ...]", seeds: tuple[int, ...]) -> None:
    from hyperheat.kg.datasets import MissingDataset
    from hyperheat.reproduce.going import RunSeries, run_alone, run_series
    from hyperheat.reproduce.paper_tables import task_of
    from hyperheat.reproduce.row_corpora import describe_corpus

    hashes: dict[str, str] = {}
    if {"table1", "table2"} & {*tables}:
        folder = given.samples_folder()
        hashes["bugs"] = describe_corpus(folder)["sha256"]
        if given.data is None:
            given = replace(given, corpus=folder.name)  # for all runs, however much time is left
    if "table3" in tables:
        try:
            statements = given.statements().training("train+valid" if given.final else "train")
            hashes["kg"] = statements.digest()
        except MissingDataset as error:
            if tables == ("table3",):
                raise
            _say(f"Table 3 is left out: {error}")
    series = RunSeries(
        tables=tuple(table for table in tables if task_of(table) in hashes),
        size=given.size,
        seeds=seeds,
        work=given.work,
        hashes=hashes,
        changes=given.changes,
        samples=given.samples,
        options=given.options(),
    )
    left = None if given.deadline is None else (given.deadline - time.monotonic()) / 60
    failed = run_series(series, minutes=left, say=_say, run=run_alone)
    if failed:
        fail(f"{len(failed)} runs failed, the first is: {failed[0]}")
    _write_page(given.work, given.work)


def _write_page(work: Path, out: Path) -> None:
    from hyperheat.reproduce.row_records import read_records
    from hyperheat.reproduce.tables_page import write_tables

    records = read_records(work)
    page = write_tables(records, out)
    sys.stdout.write(f"{page}: {len(records)} runs\n")


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
