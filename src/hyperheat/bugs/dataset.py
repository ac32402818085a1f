"""A folder of samples: `manifest.json`, and shards `train/*.parquet`, `valid/*.parquet`, `test/*.parquet`."""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from hyperheat.bugs.shards import Shard
from hyperheat.detector.sample import TEXTS, Sample
from hyperheat.files import file_sha256, parse_json
from hyperheat.rewrites import KINDS

__all__ = ["HEAD", "SPLITS", "Dataset", "draw_indices", "no_samples", "read_manifest", "stream_samples"]

SPLITS = ("train", "valid", "test")

HEAD = {
    "format": "hyperheat-bugs",
    "version": 2,
    "rewrites": {"kinds": list(KINDS), "texts": [list(text) for text in TEXTS]},
}
"""How every manifest begins. Candidates in shards are numbers, which mean something by the lists of rewrites alone."""


class Dataset:
    """The samples of one split, in memory as flat arrays; without the graphs of pairs if `pairs` is false."""

    def __init__(self, folder: str | Path, split: str, *, pairs: bool = True) -> None:
        folder = Path(folder)
        shards = _shards_of(folder, split)
        if not any(shard["samples"] for shard in shards):
            raise no_samples(folder, split)
        self.folder, self.split = folder, split
        self.hashes = [shard["sha256"] for shard in shards]
        self._shards = [_read_shard(folder, shard, pairs=pairs) for shard in shards if shard["samples"]]
        self._starts = [0, *accumulate(len(shard) for shard in self._shards)]
        self._projects = [shard.get("project", shard["path"]) for shard in shards if shard["samples"]]

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, index: int) -> Sample:
        if not 0 <= index < len(self):
            raise IndexError(f"index: expected 0 to {len(self) - 1}, got {index}")
        shard = bisect_right(self._starts, index) - 1
        return self._shards[shard][index - self._starts[shard]]

    def __iter__(self) -> Iterator[Sample]:
        return (self[index] for index in range(len(self)))

    def projects(self) -> list[str]:
        """The package that each sample comes from."""
        return [
            name for name, shard in zip(self._projects, self._shards, strict=True) for _ in range(len(shard))
        ]

    def sizes(self) -> list[int]:
        """The number of nodes of each sample."""
        return [size for shard in self._shards for size in shard.sizes()]


def stream_samples(folder: Path, split: str, *, pairs: bool = True) -> Iterator[Sample]:
    """The samples of one split in order, with a single shard in memory at a time."""
    for shard in _shards_of(folder, split):
        if shard["samples"]:
            samples = _read_shard(folder, shard, pairs=pairs)
            for index in range(len(samples)):
                yield samples[index]
            del samples  # before the next one is read


def _shards_of(folder: Path, split: str) -> list[dict[str, Any]]:
    """The shards of a split."""
    if split not in SPLITS:
        raise ValueError(f"split: expected one of {', '.join(SPLITS)}, got {split!r}")
    return [shard for shard in read_manifest(folder)["shards"] if shard["split"] == split]


def no_samples(folder: str | Path, split: str) -> ValueError:
    """The error of a split without samples."""
    return ValueError(
        f"{folder}: expected samples in the split {split!r}, got none; packages are split as a whole, and "
        "so are the files of few packages, so that a corpus needs several files"
    )


def draw_indices(count: int, limit: int) -> list[int]:
    """At most `limit` numbers below `count`, in order; always the same ones.

    Drawn rather than evenly spaced: samples stand in a pattern, a clean one before those with bugs, that even steps may hit.
    """
    return sorted(np.random.default_rng(0).permutation(count)[:limit].tolist())


def _read_shard(folder: Path, described: dict[str, Any], *, pairs: bool) -> Shard:
    path = folder / described["path"]
    if path.exists() and file_sha256(path) != described["sha256"]:
        raise ValueError(f"{path}: the file was changed: its sha256 differs from that in the manifest")
    return Shard(path, pairs=pairs)


def read_manifest(folder: str | Path) -> dict[str, Any]:
    """What a folder of samples says of itself."""
    path = Path(folder) / "manifest.json"
    try:
        manifest = parse_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{folder}: not a folder of bug samples: it has no manifest.json") from None
    except ValueError as error:
        raise ValueError(f"{path}: not a manifest: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != HEAD["format"]:
        raise ValueError(f'{path}: expected "format": "{HEAD["format"]}", got another kind of file')
    if manifest.get("version") != HEAD["version"]:
        raise ValueError(f"{path}: expected version {HEAD['version']}, got {manifest.get('version')!r}")
    if manifest.get("rewrites") != HEAD["rewrites"]:
        raise ValueError(f"{path}: made by a version with other kinds of rewrites; make it again")
    shards = manifest.get("shards")
    if not isinstance(shards, list) or not all(_is_shard(shard) for shard in shards):
        raise ValueError(f"{path}: expected shards with path, split, samples and sha256, got others")
    return manifest


def _is_shard(shard: Any) -> bool:
    texts = ("path", "split", "sha256")
    return (
        isinstance(shard, dict)
        and all(isinstance(shard.get(name), str) for name in texts)
        and type(shard.get("samples")) is int
    )
