"""Fixes as a folder of samples: one shard a repository, and a manifest with all that was found and left out."""

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

from hyperheat.bugs.dataset import FORMAT
from hyperheat.bugs.mining.fix import Fix
from hyperheat.bugs.mining.references import Reference
from hyperheat.bugs.sample import Origin, Sample, make_sample
from hyperheat.bugs.shards import write_shard
from hyperheat.hypergraph.files import whole_file
from hyperheat.pycode import FunctionGraph, SourceError

__all__ = ["UNREADABLE", "FixFolder", "make_samples"]

UNREADABLE = "the repaired function cannot be read alone"
"""Why a fix may have no clean sample: the function is a closure over the class around it."""


def make_samples(reference: Reference, fix: Fix, *, with_clean: bool) -> list[Sample]:
    """The function with its bug, and if asked for the repaired function as one without, unless it is UNREADABLE."""
    samples = [make_sample(fix.function, fix.repair, _origin(reference, fix.function))]
    if with_clean:
        try:
            repaired = fix.repaired()
        except SourceError:
            return samples
        samples.append(make_sample(repaired, None, _origin(reference, fix.function)))
    return samples


def _origin(reference: Reference, function: FunctionGraph) -> Origin:
    return Origin(
        project=reference.repo,
        version=reference.sha,
        path=reference.path,
        function=function.name,
        line=function.span[0],
        tags=reference.tags,
    )


class FixFolder:
    """A folder that gets a shard for each repository and, when all are there, its manifest."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._shards: dict[str, dict[str, Any]] = {}
        (folder / "test").mkdir(parents=True, exist_ok=True)

    def add(self, project: str, samples: list[Sample]) -> None:
        """Write the shard of a repository; one without samples gets none."""
        if not samples:
            return
        path = f"test/{project.replace('/', '+')}.parquet"
        if path in self._shards:
            raise ValueError(f"{project}: expected every repository once, got another one of this name")
        write_shard(samples, self.folder / path)
        self._shards[path] = {
            "path": path,
            "split": "test",
            "project": project,
            "version": samples[0].origin.version,
            "samples": len(samples),
            "kinds": dict(sorted(Counter(sample.kind for sample in samples).items())),
            "sha256": hashlib.sha256((self.folder / path).read_bytes()).hexdigest(),
        }

    def finish(self, settings: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
        """Write the manifest; shards of an earlier run that it does not name are deleted."""
        shards = [self._shards[path] for path in sorted(self._shards)]
        manifest = {"format": FORMAT, "version": 1, "settings": settings, "shards": shards, "report": report}
        with whole_file(self.folder / "manifest.json") as temporary:
            temporary.write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        for shard in (self.folder / "test").glob("*.parquet"):
            if f"test/{shard.name}" not in self._shards:
                shard.unlink()
        return manifest
