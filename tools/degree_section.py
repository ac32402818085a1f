"""What the graph is worth, by how well training knows the answer: a section of a page, from kg-degree.json.

    python tools/degree_section.py --column 'the graph alone=heuristic.json' --column 'vectors alone=without.json' ...

writes kg-degree.json anew from what `hyperheat kg eval --by degree --json` printed, each time under the same protocol.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # also when a test runs this file

from tables import number, table
from training_runs import RESULTS, named_folder, read_json, write_json

LOG = RESULTS / "kg-degree.json"
_ASKED = ("dataset", "sha256", "protocol", "statements", "candidates")


def read_columns(columns: Sequence[tuple[str, Path]]) -> dict[str, Any]:
    """The MRR of each group of answers in each column; all columns must have been asked the same."""
    found = {name: read_json(path) for name, path in columns}
    first = next(iter(found.values()))
    for name, evaluation in found.items():
        if any(evaluation[key] != first[key] for key in _ASKED):
            raise ValueError(f"{name}: expected an evaluation under the protocol of the first column")
        if list(evaluation["metrics"]) != list(first["metrics"]):
            raise ValueError(
                f"{name}: expected the groups of the first column; was it made with --by degree?"
            )
    return {
        **{key: first[key] for key in _ASKED},
        "questions": {group: metrics["queries"] for group, metrics in first["metrics"].items()},
        "mrr": {
            name: {group: round(metrics["mrr"], 4) for group, metrics in evaluation["metrics"].items()}
            for name, evaluation in found.items()
        },
    }


def degree_section(found: dict[str, Any]) -> list[str]:
    """A table of the MRR by group of answers."""
    rows = [
        [group, number(questions), *(f"{column[group]:.3f}" for column in found["mrr"].values())]
        for group, questions in found["questions"].items()
    ]
    return [
        "The degree of an answer is the number of training statements that it is in. *vectors alone*: the same model with",
        "`--without-graph`, which then has nothing to read around a question, and knows entities by their vectors. The graph helps",
        "most where the answer is in fewer than ten training statements, and least from ten to ninety-nine.",
        "",
        *table(["MRR", "questions", *found["mrr"]], rows),
        "",
        "```sh",
        *_COMMANDS,
        "```",
    ]


_COMMANDS = (
    "hyperheat kg eval --model heuristic --data wd50k_100 --by degree --json > heuristic.json",
    "hyperheat kg eval --model RUNS/HEAT-around-each-question-0/best --data wd50k_100 --by degree --without-graph --json > vectors.json",
    "hyperheat kg eval --model RUNS/HEAT-around-each-question-0/best --data wd50k_100 --by degree --json > both.json",
    "python tools/degree_section.py --column heuristic=heuristic.json --column 'vectors alone=vectors.json' "
    "--column heat-surroundings=both.json",
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--column", action="append", required=True, type=named_folder, metavar="NAME=FILE")
    parser.add_argument("--out", type=Path, default=LOG, metavar="FILE")
    given = parser.parse_args(arguments)
    try:
        write_json(given.out, read_columns(given.column))
    except (ValueError, OSError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
