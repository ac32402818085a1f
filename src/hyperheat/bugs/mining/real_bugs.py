"""A folder of real bugs: shards by split, one for each project, and a manifest with everything that was left out.

    references.jsonl.gz                   what mining found
    train/*.parquet, valid/..., test/...  the samples of each project
    left_out.jsonl, manifest.json         what became of the references
    .work/                                records of what is done, so that a stopped run can continue

Finished projects are kept: a run adds projects, and remakes one only if its references have changed. The manifest is
written last, so it never lists samples that are not there.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyperheat.bugs.corpus.workspace import hold_lock, load_record, save_record
from hyperheat.bugs.dataset import HEAD, SPLITS, read_manifest
from hyperheat.bugs.mining.references import AnyReference
from hyperheat.bugs.shards import write_shard
from hyperheat.detector.sample import Sample
from hyperheat.files import file_sha256, write_whole_text
from hyperheat.rewrites import KINDS

__all__ = ["FOUND", "MISSING", "NOT_EXPRESSIBLE", "ProjectResult", "RealBugs", "Tally"]

FOUND = "found"
NOT_EXPRESSIBLE = "not expressible"
MISSING = "missing"


class Tally:
    """Counts of (outcome, reason, kind)."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, str]] = Counter()

    def add(self, outcome: str, reason: str, kind: str, count: int = 1) -> None:
        self._counts[outcome, reason, kind] += count

    def of(self, outcome: str) -> int:
        return sum(count for (of, _, _), count in self._counts.items() if of == outcome)

    def to_json(self) -> dict[str, Any]:
        """Counts by outcome, then by reason, then by kind."""
        nested: dict[str, Any] = {}
        for (outcome, reason, kind), count in sorted(self._counts.items()):
            nested.setdefault(outcome, {}).setdefault(reason, {})[kind] = count
        return nested

    def table(self) -> str:
        """A row for each outcome and reason, a column for each kind."""
        seen = {kind for _, _, kind in self._counts}
        kinds = [kind for kind in (*KINDS, "unknown") if kind in seen] + sorted(seen - {*KINDS, "unknown"})
        rows = sorted({(outcome, reason) for outcome, reason, _ in self._counts}, key=self._order)
        names = [": ".join(filter(None, row)) for row in rows] + ["all"]
        width = max(map(len, names))
        lines = [" ".join([f"{'':<{width}}", *(f"{_SHORT.get(k, k):>10}" for k in kinds), f"{'all':>7}"])]
        for name, row in zip(names, [*rows, None], strict=True):
            counts = [self._count(row, kind) for kind in kinds]
            cells = [*(f"{count:>10,}" for count in counts), f"{sum(counts):>7,}"]
            lines.append(" ".join([f"{name:<{width}}", *cells]))
        return "\n".join(lines)

    def _order(self, row: tuple[str, str]) -> tuple[int, int]:
        return _OUTCOMES.index(row[0]), -sum(
            count for (outcome, reason, _), count in self._counts.items() if (outcome, reason) == row
        )

    def _count(self, row: tuple[str, str] | None, kind: str) -> int:
        return sum(
            count for (*of, k), count in self._counts.items() if k == kind and row in (None, tuple(of))
        )


_OUTCOMES = (FOUND, NOT_EXPRESSIBLE, MISSING)
_SHORT = {
    "variable-misuse": "variable",
    "argument-swap": "swap",
    "comparison-operator": "comparison",
    "boolean-operator": "boolean",
    "binary-operator": "binary",
    "augmented-assignment": "assignment",
}


_MANIFEST, _LEFT_OUT, _REFERENCES, _WORK = "manifest.json", "left_out.jsonl", "references.jsonl.gz", ".work"


@dataclass
class ProjectResult:
    """What became of the references of one project."""

    samples: list[Sample] = field(default_factory=list)
    counts: list[tuple[str, str, str]] = field(default_factory=list)
    """Outcome, reason and kind of each reference."""
    left_out: list[dict[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def leave_out(self, reference: AnyReference, outcome: str, reason: str) -> None:
        """Count a reference that gives no sample."""
        self.counts.append((outcome, reason, reference.kind))
        self.left_out.append(
            {**reference.where, "kind": reference.kind, "outcome": outcome, "reason": reason}
        )


class RealBugs:
    """A folder that is new or holds real bugs; raises ValueError if it holds anything else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        _check(folder)

    @property
    def mined(self) -> Path:
        """The folder with what was found in each package or repository."""
        return self.folder / _WORK / "mined"

    @property
    def references(self) -> Path:
        """All fixes that were found, each once."""
        return self.folder / _REFERENCES

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock the folder, and remove what an interrupted run left behind."""
        busy = f"another `hyperheat bugs` command is already writing to {self.folder}"
        with hold_lock(self.folder / _WORK, busy):
            for path in self.folder.rglob(".*.tmp"):
                path.unlink(missing_ok=True)
            yield

    def is_made(self, references: Sequence[AnyReference], *, with_clean: bool, replace: bool = False) -> bool:
        """Whether the samples of a project are there.

        Raises ValueError if its samples come from other references, unless `replace` is set.
        """
        record = self._record(references[0].project)
        if not record.exists():
            return False
        made = load_record(record)
        if made["digest"] != _digest(references, with_clean):
            if replace:
                return False
            raise ValueError(
                f"{self.folder} already has samples of {references[0].project}, made from other references or with "
                "other options; choose another folder"
            )
        shard = made["shard"]
        return shard is None or (
            (self.folder / shard["path"]).exists()
            and file_sha256(self.folder / shard["path"]) == shard["sha256"]
        )

    def keep_only(self, projects: Set[str]) -> None:
        """Remove the samples of mined projects whose fixes all belong to other projects now."""
        kept = {_file(project) for project in projects}
        for mined in self.mined.glob("*.json"):
            record = self._samples / mined.name
            if mined.stem not in kept and record.exists():
                old = self._begin_again(record)
                record.unlink()
                self._remove(old)

    def write(self, references: Sequence[AnyReference], result: ProjectResult, *, with_clean: bool) -> int:
        """Write the samples of a project, then its record, and return the number of samples."""
        project, samples = references[0].project, result.samples
        old = self._begin_again(self._record(project))
        shard = None
        if samples:
            path = f"{references[0].split}/{_file(project)}.parquet"
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            write_shard(samples, self.folder / path)
            shard = {
                "path": path,
                "split": references[0].split,
                "project": project,
                "version": samples[0].origin.version,
                "samples": len(samples),
                "kinds": dict(sorted(Counter(sample.kind for sample in samples).items())),
                "sha256": file_sha256(self.folder / path),
            }
        record = {
            "digest": _digest(references, with_clean),
            "shard": shard,
            "counts": result.counts,
            "left_out": result.left_out,
            "problems": result.problems,
        }
        self._record(project).parent.mkdir(parents=True, exist_ok=True)
        save_record(self._record(project), record)
        self._remove(old - {shard["path"] if shard else ""})
        return len(samples)

    def problems(self, project: str) -> list[str]:
        """The problems met while the samples of a project were made."""
        return load_record(self._record(project))["problems"]

    def finish(
        self, settings: dict[str, Any], report: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], Tally]:
        """Write the list of what was left out and the manifest of all projects; return the manifest and the counts."""
        records = [load_record(path) for path in sorted(self._samples.glob("*.json"))]
        tally = Tally()
        for record in records:
            for outcome, reason, kind in record["counts"]:
                tally.add(outcome, reason, kind)
        shards = sorted((r["shard"] for r in records if r["shard"]), key=lambda shard: shard["path"])
        rows = [row for record in records for row in record["left_out"]]
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole_text(self.folder / _LEFT_OUT, "".join(json.dumps(row) + "\n" for row in rows))
        manifest = {
            **HEAD,
            "settings": settings,
            "shards": shards,
            "report": tally.to_json() | (report or {}),
        }
        write_whole_text(self.folder / _MANIFEST, json.dumps(manifest, indent=1) + "\n")
        return manifest, tally

    @property
    def _samples(self) -> Path:
        return self.folder / _WORK / "samples"

    def _record(self, project: str) -> Path:
        return self._samples / f"{_file(project)}.json"

    def _begin_again(self, record: Path) -> set[str]:
        """The path of the samples in a record; if there are any, the manifest is removed first."""
        shard = load_record(record)["shard"] if record.exists() else None
        if shard is None:
            return set()
        (self.folder / _MANIFEST).unlink(missing_ok=True)
        return {shard["path"]}

    def _remove(self, paths: set[str]) -> None:
        for path in paths:
            (self.folder / path).unlink(missing_ok=True)


def _file(project: str) -> str:
    """The file name of a project; a package and a repository never have the same."""
    return project.replace("/", "+")


def _digest(references: Sequence[AnyReference], with_clean: bool) -> str:
    text = json.dumps([with_clean, [dict(reference.record) for reference in references]], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _check(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; choose a folder that is new or holds real bugs")
    if (folder / _MANIFEST).exists():
        if "report" not in read_manifest(folder):
            raise ValueError(f"{folder} holds another data set; choose another folder")
        if not (folder / _WORK).is_dir():
            raise ValueError(
                f"{folder} was made by an earlier version, which cannot be added to; choose another folder"
            )
        return
    ours = {_LEFT_OUT, _REFERENCES, _WORK, *SPLITS}
    for path in folder.glob("*"):
        if path.name not in ours and path.suffix != ".tmp":
            raise ValueError(f"{folder} holds {path.name}; choose a folder that is new or holds real bugs")
    if not (folder / _WORK).is_dir() and any((folder / split).exists() for split in SPLITS):
        raise ValueError(f"{folder} holds samples without a manifest; choose another folder")
