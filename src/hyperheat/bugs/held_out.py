"""Functions of packages that a detector was not trained on, and real fixes, drawn to measure it with."""

from collections.abc import Collection, Iterator
from pathlib import Path

from hyperheat.bugs.dataset import read_manifest
from hyperheat.bugs.shards import Shard
from hyperheat.detector.sample import NO_BUG, Sample
from hyperheat.rewrites.planting import rank

__all__ = ["draw_functions"]


def draw_functions(
    folder: Path, split: str, limit: int, *, tags: Collection[str] = (), without: Collection[str] = ()
) -> Iterator[Sample]:
    """Functions of a folder of samples, as they are and with one bug where there are both; at most `limit` samples.

    Every package or repository gives its share, and one is in memory at a time. Functions and bugs are drawn by their names.
    """
    shards = [shard for shard in read_manifest(folder)["shards"] if shard["split"] == split]
    total = sum(shard["samples"] for shard in shards)
    if not total:
        raise ValueError(f"{folder}: expected samples in the split {split!r}, got none")
    seen, given = 0, 0
    for described in shards:
        seen += described["samples"]
        shard = Shard(folder / described["path"], pairs=False)
        rows = _draw_rows(shard, frozenset(tags), frozenset(without))
        rows = rows[: max(0, limit * seen // total - given)]
        given += len(rows)
        yield from (shard[row] for row in rows)


def _draw_rows(shard: Shard, tags: frozenset[str], without: frozenset[str]) -> list[int]:
    """For each function in a random order, the row of the clean sample, if any, and of one with a bug, if any."""
    functions: dict[int, tuple[list[int], list[int]]] = {}
    for row in range(len(shard)):
        sample = shard[row]
        origin, own = sample.origin, frozenset(sample.origin.tags)
        if tags <= own and not without & own:
            place = rank(origin.project, origin.version, origin.path, origin.function, origin.line)
            functions.setdefault(place, ([], []))[sample.target != NO_BUG].append(row)
    return [rows[place % len(rows)] for place in sorted(functions) for rows in functions[place] if rows]
