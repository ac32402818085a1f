"""Write the pages of docs/results from the JSON files beside them.

`python -m benchmarks... --json` makes these, `tools/collect_bugs.py` those of trained detectors, `tools/released_page.py` those of released
bugs, `tools/collect_check.py` and `benchmarks.why` those of the checker and `tools/collect_kg.py` those of trained models of statements.
`hyperheat reproduce page` makes those of the paper's tables.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the benchmarks
sys.path.insert(0, str(Path(__file__).parent))  # also when a test runs this file

from check_page import check_page
from detector_page import detector_section
from held_out_section import held_out_section
from kg_page import kg_page
from lsp_section import lsp_section
from released_page import released_section
from settings_table import settings_table
from since_section import since_section
from sizes_section import sizes_section
from tables import fixes_command, number, percent, table
from trials_section import trials_section

from hyperheat.reproduce.tables_page import read_page_records, tables_page

FOLDER = Path(__file__).parents[1] / "docs" / "results"


def layer_page() -> str:
    """How fast a layer is."""
    layer, kernel, growth, collate = (_read(name) for name in ("layer", "layer-kernel", "growth", "collate"))
    return "\n".join(
        [
            "# How fast a layer is",
            "",
            "Measured on two cores of a shared machine (AVX2, no GPU), torch 2.13, float32, dropout 0. All contestants of a row",
            "run in turns in one process with the same allocator; the medians count, and ratios say more than milliseconds.",
            "Written by `python tools/write_results.py` from the JSON files in this folder.",
            "",
            "- *over paper*: our time against the paper's algorithm as published (rows packed greedily into widths 16 to 1024,",
            "  `nn.MultiheadAttention` with its defaults and a mask, scattered maximum), on the same weights, with equal results.",
            "- *over lean paper*: the same without what the published code does for nothing (averaging attention weights,",
            "  building the masks anew in every layer).",
            "- *of limit*: floating-point operations that cannot be avoided, per second, against those of the layer's largest",
            "  matrix product alone in the same process.",
            "- AllSet and PyTorch Geometric's `HypergraphConv` compute something else and less: they know no qualifiers.",
            "",
            "Workloads: *code* is a batch of 16 Python functions (one token sequence of 100 to 455 and 300 smaller edges each);",
            "*wd50k* is a knowledge graph of 22,738 statements over 17,684 entities with the sizes of WD50K(100).",
            "",
            "## Plain PyTorch: `layer.json`",
            "",
            "One layer: `python -m benchmarks.layer --layers 1 --dim 128 --json`, then the same with `--workload code --dim 256`. Six layers: from a run\nof the same commands without `--layers`; its slowest rows rest on two or three turns. *wd50k* at width 256 takes many minutes and is\nleft out. The machine was shared throughout: between runs, ratios moved by up to a quarter.",
            "",
            *_layer_table(layer),
            "",
            "## With the compiled kernel: the one-layer commands with `--kernel`, `layer-kernel.json`",
            "",
            "Opt in with `hyperheat.nn.fast.kernel.load()` or `HYPERHEAT_KERNEL=1`; it needs a C compiler.",
            "",
            *_layer_table(kernel),
            "",
            "## Growth: `python -m benchmarks.growth --json`, in `growth.json`",
            "",
            "Encoding graphs with twice as many edges as nodes, 2 layers of width 64: time and memory grow in line with the graph.",
            "",
            *table(
                ["nodes", "edges", "plan ms", "encode ms", "µs per node", "peak MB", "KB per node"],
                [[number(value) for value in record.values()] for record in growth],
            ),
            "",
            "## Planning: `python -m benchmarks.collate --json`, in `collate.json`",
            "",
            f"Planning a batch of 16 functions takes {collate[0]['collate_ms']} ms, a training step of 4 layers of width 128 on it",
            f"{collate[0]['step_ms']:,} ms: {100 * collate[0]['collate_share']:.1f} %.",
            "",
        ]
    )


def extract_page() -> str:
    """How fast functions become hypergraphs, and how many calls are resolved."""
    speed, jedi = _read("extract"), _read("jedi")
    share = 100 * speed["calls_resolved"] / speed["calls"]
    return "\n".join(
        [
            "# How fast functions become hypergraphs",
            "",
            "Measured on one core of a shared machine, Python 3.11. Written by `python tools/write_results.py` from the JSON files",
            "in this folder.",
            "",
            "## The standard library, its test suite included: `python -m benchmarks.extract --json`, in `extract.json`",
            "",
            *table(
                [
                    "files",
                    "refused",
                    "functions per second",
                    "KB per second",
                    "cost over parse and tokenize",
                    "calls resolved",
                ],
                [
                    [
                        number(speed["files"]),
                        number(speed["files_failed"]),
                        number(speed["functions_per_second"]),
                        number(speed["kb_per_second"]),
                        f"**{speed['cost_over_parse_and_tokenize']}x**",
                        f"{share:.1f} % of {speed['calls']:,}",
                    ]
                ],
            ),
            "",
            "The cost is that of everything, from the text to the finished graph, over `ast.parse` and `tokenize` of the same files in",
            "the same run. The refused files do not parse or do not compile: they test the parser.",
            "",
            "## Calls resolved to formal names, beside jedi: `python tools/compare_jedi.py --seed 11`, in `jedi.json`",
            "",
            *table(
                ["calls", "ours", "jedi", "both", "of which agree"],
                [
                    [
                        *(number(jedi[key]) for key in ("calls", "ours", "jedi", "both")),
                        f"{100 * jedi['agree'] / jedi['both']:.1f} %",
                    ]
                ],
            ),
            "",
        ]
    )


def bugs_page(folder: Path = FOLDER) -> str:
    """How good detectors with different encoders are."""
    rows, details, speed = (_read(name, folder) for name in ("bugs", "bugs-runs", "bugs-speed"))
    runs = details["runs"]
    return "\n".join(
        [
            "# Finding bugs: encoders compared",
            "",
            "Detectors that point at the buggy place in a Python function, or say that there is none, and choose the repair. All",
            "have the same head, learn from the same corpus and answer the same questions; what differs beside the encoder is",
            "under *Configurations*. Written by `python tools/write_results.py` from the JSON files in this folder.",
            "",
            "- *joint*: the right place (or no bug) and, for a bug, the right repair there; over all samples.",
            "- *loc*: the right place or no bug; over all samples. *repair*: the right repair, given the place; over bugs.",
            "- *false alarms*: functions without a bug in which a place was chosen. *calibration error*: of the probability of the",
            "  chosen place, over 50 bins.",
            "- *±*: half of the 95 % interval of *joint* that the number of samples allows, were they independent.",
            f"- *over {runs[0]['row']}*: the difference in *joint*, in points.",
            "",
            *_bugs_results(rows, details, "heldout", "Held-out packages"),
            *_bugs_results(rows, details, "realbugs", "Real fixes"),
            *(held_out_section(_read("held-out", folder)) if (folder / "held-out.json").exists() else ()),
            *(released_section(_read("released", folder)) if (folder / "released.json").exists() else ()),
            *(detector_section(_read("detector", folder)) if (folder / "detector.json").exists() else ()),
            *(trials_section(_read("trials", folder)) if (folder / "trials.json").exists() else ()),
            *(sizes_section(_read("sizes", folder)) if (folder / "sizes.json").exists() else ()),
            "## Curves",
            "",
            "*joint* and the loss on the validation split over the samples seen; the points are in `bugs-runs.json`.",
            "",
            "![joint accuracy on the validation split over the samples seen](bugs-curves.png)",
            "",
            "![loss on the validation split over the samples seen](bugs-loss.png)",
            "",
            "## Data",
            "",
            *_bugs_data(details),
            "",
            "## Configurations",
            "",
            *_bugs_settings(runs),
            "",
            "## Commands",
            "",
            "`CORPUS`, `REALBUGS`, `REPOS` and `RUNS` are folders of your choice.",
            "",
            "```sh",
            *_bugs_commands(details),
            "```",
            "",
            "## Speed: `python -m benchmarks.bugs --json`, in `bugs-speed.json`",
            "",
            *_bugs_speed(speed),
            "",
            "## How to read this",
            "",
            "- Each row is one run with one seed: differences of the size of *±* or less say nothing.",
            "- The runs are short, on two cores of a shared machine without a GPU: they show what each encoder learns from so many",
            "  samples and so many parameters, not what it can reach. Minutes depend on what else the machine did.",
            "- Held-out packages have random bugs. Real fixes have bugs that people made and fixed, as far as the repair is one of",
            "  the candidates.",
            "- What a model cannot read counts as wrong.",
            "- The model that is measured is the one with the best watched value on the validation split.",
            "- The paper, on other data and after longer training, has *joint* at 76.5, 69.8 and 65.6 % for HEAT, the GNN and GREAT on",
            "  random bugs, and at 24.6, 22.0 and 16.8 % on PyPIBugs.",
            "",
        ]
    )


def _bugs_results(rows: list[dict], details: dict, data: str, title: str) -> list[str]:
    """The main table and that by kind on one data set; nothing if there are no rows on it."""
    rows = [row for row in rows if row["data"] == data]
    if not rows:
        return []
    measured = {run["row"]: run["evaluations"][data] for run in details["runs"]}
    titles = [
        "",
        "joint",
        "±",
        f"over {rows[0]['row']}",
        "loc",
        "repair",
        "false alarms",
        "calibration error",
    ]
    titles += ["samples seen", "parameters", "minutes"]
    cells = []
    for row in rows:
        figures = measured[row["row"]]["all"]
        spread = 1.96 * math.sqrt(row["joint"] * (1 - row["joint"]) / figures["samples"])
        cells.append(
            [
                row["row"],
                f"**{percent(row['joint'])}**",
                f"{100 * spread:.1f}",
                f"{100 * (row['joint'] - rows[0]['joint']):+.1f}" if row is not rows[0] else "",
                *(
                    percent(value)
                    for value in (row["loc"], row["repair"], row["false_alarms"], figures["ece"])
                ),
                *(number(row[key]) for key in ("samples_seen", "parameters", "minutes")),
            ]
        )
    first = measured[rows[0]["row"]]
    unread = {name: m["all"]["unread"] for name, m in measured.items() if m["all"]["unread"]}
    by_kind = [
        [
            kind,
            number(figures["samples"]),
            *(percent(m["by_kind"][kind]["joint"]) for m in measured.values()),
        ]
        for kind, figures in first["by_kind"].items()
    ]
    return [
        f"## {title}",
        "",
        f"{first['all']['samples']:,} samples, {first['all']['buggy']:,} of them with a bug. Not read: "
        + (", ".join(f"{count:,} by {name}" for name, count in unread.items()) or "none")
        + ".",
        "",
        *table(titles, cells),
        "",
        "*joint* by kind of bug:",
        "",
        *table(["kind", "samples", *measured], by_kind),
        "",
    ]


def _bugs_data(details: dict) -> list[str]:
    corpus, fixes = details["corpus"], details["realbugs"]
    splits = ("train", "valid", "test")
    kinds = sorted({kind for split in splits for kind in corpus["kinds"][split]})
    rows = [[kind, *(number(corpus["kinds"][split].get(kind, 0)) for split in splits)] for kind in kinds]
    rows += [[what, *(number(corpus[what][split]) for split in splits)] for what in ("samples", "packages")]
    rate, made = corpus["samples_per_second"], sum(corpus["samples"].values())
    speed = f", made at {number(rate)} a second" if rate else ""
    lines = [
        f"The corpus: {sum(corpus['packages'].values()):,} packages of PyPI, {corpus['functions']:,} functions, {made:,} samples{speed}. "
        f"{corpus['packages_failed']:,} packages",
        "failed. Packages are split, not functions; near-duplicates are removed across all of them.",
        "",
        *table(["", *splits], rows),
    ]
    if fixes:
        counted = ", ".join(f"{count:,} {kind}" for kind, count in sorted(fixes["kinds"].items()))
        found = f"The real fixes: {fixes['samples']:,} samples from {fixes['repositories']:,} repositories"
        lines += ["", f"{found} ({counted})."]
    return lines


def _bugs_settings(runs: list[dict]) -> list[str]:
    more = {key: [run[key] for run in runs] for key in ("steps", "epochs")}
    return settings_table(runs, {**more, "best after samples": [run["best"]["samples"] for run in runs]})


def _bugs_commands(details: dict) -> list[str]:
    corpus, fixes, runs = details["corpus"], details["realbugs"], details["runs"]
    options = "".join(f" {option}" for option in corpus["options"])
    lines = [f"hyperheat bugs corpus --packages docs/results/bugs-packages.txt --out CORPUS{options}"]
    folders = {"heldout": "CORPUS"}
    if fixes:
        folders["realbugs"] = "REALBUGS"
        lines.append(fixes_command(fixes["settings"]))
    for run in runs:
        folder = f"RUNS/{run['row']}"
        changes = " --set " + " ".join(run["set"]) if run["set"] else ""
        lines.append(f"hyperheat bugs train --recipe {run['recipe']} --data CORPUS --out {folder}{changes}")
        for data, place in folders.items():
            told = "".join(f" {option}" for option in run["evaluations"][data]["options"])
            lines.append(
                f"hyperheat bugs eval --model {folder}/best --data {place}{told} --json > {folder}/eval-{data}.json"
            )
    named = " ".join(f"--{'extra' if run['extra'] else 'run'} {run['row']}=RUNS/{run['row']}" for run in runs)
    given = " ".join(f"--{data} {place}" for data, place in folders.items())
    if rate := corpus["samples_per_second"]:
        given += f" --corpus-seconds {round(sum(corpus['samples'].values()) / rate)}"
    return [*lines, f"python tools/collect_bugs.py {named} {given}", "python tools/write_results.py"]


def _bugs_speed(records: list[dict]) -> list[str]:
    rates = {(record["what"], record["encoder"]): record["per_second"] for record in records}
    encoders = [name for what, name in rates if what == "training"]
    rows = [[name, *(number(rates[what, name]) for what in ("training", "inference"))] for name in encoders]
    return [
        f"One core makes {number(rates['making', None])} samples a second. All encoders at width 128, each as deep as in its recipe, in turns on",
        "the same samples; graphs per second:",
        "",
        *table(["", "training", "inference"], rows),
    ]


def _read(name: str, folder: Path = FOLDER) -> Any:
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


def _layer_table(records: list[dict]) -> list[str]:
    titles = ["workload", "dim", "layers", "pass", "ms", "over paper", "over lean paper"]
    titles += ["peak MB", "paper's peak MB", "of limit", "AllSet ms", "HypergraphConv ms"]
    rows = []
    for r in records:
        others = r["others_ms"]
        row = [
            r["workload"],
            r["dim"],
            r["layers"],
            r["pass"],
            r["ms"],
            f"**{r['speedup_over_paper']:.2f}x**",
        ]
        lean = others.get("paper, lean")
        row += [f"{lean / r['ms']:.2f}x" if lean else "", r["peak_mb"], r["paper_peak_mb"]]
        row += [
            f"{100 * r['share_of_limit']:.0f} %",
            others["AllSetTransformer"],
            others.get("HypergraphConv", ""),
        ]
        rows.append([number(cell) for cell in row])
    return table(titles, rows)


_KG_FIGURES = ("kg", "kg-runs", "kg-speed", "kg-speed-plain", "kg-growth", "kg-growth-whole")
_INDUCTIVE = ("kg-inductive-v1", "kg-inductive-v2")
PAGES = {
    "layer.md": layer_page,
    "extract.md": extract_page,
    "bugs.md": bugs_page,
    "check.md": lambda: "\n".join(
        [
            check_page(_read("check"), _read("why")),
            lsp_section(_read("lsp")),
            *since_section(_read("since")),
        ]
    ),
    "tables.md": lambda: tables_page(read_page_records(FOLDER / "tables.json")),
    "kg.md": lambda: kg_page(
        *map(_read, _KG_FIGURES),
        inductive=[(_read(name), _read(f"{name}-runs")) for name in _INDUCTIVE],
        degree=_read("kg-degree"),
        imported=_read("kg-import"),
    ),
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")
