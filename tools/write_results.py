"""Write the pages of docs/results from the JSON files beside them, which `hyperheat bench ... --json` makes."""

import json
from pathlib import Path
from typing import Any

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
            "One layer: `hyperheat bench layer --layers 1 --dim 128 --json`, then the same with `--workload code --dim 256`. Six layers: from a run\nof the same commands without `--layers`; its slowest rows rest on two or three turns. *wd50k* at width 256 takes many minutes and is\nleft out. The machine was shared throughout: between runs, ratios moved by up to a quarter.",
            "",
            *_layer_table(layer),
            "",
            "## With the compiled kernel for small edges: the one-layer commands with `--kernel`, `layer-kernel.json`",
            "",
            "Opt in with `hyperheat.nn.kernel.load()` or `HYPERHEAT_KERNEL=1`; it needs a C compiler.",
            "",
            *_layer_table(kernel),
            "",
            "## Growth: `hyperheat bench growth --json`, in `growth.json`",
            "",
            "Encoding graphs with twice as many edges as nodes, 2 layers of width 64: time and memory grow in line with the graph.",
            "",
            *_table(
                ["nodes", "edges", "plan ms", "encode ms", "µs per node", "peak MB", "KB per node"],
                [[_number(value) for value in record.values()] for record in growth],
            ),
            "",
            "## Planning: `hyperheat bench collate --json`, in `collate.json`",
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
            "## The standard library, its test suite included: `hyperheat bench extract --json`, in `extract.json`",
            "",
            *_table(
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
                        _number(speed["files"]),
                        _number(speed["files_failed"]),
                        _number(speed["functions_per_second"]),
                        _number(speed["kb_per_second"]),
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
            *_table(
                ["calls", "ours", "jedi", "both", "of which agree"],
                [
                    [
                        *(_number(jedi[key]) for key in ("calls", "ours", "jedi", "both")),
                        f"{100 * jedi['agree'] / jedi['both']:.1f} %",
                    ]
                ],
            ),
            "",
        ]
    )


def _read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text())


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
        rows.append([_number(cell) for cell in row])
    return _table(titles, rows)


def _table(titles: list[str], rows: list[list[str]]) -> list[str]:
    lines = [titles, ["---"] * len(titles), *rows]
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def _number(value: object) -> str:
    if isinstance(value, float) and abs(value) >= 100:
        value = round(value)
    return f"{value:,}" if isinstance(value, int | float) else str(value)


PAGES = {"layer.md": layer_page, "extract.md": extract_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")
