"""What the detector that comes with the package does on bugs that shipped: a section of a page, from released.json.

    python tools/released_page.py --evaluation eval.json --tiers tiers.json --confirmed confirm.json --before old.json

The first two are outputs of `hyperheat bugs eval --json` on the test split of released bugs, without and with the
repaired functions; the others of `hyperheat bugs confirm --json` for this detector and for the one before. `--mining mine.json`
is the output of `python -m benchmarks.mine --json`; unless it is given, the speed that was measured earlier is kept.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # also when a test runs this file

from built_in_model import is_built_in
from tables import number, percent, table
from training_runs import RESULTS, read_json, write_json

_VERDICTS = {"mended": "fixed"}  # the name in files, and the one on the page


def released_section(content: dict[str, Any]) -> list[str]:
    """The figures of one detector on released bugs, and what became of its findings in old releases."""
    evaluation, tiers, confirmed = content["evaluation"], content["tiers"]["tiers"], content["confirmed"]
    followed = {"this detector": confirmed, "the one before": content["confirmed_before"]}
    verdicts = next(iter(confirmed["verdicts"].values()))
    figures = evaluation["all"]
    joint, samples = figures["joint"], figures["samples"]
    spread = 1.96 * math.sqrt(joint * (1 - joint) / samples)
    return [
        "## Released bugs: the benchmark",
        "",
        f"{samples:,} bugs that one release of a package had and the next one fixed, in packages that are in no training",
        "data: the test split of [`data/released_bugs.jsonl.gz`](../../data/README.md). The detector was measured once; nothing was",
        f"chosen on these bugs. {_which(evaluation)}",
        "",
        *table(
            ["", "joint", "±", "loc", "repair"],
            [
                [
                    "built-in detector" if is_built_in(evaluation["weights_sha256"]) else "earlier detector",
                    f"**{percent(joint)}**",
                    f"{100 * spread:.1f}",
                    percent(figures["loc"]),
                    percent(figures["repair"]),
                ]
            ],
        ),
        "",
        *table(
            ["kind", "bugs", "joint", "loc", "repair"],
            [
                [
                    kind,
                    number(row["samples"]),
                    *(percent(row[name]) for name in ("joint", "loc", "repair")),
                ]
                for kind, row in evaluation["by_kind"].items()
            ],
        ),
        "",
        "What `hyperheat check` would have shown of these bugs, and its alarms in the same functions after they were fixed:",
        "",
        *table(
            ["shown", "bugs found", "wrong findings in functions with a bug", "alarms in fixed functions"],
            [
                [
                    f"tier {tier}" if tier == "A" else f"tiers A to {tier}",
                    _of(row["right"], row["bugs"]),
                    _of(row["wrong"], row["bugs"]),
                    _of(row["alarms"], row["clean"]),
                ]
                for tier, row in tiers.items()
            ],
        ),
        "",
        "### What later releases made of its findings",
        "",
        f"`hyperheat bugs confirm` checked the newest release from before {confirmed['before']} of {confirmed['packages']} packages of",
        f"the test split ({number(confirmed['functions'])} functions) and followed every finding through {number(confirmed['later_releases'])} later releases.",
        "*Fixed*: a later release has exactly the suggested lines in place of the old ones. What is *still there* is what a",
        "user sees as a false alarm. These packages were drawn at random among those of the test split with lively histories; some of",
        f"them have no later release: {', '.join(confirmed['names'])}. Tiers without findings are left out.",
        "",
        *table(
            ["detector", "tier", "findings", *(str(_VERDICTS.get(name, name)) for name in verdicts)],
            [
                [
                    name,
                    tier,
                    number(total := sum(row.values())),
                    *(_of(count, total) for count in row.values()),
                ]
                for name, record in followed.items()
                for tier, row in record["verdicts"].items()
                if any(row.values())
            ],
        ),
        "",
        *_mining(content["mining"]),
        "```sh",
        "hyperheat bugs realise data/released_bugs.jsonl.gz --where split=test --with-clean --out RELEASED",
        "hyperheat bugs eval --model src/hyperheat/model --data RELEASED --without repaired --json > eval.json",
        "hyperheat bugs eval --model src/hyperheat/model --data RELEASED --json > tiers.json",
        f"hyperheat bugs confirm --packages NAMES --before {confirmed['before']} --json > confirm.json",
        f"hyperheat bugs confirm --packages NAMES --before {confirmed['before']} --model BEFORE --json > old.json",
        "python -m benchmarks.mine --json > mine.json",
        "python tools/released_page.py --evaluation eval.json --tiers tiers.json --confirmed confirm.json --before old.json --mining mine.json",
        "```",
        "",
    ]


def _mining(record: dict[str, Any]) -> list[str]:
    return [
        "### Speed of mining: `python -m benchmarks.mine --json`",
        "",
        f"{record['packages']} packages, {number(record['releases'])} releases, {number(record['changed_functions'])} changed functions,",
        f"{record['fixes']} fixes: **{record['seconds_per_package']:.2f} s** of one core per package, downloads and unpacking included.",
        "",
    ]


def _which(evaluation: dict[str, Any]) -> str:
    described = f"{number(evaluation['parameters'])} parameters, weights {evaluation['weights_sha256'][:8]}"
    if is_built_in(evaluation["weights_sha256"]):
        return f"It is the one that comes with the package ({described})."
    return (
        f"It is an earlier detector than the one that comes with the package ({described}), whose training goes on and which will be "
        "measured here when that has ended."
    )


def _of(count: int, total: int) -> str:
    return f"{number(count)} of {number(total)} ({percent(count / max(total, 1))})"


def collect(
    evaluation: Path, tiers: Path, confirmed: Path, before: Path, mining: Path | None, out: Path
) -> None:
    """Write what was measured as one file; the speed of mining is that of the file before unless it is given."""
    content = {
        "evaluation": _without_places(read_json(evaluation)),
        "tiers": _without_places(read_json(tiers)),
        "confirmed": read_json(confirmed),
        "confirmed_before": read_json(before),
        "mining": read_json(mining) if mining else read_json(out)["mining"],
    }
    if content["evaluation"]["weights_sha256"] != content["tiers"]["weights_sha256"]:
        raise ValueError(f"{tiers}: expected figures of the weights of {evaluation}, got those of others")
    for key in ("before", "names"):
        if content["confirmed"][key] != content["confirmed_before"][key]:
            raise ValueError(f"{before}: expected what {confirmed} has for {key!r}, got something else")
    write_json(out, content)


def _without_places(evaluation: dict[str, Any]) -> dict[str, Any]:
    """An evaluation without the folders of this machine and the curve, which no page shows."""
    return {key: value for key, value in evaluation.items() if key not in ("model", "data", "curve", "clean")}


def main(arguments: Sequence[str] | None = None) -> None:
    """Collect what was measured into released.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("evaluation", "tiers", "confirmed", "before"):
        parser.add_argument(f"--{name}", type=Path, required=True, metavar="FILE")
    parser.add_argument("--mining", type=Path, metavar="FILE")
    given = parser.parse_args(arguments)
    try:
        collect(
            given.evaluation,
            given.tiers,
            given.confirmed,
            given.before,
            given.mining,
            RESULTS / "released.json",
        )
    except (ValueError, OSError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
