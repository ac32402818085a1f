"""The section on explanations in the page of the checker."""

from typing import Any

from built_in_model import earlier_note
from tables import number, percent, table

_FIRST = {
    "variable": "a variable",
    "token": "a token",
    "relation": "a relation of the place",
    "none": "nothing, as no part mattered",
}


def why_section(content: dict[str, Any]) -> list[str]:
    """The section from what `python -m benchmarks.why --json` wrote."""
    bugs, deletion, misuse = content["bugs"], content["deletion"], content["misuse"]
    count = sum(bugs.values())
    kinds = ", ".join(f"{of_kind} {kind}" for kind, of_kind in sorted(bugs.items()))
    named_first = ", ".join(f"{_FIRST[kind]} {percent(n / count, 0)}" for kind, n in content["first"].items())
    return [
        "## Explanations",
        "",
        "What `hyperheat explain` and `check --why` name is found by removing one part of the function at a time ([method](../check.md#why)). Measured on",
        f"{count:,} bugs planted in {content['code']}, all of which the model finds with a probability of at least 0.5:",
        f"{kinds}.",
        "",
        *earlier_note(content["model"]),
        "*Deletion*: the three parts that are named first are removed together, and the model is asked again. If they are what the finding",
        "rests on, it should go away; it is gone when its probability is below 0.5. For comparison, as many parts of the same kinds are drawn",
        "at random, or taken from nearest to the place.",
        "",
        *table(
            ["removed", "probability of the finding", "findings gone"],
            [
                ["nothing", f"{deletion['before']:.3f}", ""],
                *(
                    [title, f"{deletion[key]:.3f}", percent(deletion[f"gone_{key}"])]
                    for title, key in (
                        ("three parts drawn at random", "random"),
                        ("the three nearest parts", "nearest"),
                        ("**the three parts named first**", "named"),
                    )
                ),
            ],
        ),
        "",
        f"Named first: {named_first}.",
        "",
        *_misuse(misuse),
        "*Time*: seconds of processor time for one explanation, by the size of the function, on a shared machine. Beyond a few hundred nodes it",
        f"grows no further, since only the nearest parts are tried: here {number(content['left_out'])} parts were left out in all.",
        "",
        *table(
            ["nodes, at most", "explanations", "median", "longest"],
            [
                [
                    number(row["nodes"]),
                    number(row["explanations"]),
                    f"{row['median']:.2f}",
                    f"{row['max']:.2f}",
                ]
                for row in content["seconds"]
            ],
        ),
        "",
        "```sh",
        f"python -m benchmarks.why{_path(content['code'])} --bugs {content['asked']} --seed {content['seed']} --json > docs/results/why.json",
        "python tools/write_results.py",
        "```",
        "",
    ]


def _misuse(misuse: dict[str, Any]) -> list[str]:
    bugs = misuse["bugs"]
    if not bugs:
        return []
    return [
        f"*Variable misuse*: in **{percent(misuse['named'] / bugs, 0)}** of {bugs:,} such bugs, the wrong or the right variable is among the first three words",
        f"named, the word at the place itself not counted; three words at random would do so in {percent(misuse['chance'] / bugs, 0)}.",
        "",
    ]


def _path(code: str) -> str:
    """The folder of the code as an argument; none for the standard library."""
    return "" if code.startswith("the standard library") else f" {code.upper()}"
