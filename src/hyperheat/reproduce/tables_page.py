"""The page of all runs, beside the paper's figures, and its pictures."""

import json
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from hyperheat.files import parse_json, whole_file, write_whole_text
from hyperheat.reproduce.gaps import Gap, judge, measure_gap
from hyperheat.reproduce.paper_tables import SIZES, TABLES, TableName, TableRow, task_of
from hyperheat.reproduce.row_records import RowRecord, record_of

__all__ = ["compare_with_paper", "read_page_records", "tables_page", "write_tables"]

_METRICS = {"bugs": ("joint", "loc", "repair"), "kg": ("mrr", "h1", "h10")}
_TITLES = {
    "table1": "Table 1: encoders",
    "table2": "Table 2: HEAT and its variants",
    "table3": "Table 3: statements with qualifiers",
}
_FIGURES = ("joint or MRR", "loc or H@1", "repair or H@10")
_MISSING = "not run yet"
_FIRST, _RANDOM = TABLES["table1"][0], "random bugs"
_PICTURES = {"small": "tables-curves.png", "large": "tables-curves-large.png"}


def write_tables(records: Sequence[RowRecord], folder: Path) -> Path:
    """Write the page, the records that it is made from, and its pictures into a folder; returns the path of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    plain = [asdict(record) for record in records]
    write_whole_text(folder / "tables.json", json.dumps(plain, indent=1) + "\n")
    for size, name in _PICTURES.items():
        compared = _compared(records, "bugs", size)
        if compared:
            _draw(compared, folder / name)
    page = folder / "tables.md"
    write_whole_text(page, tables_page(records))
    return page


def read_page_records(path: Path) -> list[RowRecord]:
    """The records that a page was made from."""
    try:
        return [record_of(values) for values in parse_json(path.read_text(encoding="utf-8"))]
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: not the records of a page: {error}") from None


def tables_page(records: Sequence[RowRecord]) -> str:
    """The page."""
    lines = [
        "# The paper's tables, row by row",
        "",
        "Every row is made by `hyperheat reproduce`, as [the guide](../reproduce.md) says, and this page by",
        "`hyperheat reproduce page --out docs/results` from the records of the runs, which are in `tables.json`.",
        "",
        "- Ours are figures on validation packages (Tables 1 and 2) and statements (Table 3), on which settings may be",
        "  chosen. Figures on test data are shown where a run was asked for them with `--final`.",
        "- The paper's figures are of other data, larger models and longer training: compare orders, not values.",
        "- *joint*: the right place (or no bug) and the right repair. *loc*: the right place. *repair*: the right repair",
        "  at the given place. In %.",
        "- All rows of a table see the same samples in the same order, and have as many parameters as HEAT within a tenth.",
        "- *over heat*: the difference in *joint*, in points (*over stare*: in MRR); of the paper, on random bugs.",
        "- *±*: half of the difference of two seeds, or the standard deviation of more.",
        "- *samples/s*: by the processor time of one core. Beside other work a core does less in a second, so that rows",
        "  that were not run on a quiet machine look slower than they are.",
        "- In brackets: the 95 % interval of a difference, from resampling the validation packages and the seeds.",
        "",
    ]
    for table in TABLES:
        lines += _table_section(table, records)
    lines += _order_section(records)
    lines += _other_section(records)
    lines += _tuning_section(records)
    lines += _commands(records)
    return "\n".join(lines)


def compare_with_paper(
    table: TableName, row: TableRow, record: RowRecord, others: Sequence[RowRecord]
) -> str:
    """A finished run beside the paper, and beside HEAT if that was run alike, for the terminal."""
    task = task_of(table)
    metrics = _METRICS[task]
    lines = [
        f"{row.name} ({row.title}), seed {record.seed}, {record.samples_seen:,} samples in {record.minutes:.1f} minutes"
    ]
    if record.cut:
        lines.append(
            f"a cut run: a complete one sees {record.whole:,} samples, and its figures will be higher"
        )
    if record.data["name"] == "quick":
        lines.append(
            "on the quick corpus: rows of the tables are made on the full one, without --budget or with a longer one"
        )
    lines += ["", f"{'':<28}" + "".join(f"{name:>9}" for name in metrics)]
    if (
        task == "bugs" or not record.final
    ):  # a final model of statements has learned from those of validation, too
        lines.append(
            _line("this run, validation", [_shown(task, record.valid["all"][name]) for name in metrics])
        )
    for data, figures in record.final.items():
        lines.append(_line(f"this run, {data}", [_shown(task, figures["all"][name]) for name in metrics]))
    for data, figures in row.paper.items():
        lines.append(_line(f"paper, {data}", [str(figure) for figure in figures]))
    same = [
        other
        for other in others
        if _alike(other, record) and other.row == "heat" and other.seed == record.seed and not other.set
    ]
    if same and record.row != "heat":
        lines.append(
            _line("heat, validation", [_shown(task, same[0].valid["all"][name]) for name in metrics])
        )
    heat = TABLES["table1"][0] if task == "bugs" else None
    if heat is not None and row.name != heat.name:
        for data in row.paper:
            lines.append(_line(f"paper, heat, {data}", [str(figure) for figure in heat.paper[data]]))
    lines += [
        "",
        f"{record.parameters:,} parameters; one core trains on {record.training_samples_per_second:,.0f} samples/s and "
        f"answers {record.inference_samples_per_second:,.0f}; {record.peak_mb:,} MB of memory at most",
    ]
    return "\n".join(lines)


def _line(name: str, cells: Iterable[str]) -> str:
    return f"{name:<28}" + "".join(f"{cell:>9}" for cell in cells)


def _alike(one: RowRecord, other: RowRecord) -> bool:
    """Whether two runs can be compared."""
    return (one.task, one.size, one.samples, one.data["sha256"]) == (
        other.task,
        other.size,
        other.samples,
        other.data["sha256"],
    )


def _compared(records: Sequence[RowRecord], task: str, size: str) -> list[RowRecord]:
    """The runs of a size that make up a table: those without changed settings that saw most samples on the same data.

    If there are several such sets, the one with most runs.
    """
    plain = [record for record in records if (record.task, record.size) == (task, size) and not record.set]
    if task == "kg":
        plain = [record for record in plain if not record.final]
    groups: dict[tuple[int, str], list[RowRecord]] = {}
    for record in plain:
        groups.setdefault((record.samples if task == "bugs" else 0, record.data["sha256"]), []).append(record)
    whole = [group for group in groups.values() if not all(record.cut for record in group)]
    return max(whole or groups.values(), key=lambda group: (group[0].samples, len(group)), default=[])


def _table_section(table: TableName, records: Sequence[RowRecord]) -> list[str]:
    task = task_of(table)
    lines = [f"## {_TITLES[table]}", ""]
    for size in SIZES if task == "bugs" else ("small",):
        compared = _compared(records, task, size)
        rows = TABLES[table]
        if size != "small" and not any(record.row in {row.name for row in rows} for record in compared):
            continue
        lines += _describe_size(task, size, compared)
        lines += [*_main_table(table, rows, compared), ""]
        if task == "bugs" and compared and table == "table1":
            lines += [
                f"![joint accuracy on validation packages over samples, {size} models]({_PICTURES[size]})",
                "",
            ]
    final = [record for record in records if record.final and not record.set]
    lines += _final_table(table, [record for record in final if record.task == task])
    return lines


def _describe_size(task: str, size: str, compared: Sequence[RowRecord]) -> list[str]:
    if task == "kg":
        return []
    shape = SIZES[size]
    text = (
        f"Size *{size}*: width {shape.dim}, {shape.layers} layers, functions of at most {shape.largest} nodes, "
        f"{shape.samples:,} samples."
    )
    if compared:
        first = compared[0]
        text += (
            f" The corpus ({first.data['name']}): {first.data['packages'].get('train', 0)} packages to learn from, "
            f"{first.data['packages'].get('valid', 0)} to validate on."
        )
        if first.cut:
            text += f" **These are cut runs with {first.samples:,} samples.**"
    return [text, ""]


def _main_table(table: TableName, rows: Sequence[TableRow], compared: Sequence[RowRecord]) -> list[str]:
    task = task_of(table)
    metrics = _METRICS[task]
    data = list(dict.fromkeys(name for row in rows for name in row.paper))
    titles = ["", *metrics, f"over {rows[0].name}", "seeds", *(f"paper: {name}" for name in data)]
    titles += [f"paper: over {rows[0].name}"]
    titles += ["samples/s trained", "answered", "parameters", "MB", "minutes"]
    cells = []
    for row in rows:
        runs = [record for record in compared if record.row == row.name]
        paper = [" / ".join(map(str, row.paper[name])) if name in row.paper else "" for name in data]
        paper.append(_paper_difference(row, rows[0], data[0]))
        if not runs:
            cells.append([_name(row), _MISSING, *[""] * (len(metrics) + 1), *paper, *[""] * 5])
            continue
        figures = [_spread(task, [run.valid["all"][name] for run in runs]) for name in metrics]
        if any(run.cut for run in runs) and task == "kg":
            figures[0] += " (cut)"
        speed = [
            f"{statistics.fmean(run.training_samples_per_second for run in runs):,.0f}",
            f"{statistics.fmean(run.inference_samples_per_second for run in runs):,.0f}",
            f"{runs[0].parameters:,}",
            f"{max(run.peak_mb for run in runs):,}",
            f"{statistics.fmean(run.minutes for run in runs):.1f}",
        ]
        over = _difference(table, row, rows[0], compared)
        cells.append([_name(row), *figures, over, str(len(runs)), *paper, *speed])
    return _markdown(titles, cells)


def _difference(table: TableName, row: TableRow, first: TableRow, compared: Sequence[RowRecord]) -> str:
    """How far a row is ahead of the first in joint or MRR: the mean over the seeds that both have, and its spread."""
    task = task_of(table)
    metric = _METRICS[task][0]
    ours, theirs = (
        {run.seed: run.valid["all"][metric] for run in compared if run.row == name}
        for name in (row.name, first.name)
    )
    gaps = [ours[seed] - theirs[seed] for seed in ours if seed in theirs]
    if row.name == first.name or not gaps:
        return ""
    gap = measure_gap(*([run for run in compared if run.row == each.name] for each in (row, first)))
    if gap is not None:
        return _shown_gap(gap)
    shown = _spread(task, gaps)
    return shown if shown.startswith("-") else f"+{shown}"


def _shown_gap(gap: Gap) -> str:
    return f"{100 * gap.mean:+.1f} ({100 * gap.lower:+.1f} to {100 * gap.upper:+.1f})"


def _order_section(records: Sequence[RowRecord]) -> list[str]:
    """Whether the paper's order of encoders and variants holds here, as far as the runs can tell."""
    cells = []
    for size in SIZES:
        compared = _compared(records, "bugs", size)
        heat = [run for run in compared if run.row == _FIRST.name]
        for row in (*TABLES["table1"][1:], *TABLES["table2"][1:]):
            runs = [run for run in compared if run.row == row.name]
            gap = measure_gap(runs, heat)
            if gap is not None and _RANDOM in row.paper:
                paper = row.paper[_RANDOM][0] - _FIRST.paper[_RANDOM][0]
                told = f"{judge(gap, paper)}{'' if len(runs) > 1 else ' (one seed)'}"
                cells.append([_name(row), size, f"{paper:+.1f}", _shown_gap(gap), told])
    if not cells:
        return []
    return [
        "## Does the paper's order hold?",
        "",
        "How far each row is ahead of HEAT in joint, in points: in the paper on random bugs, here on validation packages,",
        "with smaller models, fewer samples, and a learning rate and dropout tuned for each encoder (*Tuning* below).",
        "*Not told apart*: the interval contains zero.",
        "",
        *_markdown(["", "size", "paper", "ours", "the paper's order is"], cells),
        "",
    ]


def _paper_difference(row: TableRow, first: TableRow, data: str) -> str:
    if row.name == first.name or data not in row.paper:
        return ""
    gap = row.paper[data][0] - first.paper[data][0]
    return f"{gap:+.1f}" if abs(first.paper[data][0]) > 1 else f"{gap:+.3f}"


def _final_table(table: TableName, final: Sequence[RowRecord]) -> list[str]:
    """The figures on test data, if there are any."""
    task, names = task_of(table), {row.name for row in TABLES[table]}
    final = [record for record in final if record.row in names]
    if not final:
        return []
    metrics = _METRICS[task]
    data = list(dict.fromkeys(name for record in final for name in record.final))
    cells = []
    for row in TABLES[table]:
        for size in SIZES:
            runs = [record for record in final if (record.row, record.size) == (row.name, size)]
            runs = [run for run in runs if run.samples == max(other.samples for other in runs)]
            if runs:
                found = [[run.final.get(name, {}).get("all") for run in runs] for name in data]
                figures = [
                    " / ".join(_spread(task, [all_[m] for all_ in each if all_]) for m in metrics)
                    if any(each)
                    else ""
                    for each in found
                ]
                cut = " (cut)" if any(run.cut for run in runs) else ""
                cells.append([f"{_name(row)}, {size}{cut}", *figures, str(len(runs))])
    header = " / ".join(metrics)
    return [
        "On test data:",
        "",
        *_markdown(["", *(f"{name}: {header}" for name in data), "seeds"], cells),
        "",
    ]


def _tuning_section(records: Sequence[RowRecord]) -> list[str]:
    """All runs with changed settings, so that a reader sees how each encoder was tuned."""
    tuned = sorted(
        (r for r in records if r.set), key=lambda r: (r.task, r.size, r.row, r.samples, r.set, r.seed)
    )
    if not tuned:
        return []
    cells = [
        [
            record.row,
            record.size,
            f"`{' '.join(record.set)}`",
            str(record.seed),
            f"{record.samples:,}",
            *(_shown(record.task, record.valid["all"][name]) for name in _METRICS[record.task]),
        ]
        for record in tuned
    ]
    titles = ["row", "size", "settings", "seed", "samples", *_FIGURES]
    return [
        "## Tuning",
        "",
        "Runs with other settings, on validation data.",
        "",
        *_markdown(titles, cells),
        "",
    ]


def _other_section(records: Sequence[RowRecord]) -> list[str]:
    """Runs that are in no table above, because they were cut, or learned from another corpus."""
    shown = {id(record) for task in _METRICS for size in SIZES for record in _compared(records, task, size)}
    others = [record for record in records if id(record) not in shown and not record.set and not record.final]
    if not others:
        return []
    cells = [
        [
            record.row,
            record.size,
            str(record.seed),
            f"{record.samples:,} of {record.whole:,}",
            record.data["name"],
            *(_shown(record.task, record.valid["all"][name]) for name in _METRICS[record.task]),
        ]
        for record in sorted(
            others, key=lambda r: (r.task, r.size, r.data["name"], -r.samples, r.row, r.seed)
        )
    ]
    titles = ["row", "size", "seed", "samples", "data", *_FIGURES]
    return [
        "## Other runs",
        "",
        "Cut runs, and runs on other data; only those with as many samples of the same data can be compared.",
        "",
        *_markdown(titles, cells),
        "",
    ]


def _commands(records: Sequence[RowRecord]) -> list[str]:
    if not records:
        return []
    commands = list(dict.fromkeys(record.command for record in records))
    versions = ", ".join(
        sorted({f"hyperheat {r.hyperheat} (torch {r.torch}, Python {r.python})" for r in records})
    )
    return ["## Commands", "", f"With {versions}.", "", "```sh", *commands, "```", ""]


def _name(row: TableRow) -> str:
    return f"{row.title} (`{row.name}`)"


def _spread(task: str, values: Sequence[float | None]) -> str:
    """The mean of some seeds, and how far they are apart."""
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    mean = _shown(task, statistics.fmean(known))
    if len(known) == 1:
        return mean
    apart = (max(known) - min(known)) / 2 if len(known) == 2 else statistics.stdev(known)
    return f"{mean} ± {_shown(task, apart)}"


def _shown(task: str, value: float | None) -> str:
    if value is None or math.isnan(value):
        return "-"
    return f"{100 * value:.1f}" if task == "bugs" else f"{value:.3f}"


def _markdown(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(cells) + " |" for cells in (titles, ["---"] * len(titles), *rows)]


_COLOURS = 10
"""Of matplotlib, after which they begin again."""


def _draw(records: Sequence[RowRecord], out: Path) -> None:
    """Draw joint over the samples seen, and over the time of one core; a line per row, the mean of its seeds."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "the pictures need matplotlib: pip install 'hyperheat[train]'", name=error.name
        ) from None
    figure = Figure(figsize=(11, 4.5), layout="constrained")
    left = figure.add_subplot(1, 2, 1, xlabel="samples seen", ylabel="joint on validation packages, %")
    right = figure.add_subplot(1, 2, 2, xlabel="minutes of one core", sharey=left)
    for place, (name, curve, minutes) in enumerate(_curves(records)):
        style = ".--" if place >= _COLOURS else ".-"
        joint = [100 * point["joint"] for point in curve]
        left.plot([point["samples"] for point in curve], joint, style, label=name)
        right.plot([minutes * (at + 1) / len(curve) for at in range(len(curve))], joint, style)
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", fontsize="small")
    with whole_file(out) as temporary:
        figure.savefig(temporary, dpi=120, format=out.suffix.lstrip("."))


def _curves(records: Sequence[RowRecord]) -> Iterable[tuple[str, list[dict[str, float]], float]]:
    for row in dict.fromkeys(record.row for record in records):
        runs = [record for record in records if record.row == row]
        points = min((run.curve for run in runs), key=len)
        mean = [
            {
                "samples": statistics.fmean(run.curve[at]["samples"] for run in runs),
                "joint": statistics.fmean(run.curve[at]["joint"] for run in runs),
            }
            for at in range(len(points))
        ]
        yield row, mean, statistics.fmean(run.processor_seconds for run in runs) / 60
