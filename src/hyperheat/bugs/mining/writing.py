"""Fixes as a folder of samples: one shard a repository, and a manifest with all that was found and left out."""

import json
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from hyperheat.bugs.dataset import HEAD, read_manifest
from hyperheat.bugs.mining.fix import Fix
from hyperheat.bugs.mining.references import Reference
from hyperheat.bugs.sample import Origin, Sample, make_sample
from hyperheat.bugs.shards import write_shard
from hyperheat.hypergraph.files import file_sha256, whole_file
from hyperheat.pycode import FunctionGraph

__all__ = ["NO_CLEAN", "FixFolder", "make_samples"]

_MANIFEST = "manifest.json"
_LEFT_OUT = "left_out.jsonl"
NO_CLEAN = "the repaired function cannot be read alone, or has no candidates"
"""Why a fix may have no clean sample; the former where the function is a closure over the class around it."""


def make_samples(reference: Reference, fix: Fix, *, with_clean: bool) -> list[Sample]:
    """The function with its bug, and if asked for the function without it, tagged repaired, unless there is NO_CLEAN."""
    samples = [make_sample(fix.function, fix.repair, _origin(reference, fix.function))]
    if with_clean:
        with suppress(ValueError):
            samples.append(make_sample(fix.repaired(), None, _origin(reference, fix.function, "repaired")))
    return samples


def _origin(reference: Reference, function: FunctionGraph, *tags: str) -> Origin:
    return Origin(
        project=reference.repo,
        version=reference.sha,
        path=reference.path,
        function=function.name,
        line=function.span[0],
        tags=(*reference.tags, *tags),
    )


class FixFolder:
    """A folder that gets a shard for each repository and, when all are there, its manifest.

    It is made with the first shard. What an earlier run left there is replaced; raises ValueError where the folder
    holds anything else.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._earlier = _earlier_shards(folder)
        self._shards: dict[str, dict[str, Any]] = {}

    def add(self, project: str, samples: list[Sample]) -> None:
        """Write the shard of a repository; one without samples gets none."""
        if not samples:
            return
        before = sum(shard["project"] == project for shard in self._shards.values())
        number = f"+{before + 1}" if before else ""  # two repositories may have one name
        path = f"test/{project.replace('/', '+')}{number}.parquet"
        (self.folder / "test").mkdir(parents=True, exist_ok=True)
        for stale in (_MANIFEST, _LEFT_OUT):
            (self.folder / stale).unlink(missing_ok=True)
        write_shard(samples, self.folder / path)
        self._shards[path] = {
            "path": path,
            "split": "test",
            "project": project,
            "version": samples[0].origin.version,
            "samples": len(samples),
            "kinds": dict(sorted(Counter(sample.kind for sample in samples).items())),
            "sha256": file_sha256(self.folder / path),
        }

    def finish(
        self,
        settings: dict[str, Any],
        report: dict[str, Any],
        left_out: Iterable[dict[str, str]] | None = None,
    ) -> dict[str, Any]:
        """Write what was left out, and the manifest; shards of an earlier run that it does not name are deleted."""
        (self.folder / "test").mkdir(parents=True, exist_ok=True)
        (self.folder / _LEFT_OUT).unlink(missing_ok=True)
        if left_out is not None:
            _write(self.folder / _LEFT_OUT, "".join(json.dumps(row) + "\n" for row in left_out))
        shards = [self._shards[path] for path in sorted(self._shards)]
        manifest = {**HEAD, "settings": settings, "shards": shards, "report": report}
        _write(self.folder / _MANIFEST, json.dumps(manifest, indent=1) + "\n")
        for path in self._earlier - self._shards.keys():
            (self.folder / path).unlink(missing_ok=True)
        return manifest


def _earlier_shards(folder: Path) -> set[str]:
    """The shards of an earlier run in a folder; raises ValueError where it holds something that is not of one."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder}: expected a folder, got a file")
    shards = {f"test/{shard.name}" for shard in folder.glob("test/*.parquet")}
    if (folder / _MANIFEST).exists():
        manifest = read_manifest(folder)
        if "report" not in manifest:
            raise ValueError(f"{folder}: expected a folder that is new or of real bugs, got another data set")
        return shards & {shard["path"] for shard in manifest["shards"]}
    ours = {*shards, "test", _LEFT_OUT}
    for path in (*folder.glob("*"), *folder.glob("test/*")):
        name = path.relative_to(folder).as_posix()
        if name not in ours and path.suffix != ".tmp":
            raise ValueError(f"{folder}: expected a folder that is new or of real bugs, got one with {name}")
    return shards


def _write(path: Path, text: str) -> None:
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
