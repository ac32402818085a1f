"""What `hyperheat check --since` reports: of real bugs at the moment they are made, and on harmless commits.

A bug is made by reversing its fix: the repaired file is the version before, the file with the bug is that of the change.
Harmless are commits whose subject speaks of no fix. All findings in functions that changed (`--absolute`) are counted
beside those that rose. Of the new versions only functions that changed are read; earlier versions are read as in a scan.

Results are kept in a folder, one line for each bug and each commit, so that the command can be stopped and given again.
"""

import json as json_module
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.changed_code import BugCode, read_bugs, read_commits, scan_changed
from benchmarks.command import Positive, fail, run
from hyperheat.check.changes import Changes
from hyperheat.check.filters import changed_functions
from hyperheat.check.old_versions import find_rises
from hyperheat.check.rises import MARGIN
from hyperheat.check.scanned_files import ScannedFile
from hyperheat.detector.calibration import TIERS, Calibration
from hyperheat.detector.detector import Detector, load_detector
from hyperheat.report.source import SourceText

__all__ = ["main", "measure_bugs", "measure_commits", "summarise_since"]

LEVELS = (*TIERS[:-1], "all")
"""Findings of tier A, of tiers A and B and so on, and all of them."""


def measure_bugs(bugs: Iterable[BugCode], detector: Detector) -> Iterator[dict[str, Any]]:
    """What is found of each bug: place and repair must be right."""
    for bug in bugs:
        file = scan_changed(bug.data, bug.path, bug.changes, detector)
        data = file.data()
        text = SourceText(data if isinstance(data, str) else bug.text)
        found = _findings([file], bug.changes, detector)
        for finding in found:
            edits = finding.pop("edits")
            finding["right"] = text.edited(edits) == bug.repaired
        yield {"bug": bug.name, "kind": bug.kind, "findings": found}


def measure_commits(
    commits: Iterable[tuple[str, Changes, dict[Path, bytes]]], detector: Detector
) -> Iterator[dict[str, Any]]:
    """What is found in each commit."""
    for name, changes, contents in commits:
        files = [scan_changed(data, path, changes, detector) for path, data in contents.items()]
        found = _findings(files, changes, detector)
        for finding in found:
            del finding["edits"]
        functions = sum(len(changed_functions(file, changes)) for file in files)
        yield {"commit": name, "files": len(files), "functions": functions, "findings": found}


def _findings(files: list[ScannedFile], changes: Changes, detector: Detector) -> list[dict[str, Any]]:
    rises = find_rises(files, changes, detector, jobs=1).of
    return [
        {
            "confidence": suspect.finding.confidence,
            "rose": rises[suspect.finding].rose,
            "edits": suspect.finding.fix.edits,
        }
        for file in files
        for function in changed_functions(file, changes)
        for suspect in function.suspects
        if suspect.finding.confidence >= detector.calibration.bug_rate
    ]


def summarise_since(
    records: Iterable[dict[str, Any]], calibration: Calibration, *, asked: int
) -> dict[str, Any]:
    """The figures of both, at each tier; `asked` is how many commits were wanted."""
    records = list(records)
    bugs = [record for record in records if "bug" in record]
    commits = [record for record in records if "commit" in record]
    repositories = Counter(record["commit"].rpartition("@")[0] for record in commits)
    return {
        "margin": round(MARGIN, 3),
        "tiers": dict(calibration.tiers),
        "bugs": {"count": len(bugs), "found": _count_bugs(bugs, calibration)},
        "commits": {
            "asked": asked,
            "count": len(commits),
            "repositories": dict(sorted(repositories.items())),
            "functions": sum(record["functions"] for record in commits),
            "alarms": _count_alarms(commits, calibration),
        },
    }


def _count_bugs(bugs: list[dict[str, Any]], calibration: Calibration) -> dict[str, dict[str, int]]:
    """How many bugs are found, and in how many functions with one anything is, by what is shown."""
    counts = {}
    for level in LEVELS:
        shown = [[f for f in bug["findings"] if _shown(f, level, calibration)] for bug in bugs]
        risen = [[finding for finding in found if finding["rose"]] for found in shown]
        counts[level] = {
            "since": sum(any(finding["right"] for finding in found) for found in risen),
            "since_functions": sum(map(bool, risen)),
            "absolute": sum(any(finding["right"] for finding in found) for found in shown),
            "absolute_functions": sum(map(bool, shown)),
        }
    return counts


def _count_alarms(commits: list[dict[str, Any]], calibration: Calibration) -> dict[str, dict[str, int]]:
    """How many findings there are in commits, and in how many commits, by what is shown."""
    counts = {}
    for level in LEVELS:
        shown = [[f for f in commit["findings"] if _shown(f, level, calibration)] for commit in commits]
        risen = [[finding for finding in found if finding["rose"]] for found in shown]
        counts[level] = {
            "since": sum(map(len, risen)),
            "since_commits": sum(map(bool, risen)),
            "absolute": sum(map(len, shown)),
            "absolute_commits": sum(map(bool, shown)),
        }
    return counts


def _shown(finding: dict[str, Any], level: str, calibration: Calibration) -> bool:
    return level == "all" or calibration.tier(finding["confidence"]) <= level


class _Kept:
    """Results by name, in a file that grows."""

    def __init__(self, folder: Path, detector: Detector) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / f"since-{detector.sha256[:16]}.jsonl"
        lines = self._path.read_text(encoding="utf-8").splitlines() if self._path.exists() else []
        self.records: list[dict[str, Any]] = [json_module.loads(line) for line in lines]
        self.names = {record.get("bug") or record["commit"] for record in self.records}

    def add(self, records: Iterable[dict[str, Any]], tell: Callable[[str], object]) -> None:
        """Keep results as they come."""
        with self._path.open("a", encoding="utf-8") as file:
            for number, record in enumerate(records, start=1):
                self.records.append(record)
                file.write(json_module.dumps(record) + "\n")
                file.flush()
                if number % 20 == 0:
                    tell(f"{number} done, {len(self.records)} in all")


def main(
    *repos: Path,
    bugs: Path | None = None,
    split: str = "valid",
    commits: Positive = 1_000,
    work: Path,
    model: Path | None = None,
    json: bool = False,
) -> None:
    """Measure what `hyperheat check --since` reports.

    Parameters
    ----------
    repos
        Repositories, which may be bare, whose newest harmless commits are looked at, as many of each.
    bugs
        A list of released bugs, such as data/released_bugs.jsonl.gz; they are read from the package index.
    split
        The part of that list.
    commits
        How many commits in all.
    work
        A folder for results, which are not computed again.
    model
        Folder of an exported detector. Default: the built-in one.
    json
        Print JSON.
    """

    def tell(line: str) -> None:
        sys.stderr.write(f"{line}\n")

    try:
        detector = load_detector(model)
        kept = _Kept(work, detector)
        if bugs is not None:
            with tempfile.TemporaryDirectory(prefix="hyperheat-since-") as folder:
                wanted = read_bugs(bugs, split, Path(folder), without=kept.names, tell=tell)
                kept.add(measure_bugs(wanted, detector), tell)
        for repo in repos:
            wanted = read_commits(repo, -(-commits // len(repos)), without=kept.names)
            kept.add(measure_commits(wanted, detector), tell)
    except (ValueError, OSError) as error:
        fail(error)
    content = {
        "model": detector.sha256,
        "split": split,
        **summarise_since(kept.records, detector.calibration, asked=commits),
    }
    sys.stdout.write((json_module.dumps(content, indent=1) if json else _table(content)) + "\n")


def _table(content: dict[str, Any]) -> str:
    bugs, commits = content["bugs"], content["commits"]
    rows = [
        f"{bugs['count']} bugs, {commits['count']} commits of {len(commits['repositories'])} repositories"
    ]
    for level in LEVELS:
        found, alarms = bugs["found"][level], commits["alarms"][level]
        for mode in ("since", "absolute"):
            rows.append(f"{level:<4} {mode:<9} {found[mode]:>5} bugs found  {alarms[mode]:>5} alarms")
    return "\n".join(rows)


if __name__ == "__main__":
    run(main)
