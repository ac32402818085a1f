"""The page of models that complete statements."""

from collections.abc import Sequence
from typing import Any

from degree_section import degree_section
from growth_section import growth_section, import_section
from inductive_section import inductive_section
from settings_table import settings_table
from tables import number, table

Records = list[dict[str, Any]]
_STARE = "StarE's"
_PAPER = {
    "paper: StarE, rerun": ("0.654 ± 0.002", "0.586 ± 0.002", "0.777 ± 0.002"),
    "paper: HEAT, max": ("0.666 ± 0.003", "0.605 ± 0.004", "0.779 ± 0.002"),
    "paper: HEAT, cross-attention": ("0.666 ± 0.003", "0.599 ± 0.004", "0.787 ± 0.003"),
    "paper: HEAT, cross-attention and labels": ("0.667 ± 0.003", "0.601 ± 0.003", "0.789 ± 0.001"),
    "paper: Hy-Transformer, as cited there": ("0.699", "0.637", "0.812"),
}
"""MRR, H@1 and H@10 on WD50K(100) in the HEAT paper, means of five seeds."""


def kg_page(
    rows: Records,
    details: dict[str, Any],
    speed: Records,
    plain: Records,
    growth: Records,
    whole_growth: Records,
    inductive: Sequence[tuple[Records, dict[str, Any]]] = (),
    degree: dict[str, Any] | None = None,
    imported: Records | None = None,
) -> str:
    """The page from what `tools/collect_kg.py` and the benchmarks `kg` and `kg_growth` wrote."""
    protocols = list(dict.fromkeys(row["protocol"] for row in rows))
    sections = [line for name in protocols for line in _section(name, rows, details)]
    return "\n".join(
        [
            "# Completing statements: encoders compared",
            "",
            "Models that fill in the subject or the object of a statement with qualifiers. All answer the same questions; *Configurations*",
            "lists how they differ. Written by `python tools/write_results.py` from the JSON files in this folder.",
            "",
            "- *MRR*: the mean of 1 / rank of the true answer. *H@k*: the share of ranks of at most k. Both the object and the subject of",
            "  every statement are asked for. Ranks are filtered: other known answers do not count as wrong.",
            "- *tied*: answers that share their score with another candidate; ties count half.",
            "- *minutes*: training time on one core of a shared machine without a GPU.",
            "- *seeds*: the number of runs that the row is the mean of; 0 if nothing is trained.",
            "",
            *sections,
            *(["## What the graph is worth", "", *degree_section(degree), ""] if degree else []),
            "## Curves",
            "",
            "A model that reads the statements around its questions has two losses; their sum is drawn.",
            "",
            "![loss in training over the questions seen](kg-loss.png)",
            "",
            "## Configurations",
            "",
            *_settings(details),
            "",
            "## Commands",
            "",
            "`RUNS` is a folder of your choice, `LABELS` the file of labels of WD50K, and `HYPERHEAT_DATA` the folder of the data sets.",
            "The runs used the compiled kernel (`HYPERHEAT_KERNEL=1`).",
            "",
            "```sh",
            *_commands(details),
            "```",
            "",
            *(inductive_section(inductive) if inductive else []),
            "## Speed: `python -m benchmarks.kg`",
            "",
            *_speed(speed, plain),
            "",
            "## Large graphs: `python -m benchmarks.kg_growth`",
            "",
            *growth_section(growth, whole_growth),
            "",
            *(
                ["## Importing a dump: `python -m benchmarks.kg_import`", "", *import_section(imported), ""]
                if imported
                else []
            ),
            "## How to read this",
            "",
            "- StarE's protocol trains on train and valid and tests on test, as all published figures do. Its candidates are the entities",
            "  that are subject or object in any split, which peeks at test. The other sections change one or more of these.",
            "- The paper trains five seeds for a thousand epochs each. Ours have the steps and seeds shown; a single seed does not tell how",
            "  much another would differ.",
            "- The only parameter of the heuristic was chosen on validation statements whose main triple is not in train.",
            "",
        ]
    )


def _section(protocol: str, rows: Records, details: dict[str, Any]) -> list[str]:
    """The figures under one protocol: the main table, by direction and by number of qualifiers."""
    asked = details["protocols"][protocol]
    chosen = [row for row in rows if row["protocol"] == protocol]
    measured = {row["row"]: details["evaluations"][row["row"]][protocol] for row in chosen}
    titles = ["", "MRR", "H@1", "H@3", "H@10", "tied", "parameters", "minutes", "seeds"]
    cells = [_row(row, measured[row["row"]]) for row in chosen]
    if protocol == _STARE and asked["dataset"] == "wd50k_100":
        cells += [[name, mrr, h1, "", h10, "", "", "", "5"] for name, (mrr, h1, h10) in _PAPER.items()]
        cells[-1][-1] = ""
    groups = list(next(iter(measured.values()))["metrics"])
    by_group = [
        [
            group,
            number(int(next(iter(measured.values()))["metrics"][group]["queries"])),
            *(f"{figures['metrics'][group]['mrr']:.3f}" for figures in measured.values()),
        ]
        for group in groups[1:]
    ]
    return [
        f"## {asked['dataset']}, protocol {protocol}",
        "",
        f"Trained on {asked['train_on']}, evaluated on the {asked['statements']:,} statements of {asked['evaluate_on']}"
        + (" whose main triple is not in the training data" if asked["without_leaks"] else "")
        + f" (SHA-256 {asked['sha256'][:12]}).",
        f"Candidates: {asked['candidates']:,} ({_CANDIDATES[asked['candidate_set']]}). "
        f"Filter key: {_KEYS[asked['filter_key']]}.",
        "",
        *table(titles, cells),
        "",
        "MRR by what is asked for, and by the number of qualifiers:",
        "",
        *table(["", "questions", *measured], by_group),
        "",
    ]


_CANDIDATES = {
    "stare": "subjects and objects of all splits; on JF17K and WikiPeople every entity",
    "main": "subjects and objects of all splits",
    "training": "subjects and objects of the training data",
    "all": "every entity",
}
_KEYS = {"qualifiers": "entity, relation and all qualifiers", "triple": "entity and relation"}


def _row(row: dict[str, Any], figures: dict[str, Any]) -> list[str]:
    both, deviation = figures["metrics"]["both"], figures["mrr_deviation"]
    spread = "" if deviation is None else f" ± {deviation:.3f}"
    return [
        row["row"],
        f"**{both['mrr']:.3f}**{spread}",
        *(f"{both[key]:.3f}" for key in ("h1", "h3", "h10")),
        *(number(value) for value in (figures["tied"], figures["parameters"], row["minutes"], row["seeds"])),
    ]


def _settings(details: dict[str, Any]) -> list[str]:
    runs = details["runs"]
    return settings_table(runs, {key: [run[key] for run in runs] for key in ("steps", "epochs")})


def _commands(details: dict[str, Any]) -> list[str]:
    protocols, runs = details["protocols"], details["runs"]
    data = next(iter(protocols.values()))["dataset"]
    lines, collected = [], []
    if "heuristic" in details["evaluations"]:
        folder = "RUNS/heuristic"
        lines.append(f"mkdir -p {folder}")
        for place, name in enumerate(details["evaluations"]["heuristic"]):
            told = "".join(f" {option}" for option in protocols[name]["options"])
            lines.append(
                f"hyperheat kg eval --model heuristic --data {data}{told} --json > {folder}/eval-{place}.json"
            )
        collected.append(f"--heuristic {folder}")
    for run in runs:
        for seed in run["seeds"]:
            folder = f"RUNS/{run['row'].replace(' ', '-')}" + (f"-{seed}" if len(run["seeds"]) > 1 else "")
            changes = [*run["set"], *([f"train.seed={seed}"] if seed else [])]
            told = "" if run["settings"]["model"]["labels"] == "NoLabels" else " --labels LABELS"
            told += " --set " + " ".join(changes) if changes else ""
            lines.append(f"hyperheat kg train --recipe {run['recipe']} --data {data} --out {folder}{told}")
            for protocol, name in run["files"].items():
                told = "".join(f" {option}" for option in protocols[protocol]["options"])
                lines.append(
                    f"hyperheat kg eval --model {folder}/best --data {data}{told} --json > {folder}/eval-{name}.json"
                )
            collected.append(f"--run '{run['row']}={folder}'")
    return [
        *lines,
        f"python tools/collect_kg.py {' '.join(collected)}",
        f"python -m benchmarks.kg --data {data} --json > docs/results/kg-speed.json",
        f"python -m benchmarks.kg --data {data} --no-kernel --json > docs/results/kg-speed-plain.json",
        "python -m benchmarks.kg_growth --json > docs/results/kg-growth.json",
        "python -m benchmarks.kg_growth --recipe heat --statements 10000 --statements 100000 --steps 1 --json "
        "> docs/results/kg-growth-whole.json",
        "python -m benchmarks.kg_import --json > docs/results/kg-import.json",
        "python tools/write_results.py",
    ]


def _speed(records: Records, plain: Records) -> list[str]:
    rows = [[a["encoder"], *_figures(a), *_figures(b)] for a, b in zip(records, plain, strict=True)]
    return [
        "CPU seconds on one core for an epoch of training, all encoders at one width, beside a naive path that computes the same",
        "scores from the same weights, alternating in one process: a projection per token, padded questions, all entities scored. Both",
        "encode the graph once for 1,024 questions; the update of the weights is left out. Our training keeps freed memory instead of",
        "requesting it from the system in every step; *memory kept* lets the naive path do the same. The left half is with the compiled",
        "kernel, which the naive path cannot use, the right half in plain PyTorch.",
        "",
        *table(["encoder", *_SPEED, *(f"plain: {title}" for title in _SPEED)], rows),
    ]


_SPEED = ("seconds per epoch", "over naive", "memory kept")


def _figures(record: dict[str, Any]) -> list[str]:
    return [
        number(record["seconds_per_epoch"]),
        f"**{record['speedup_over_naive']:.2f}x**",
        f"{record['with_memory_kept']:.2f}x",
    ]
