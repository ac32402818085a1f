"""What of a corpus is there twice: files that are nearly equal, and functions with the same tokens.

The first stays, in the order of package names, paths and lines, so that the outcome depends on nothing but the
packages themselves.
"""

from collections import Counter, defaultdict
from functools import lru_cache
from typing import Any

import numpy as np

from hyperheat.bugs.corpus.index import PackageIndex
from hyperheat.bugs.corpus.similarity import PERMUTATIONS, find_near_duplicates

__all__ = ["plan_packages"]

_PACKAGES_IN_MEMORY = 64


def plan_packages(indexes: dict[str, PackageIndex]) -> dict[str, dict[str, Any]]:
    """For each package: the files to use, each with the lines of its functions to use, and what was dropped."""
    names = sorted(indexes)
    repeated = _repeated_files([indexes[name] for name in names])
    seen: set[int] = set()
    plans = {}
    for number, name in enumerate(names):
        plans[name] = _plan(indexes[name], repeated[number], seen)
    return plans


def _repeated_files(indexes: list[PackageIndex]) -> dict[int, set[int]]:
    """For each package number the numbers of its files that are near-duplicates of earlier files."""
    places = [(p, f) for p, index in enumerate(indexes) for f in range(len(index.files))]
    signatures = [index["signatures"] for index in indexes]
    sizes = [np.diff(index["offsets"]) for index in indexes]

    @lru_cache(maxsize=_PACKAGES_IN_MEMORY)
    def words_of_package(package: int) -> np.ndarray:
        return indexes[package].words()

    def words_of(place: int) -> np.ndarray:
        package, file = places[place]
        start, end = indexes[package]["offsets"][file : file + 2]
        return words_of_package(package)[start:end]

    found = find_near_duplicates(
        np.concatenate([*signatures, np.empty((0, PERMUTATIONS), dtype=np.uint32)]),
        np.concatenate([*sizes, np.empty(0, dtype=np.int64)]),
        words_of,
    )
    repeated: dict[int, set[int]] = defaultdict(set)
    for place, _ in found:
        package, file = places[place]
        repeated[package].add(file)
    return repeated


def _plan(index: PackageIndex, repeated: set[int], seen: set[int]) -> dict[str, Any]:
    """One package's plan; `seen` collects the hashes of the functions of all packages so far."""
    files: dict[str, list[int]] = {
        path: [] for number, path in enumerate(index.files) if number not in repeated
    }
    dropped = Counter({"files: near-duplicate": len(repeated)})
    columns = (index[f"function_{name}"].tolist() for name in ("file", "line", "hash"))
    for file, line, code in zip(*columns, strict=True):
        if file in repeated:
            continue
        if code in seen:
            dropped["functions: duplicate"] += 1
        else:
            seen.add(code)
            files[index.files[file]].append(line)
    return {"files": files, "dropped": +dropped}
