"""The section on the language server, at the end of the page of the checker."""

from typing import Any

from tables import table

from benchmarks.lsp import STEPS


def lsp_section(measured: dict[str, Any]) -> str:
    """What `python -m benchmarks.lsp --json` printed, as a table."""
    rows = [
        [title, *(f"{measured[key][step]:.0f}" for key in ("median_ms", "slowest_ms", "work_ms"))]
        for step, title in STEPS.items()
        if step in measured["median_ms"]
    ]
    return "\n".join(
        [
            "## In an editor",
            "",
            f"How long an editor waits for the diagnostics of [`hyperheat lsp`](../editors.md) after an edit of a file with {measured['lines']:,} lines and",
            f"{measured['functions']} functions, over standard input and output; {measured['repeats']} turns, in which each step edits another function. The server is warm:",
            "one turn before them does not count. Findings of tiers A to C are shown. *processor ms* is the median of the work of all processes, the",
            "benchmark included. The machine was busy with other work, so `chrt` gave these processes priority over it: as on one that is not.",
            "",
            *table(["", "median ms", "slowest ms", "processor ms"], rows),
            "",
            "From `lsp.json`, written by",
            "",
            "```sh",
            f"chrt -r 1 python -m benchmarks.lsp --repeats {measured['repeats']} --json > docs/results/lsp.json",
            "```",
            "",
        ]
    )
