"""Write data/: lists of real bugs, the names of the packages that were mined, and the data card.

    python tools/bug_lists.py MINED          from a folder that `hyperheat bugs mine` wrote
    python tools/bug_lists.py MINED --join   add what is new in such a folder to the lists
    python tools/bug_lists.py                only the card, from the existing lists

Joining keeps every record in the lists. It adds the packages that are not in `packages.txt` yet, and the repositories
that are not in the list of commits, without fixes that the lists already have. The test split never changes, so that
results stay comparable: new packages and repositories of that split are left out. MINED may be a run in progress.

The card also needs `data/eye_check.jsonl`, what a reader thought of some of the records.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # also when a test runs this file

from tables import number, percent, table

from hyperheat.bugs.corpus.packages import read_names, split_of
from hyperheat.bugs.corpus.workspace import load_record
from hyperheat.bugs.dataset import SPLITS
from hyperheat.bugs.mining.fix_selection import group_of, take_distinct
from hyperheat.bugs.mining.references import read_records, write_records
from hyperheat.rewrites import KINDS

DATA = Path(__file__).parents[1] / "data"
RELEASED, COMMITTED = "released_bugs.jsonl.gz", "committed_bugs.jsonl.gz"
VERDICTS = ("bug", "setting", "refactoring", "unsure")
_MIN_RELEASES = 3


def write_lists(mined: Path, data: Path = DATA) -> None:
    """Split what was mined into the two lists, and list the packages that have enough releases."""
    _write_bugs(read_records(mined / "references.jsonl.gz"), data)
    _write_names((name for project in _mined_projects(mined) if (name := _compared_package(project))), data)


def join_lists(mined: Path, data: Path = DATA) -> Counter[str]:
    """Add new packages and repositories to the lists; return counts of what was added and left out."""
    present = [*read_records(data / RELEASED), *read_records(data / COMMITTED)]
    names = {package.name for package in read_names(data / "packages.txt")}
    repositories = {record["repo"] for record in present if "repo" in record}
    counts: Counter[str] = Counter()
    new = []
    for project in _mined_projects(mined):
        if "package" in project:
            known, usable = project["package"] in names, _compared_package(project)
        else:
            known, usable = any(fix["repo"] in repositories for fix in project["fixes"]), True
        if known:
            counts["projects that the lists already have"] += 1
        elif not usable:
            counts[f"packages with fewer than {_MIN_RELEASES} releases"] += 1
        else:
            new.append(project)
    found = take_distinct([*([record] for record in present), *(project["fixes"] for project in new)], counts)
    added = [record for record in found[len(present) :] if record["split"] != "test"]
    counts["fixes in the test split"] = len(found) - len(present) - len(added)
    counts["added: released bugs"] = sum("package" in record for record in added)
    counts["added: bugs in commits"] = sum("repo" in record for record in added)
    packages = {project["package"] for project in new if "package" in project}
    packages = {name for name in packages if split_of(name, 0) != "test"}
    counts["added: packages"] = len(packages)
    _write_bugs([*present, *added], data)
    _write_names(names | packages, data)
    return +counts


def _mined_projects(mined: Path) -> Iterator[dict[str, Any]]:
    """What was found in each package and repository; their fixes are in order of time."""
    for path in sorted((mined / ".work" / "mined").glob("*.json")):
        yield load_record(path)


def _compared_package(project: dict[str, Any]) -> str:
    """The name of a package with enough releases to compare; empty for others."""
    return project["package"] if len(project.get("releases", ())) >= _MIN_RELEASES else ""


def _write_bugs(records: Iterable[dict[str, Any]], data: Path) -> None:
    records = sorted(records, key=lambda record: _order(record.get("package") or record["repo"]))
    write_records((r for r in records if "package" in r), data / RELEASED)
    write_records((r for r in records if "repo" in r), data / COMMITTED)


def _write_names(names: Iterable[str], data: Path) -> None:
    head = (
        "# Packages whose releases were compared: those with three or more final releases that can be read.\n"
    )
    lines = "".join(f"{name}\n" for name in sorted(names, key=_order))
    (data / "packages.txt").write_text(head + lines, encoding="utf-8")


def _order(project: str) -> str:
    """What projects are sorted by: the name of their file in a folder of mined projects."""
    return f"{project.replace('/', '+')}.json"


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
    parser.add_argument("--join", action="store_true", help="add to the lists instead of replacing them")
    given = parser.parse_args(arguments)
    if given.join and not given.mined:
        parser.error("--join needs the folder MINED")
    if given.mined and not (given.mined / ".work" / "mined").is_dir():
        parser.error(f"{given.mined} is not a folder that `hyperheat bugs mine` wrote")
    if given.join:
        for what, count in sorted(join_lists(given.mined).items()):
            sys.stdout.write(f"{count:>10,}  {what}\n")
    elif given.mined:
        write_lists(given.mined)
    (DATA / "README.md").write_text(card(), encoding="utf-8")


if __name__ == "__main__":
    main()
