"""Write data/: lists of real bugs, the names of the packages that were mined, and the data card.

    python tools/bug_lists.py MINED      from a folder that `hyperheat bugs mine` wrote
    python tools/bug_lists.py            only the card, from the lists that are there

The card also needs `data/eye_check.jsonl`, what a reader thought of some of the records.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # also when a test runs this file

from tables import number, percent, table

from hyperheat.bugs.corpus.workspace import load_record
from hyperheat.bugs.dataset import SPLITS
from hyperheat.bugs.mining.distinct import group_of
from hyperheat.bugs.mining.references import read_records, write_records
from hyperheat.rewrites import KINDS

DATA = Path(__file__).parents[1] / "data"
RELEASED, COMMITTED = "released_bugs.jsonl.gz", "committed_bugs.jsonl.gz"
VERDICTS = ("bug", "setting", "refactoring", "unsure")
_MIN_RELEASES = 3


def write_lists(mined: Path, data: Path = DATA) -> None:
    """Split what was mined into the two lists, and list the packages that have enough releases."""
    records = read_records(mined / "references.jsonl.gz")
    write_records((r for r in records if "package" in r), data / RELEASED)
    write_records((r for r in records if "repo" in r), data / COMMITTED)
    found = (load_record(path) for path in sorted((mined / ".work" / "mined").glob("*.json")))
    names = [
        record["package"]
        for record in found
        if "package" in record and len(record.get("releases", ())) >= _MIN_RELEASES
    ]
    head = (
        "# Packages whose releases were compared: those with three or more final releases that can be read.\n"
    )
    (data / "packages.txt").write_text(head + "".join(f"{name}\n" for name in names), encoding="utf-8")


def card(data: Path = DATA) -> str:
    """The data card."""
    released, committed = read_records(data / RELEASED), read_records(data / COMMITTED)
    judged = [
        json.loads(line) for line in (data / "eye_check.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    packages = [n for n in (data / "packages.txt").read_text(encoding="utf-8").splitlines() if n[:1] != "#"]
    text = (Path(__file__).parent / "bug_lists.md").read_text(encoding="utf-8")
    parts = {
        "released": number(len(released)),
        "released_projects": number(len({r["package"] for r in released})),
        "committed": number(len(committed)),
        "committed_projects": number(len({r["repo"] for r in committed})),
        "packages": number(len(packages)),
        "judged": number(len(judged)),
        "counts": "\n".join(_counts(released, committed)),
        "projects": "\n".join(_projects(released, committed)),
        "eye_check": "\n".join(_eye_check(judged)),
        "weights": "\n".join(_weights(released, committed)),
    }
    for name, value in parts.items():
        text = text.replace(f"{{{{{name}}}}}", value)
    return text


def _counts(released: list[dict[str, Any]], committed: list[dict[str, Any]]) -> list[str]:
    groups = [
        [r for r in records if r["split"] == split] for records in (released, committed) for split in SPLITS
    ]
    counts = [Counter(r["kind"] for r in group) for group in groups]
    rows = [[kind, *(number(count[kind]) for count in counts)] for kind in KINDS]
    rows.append(["all", *(f"**{number(count.total())}**" for count in counts)])
    names = [len({r.get("package") or r["repo"] for r in group}) for group in groups]
    rows.append(["packages or repositories", *map(number, names)])
    return table(["kind", *(f"released, {s}" for s in SPLITS), *(f"commits, {s}" for s in SPLITS)], rows)


def _projects(released: list[dict[str, Any]], committed: list[dict[str, Any]]) -> list[str]:
    def most(names: Iterable[str]) -> str:
        return ", ".join(f"{name} {count}" for name, count in Counter(names).most_common(30))

    return [
        f"Packages with most released bugs: {most(r['package'] for r in released)}.",
        "",
        f"Repositories with most: {most(r['repo'] for r in committed)}.",
    ]


def _eye_check(judged: list[dict[str, Any]]) -> list[str]:
    rows = []
    for name, group in (
        ("all", judged),
        *((kind, [j for j in judged if j["kind"] == kind]) for kind in KINDS),
    ):
        if not group:
            continue
        verdicts = Counter(j["verdict"] for j in group)
        bugs = [j for j in group if j["verdict"] == "bug"]
        visible = sum(j["visible"] for j in bugs)
        cells = [f"{verdicts[v]} ({percent(verdicts[v] / len(group), 0)})" for v in VERDICTS]
        rows.append([name, str(len(group)), *cells, f"{visible} of {len(bugs)}"])
    titles = ["kind", "read", "bug", "setting or default", "refactoring", "unsure"]
    return table([*titles, "bugs visible from the function alone"], rows)


def _weights(released: list[dict[str, Any]], committed: list[dict[str, Any]]) -> list[str]:
    counts = Counter((group_of(r), r["weight"]) for r in (*released, *committed))
    rows = [
        [group, f"{weight:.2f}", number(count)]
        for (group, weight), count in sorted(counts.items(), key=lambda item: -item[0][1])
    ]
    return table(["records", "weight", "number"], rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mined", type=Path, nargs="?", metavar="MINED")
    given = parser.parse_args(arguments)
    if given.mined:
        write_lists(given.mined)
    (DATA / "README.md").write_text(card(), encoding="utf-8")


if __name__ == "__main__":
    main()
