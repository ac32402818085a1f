"""The part of the page of completed statements that is about entities never seen in training."""

from collections.abc import Mapping, Sequence
from typing import Any

from tables import number, table

Records = list[dict[str, Any]]
_PUBLISHED = {
    "wd20k_100_v1-inference": {"StarE with label features": 0.113, "QBLP": 0.107, "BLP": 0.057},
    "wd20k_100_v2-inference": {"QBLP": 0.067, "StarE with label features": 0.051, "BLP": 0.040},
}
"""The best MRR on test of each model in the result files of Ali et al. (2021), whatever its number of qualifiers."""


def inductive_section(collected: Sequence[tuple[Records, dict[str, Any]]]) -> list[str]:
    """The section from what `tools/collect_kg.py --name` wrote for each graph."""
    lines = [
        "## Entities never seen in training",
        "",
        "Models are trained on one graph, read another one whose subjects and objects are all new, and answer about these, without",
        "training: [what is measured, and how](../knowledge-graphs.md#entities-never-seen-in-training). The settings were chosen on valid.",
        "The published figures are of models that read labels; their code is closest to the filter `triple`.",
        "",
    ]
    for rows, details in collected:
        lines += _graph(rows, details)
    return [*lines, "```sh", *(line for _, details in collected for line in _commands(details)), "```", ""]


def _graph(rows: Records, details: dict[str, Any]) -> list[str]:
    """The figures of one graph under all protocols."""
    first = next(iter(details["protocols"].values()))
    cells = []
    for row in rows:
        asked = details["protocols"][row["protocol"]]
        figures = details["evaluations"][row["row"]][row["protocol"]]
        both, spread = figures["metrics"]["both"], figures["mrr_deviation"]
        cells.append(
            [
                row["row"],
                asked["evaluate_on"],
                asked["filter_key"],
                f"**{both['mrr']:.3f}**" + ("" if spread is None else f" ± {spread:.3f}"),
                *(f"{both[key]:.3f}" for key in ("h1", "h3", "h10")),
                *(f"{figures['metrics'][side]['mrr']:.3f}" for side in ("object", "subject")),
                number(row["minutes"]),
                str(row["seeds"]),
            ]
        )
    published = _PUBLISHED.get(first["dataset"], {})
    cells += [
        [f"published: {name}", "test", "triple", f"{mrr:.3f}", *[""] * 7] for name, mrr in published.items()
    ]
    titles = [
        "",
        "split",
        "filter",
        "MRR",
        "H@1",
        "H@3",
        "H@10",
        "objects MRR",
        "subjects MRR",
        "minutes",
        "seeds",
    ]
    sizes = {asked["evaluate_on"]: asked for asked in details["protocols"].values()}
    counts = " and ".join(
        f"the {asked['statements']:,} statements of {split} (SHA-256 {asked['sha256'][:12]})"
        for split, asked in sorted(sizes.items(), reverse=True)
    )
    return [
        f"### {first['dataset']}",
        "",
        f"Evaluated on {counts}, among {first['candidates']:,} candidates.",
        "",
        *table(titles, cells),
        "",
        f"![loss in training over the questions seen]({_name(first['dataset'])}-loss.png)",
        "",
    ]


def _commands(details: Mapping[str, Any]) -> list[str]:
    protocols = details["protocols"]
    data = next(iter(protocols.values()))["dataset"]
    trained, runs = data.removesuffix("-inference"), f"RUNS/{data}"
    lines = [f"mkdir -p {runs}/heuristic"]
    for place, name in enumerate(details["evaluations"]["heuristic"]):
        told = " ".join(protocols[name]["options"])
        lines.append(
            f"hyperheat kg eval --model heuristic --data {data} {told} --json > {runs}/heuristic/eval-{place}.json"
        )
    collected = [f"--heuristic {runs}/heuristic"]
    for run in details["runs"]:
        for seed in run["seeds"]:
            folder = f"{runs}/{run['row'].replace(' ', '-')}-{seed}"
            changes = [*run["set"], *([f"train.seed={seed}"] if seed else [])]
            told = " --set " + " ".join(changes) if changes else ""
            lines.append(
                f"hyperheat kg train --recipe {run['recipe']} --data {trained} --validate-on {data} --out {folder}{told}"
            )
            for protocol, name in run["files"].items():
                told = " ".join(protocols[protocol]["options"])
                lines.append(
                    f"hyperheat kg eval --model {folder}/best --inductive --data {data} {told} --json "
                    f"> {folder}/eval-{name}.json"
                )
            collected.append(f"--run '{run['row']}={folder}'")
    return [*lines, f"python tools/collect_kg.py --name {_name(data)} {' '.join(collected)}"]


def _name(data: str) -> str:
    """How the names of the files of a graph begin."""
    return f"kg-inductive-{data.removesuffix('-inference').rpartition('_')[2]}"
