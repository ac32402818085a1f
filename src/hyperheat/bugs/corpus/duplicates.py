"""What a corpus holds twice: nearly equal files, and functions with the same tokens.

Pass one writes an index of each package, which is small enough to compare all packages. The first of several
duplicates is kept, in the order of package names, paths and lines, so the result depends only on the packages.

Near-duplicate files are found with MinHash signatures:

    J(A, B) = |A and B| / |A or B|        of the sets of names and strings in two files

For a random order of all words, the first words of A and B agree with probability J. A signature keeps the first
words of A under PERMUTATIONS orders. Files that agree on all ROWS entries of one of the BANDS of their signatures
are compared on the real sets; at J = 0.85 a pair is missed in 0.6 % of all cases, at J = 0.9 in 0.02 %.
"""

import ast
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from hyperheat.bugs.corpus.corpus_settings import SECONDS_PER_FILE
from hyperheat.bugs.corpus.package_sources import PackageSources
from hyperheat.bugs.corpus.workspace import load_record, save_record
from hyperheat.files import whole_file
from hyperheat.pycode import SourceError
from hyperheat.pycode.anchors import FunctionNode
from hyperheat.pycode.syntax.python_source import PythonSource
from hyperheat.pycode.syntax.tokens import DEDENT, INDENT, scan
from hyperheat.workers.limits import time_limit

__all__ = [
    "PERMUTATIONS",
    "THRESHOLD",
    "PackageIndex",
    "find_near_duplicates",
    "hash_word",
    "hash_words",
    "index_package",
    "jaccard",
    "plan_packages",
    "sign",
]

PERMUTATIONS = 128
BANDS, ROWS = 16, 8
THRESHOLD = 0.85
MIN_WORDS = 10
"""Smaller files are no near-duplicates of any other: they have too little to compare."""

_RNG = np.random.RandomState(20220131)  # its stream is frozen, so that signatures agree between machines
_FACTORS = _RNG.randint(0, 2**63, size=PERMUTATIONS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_SHIFTS = _RNG.randint(0, 2**63, size=PERMUTATIONS, dtype=np.uint64)
_ROWS_AT_ONCE = 4096


def hash_word(text: str) -> int:
    """Sixty-four bits for a text, the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def hash_words(words: Iterable[str]) -> np.ndarray:
    """A set of words as sorted, distinct 64-bit hashes."""
    return np.unique(np.array([hash_word(word) for word in set(words)], dtype=np.uint64))


def sign(words: np.ndarray) -> np.ndarray:
    """The signature of a set of hashed words: the least value under each permutation."""
    signature = np.full(PERMUTATIONS, 2**32 - 1, dtype=np.uint32)
    for start in range(0, len(words), _ROWS_AT_ONCE):
        part = words[start : start + _ROWS_AT_ONCE, None]
        values = (part * _FACTORS + _SHIFTS) >> np.uint64(32)
        np.minimum(signature, values.min(axis=0).astype(np.uint32), out=signature)
    return signature


def jaccard(one: np.ndarray, other: np.ndarray) -> float:
    """The share of common words of two sets of sorted, distinct hashes."""
    common = len(np.intersect1d(one, other, assume_unique=True))
    union = len(one) + len(other) - common
    return common / union if union else 1.0


def find_near_duplicates(
    signatures: np.ndarray, sizes: np.ndarray, words_of: Callable[[int], np.ndarray]
) -> Iterator[tuple[int, int]]:
    """(file, earlier file that it repeats) for every file to drop; of files that are alike the first stays."""
    buckets: list[dict[bytes, list[int]]] = [{} for _ in range(BANDS)]
    for file in np.flatnonzero(sizes >= MIN_WORDS).tolist():
        keys = [band.tobytes() for band in signatures[file].reshape(BANDS, ROWS)]
        earlier = {other for bucket, key in zip(buckets, keys, strict=True) for other in bucket.get(key, ())}
        words = words_of(file) if earlier else None
        for other in sorted(earlier):
            if words is not None and jaccard(words, words_of(other)) >= THRESHOLD:
                yield file, other
                break
        else:
            for bucket, key in zip(buckets, keys, strict=True):
                bucket.setdefault(key, []).append(file)


_WORD = re.compile(r"[^\W\d]|[\"']")


@dataclass(frozen=True, kw_only=True)
class PackageIndex:
    """The record of a package's files, with columns beside it that are read when they are asked for.

    Columns, for F files with W words and M functions in all: signatures [F, 128], words [W] split at offsets [F + 1],
    and the hash, line and file number of every function [M].
    """

    record: dict[str, Any]
    path: Path = field(repr=False)

    @classmethod
    def read(cls, folder: Path, name: str) -> "PackageIndex":
        """Read the index that `index_package` wrote."""
        return cls(record=load_record(folder / f"{name}.json"), path=folder / f"{name}.npz")

    @property
    def files(self) -> list[str]:
        """The paths of the files, sorted."""
        return self.record["files"]

    @cached_property
    def _columns(self) -> dict[str, np.ndarray]:
        with np.load(self.path, allow_pickle=False) as columns:
            return {name: columns[name] for name in columns.files if name != "words"}

    def __getitem__(self, column: str) -> np.ndarray:
        return self._columns[column]

    def words(self) -> np.ndarray:
        """The hashed words of all files; not kept in memory, since only few files are compared."""
        with np.load(self.path, allow_pickle=False) as columns:
            return columns["words"]


def index_package(name: str, sources: PackageSources, facts: dict[str, Any], folder: Path) -> None:
    """Parse every file and write the package's index; the record comes last and says that it is there."""
    files, words, functions, refused = [], [], [], []
    for path, content in sources.files.items():
        try:
            with time_limit(SECONDS_PER_FILE):
                text = PythonSource.read(content, path)
                tree = text.parse()
                tokens = _Tokens(text.text)
        except SourceError as error:
            refused.append(str(error))
        except (RecursionError, MemoryError, TimeoutError) as error:
            refused.append(f"{path}: expected a file of ordinary size, got {error or type(error).__name__}")
        else:
            words.append(hash_words(tokens.words()))
            for node in _outermost(tree.body):
                functions.append((len(files), *tokens.describe(node, text)))
            files.append(path)
    with whole_file(folder / f"{name}.npz") as temporary:
        _write_columns(temporary, words, functions)
    dropped = Counter(sources.dropped)
    dropped["files: not readable"] += len(refused)
    record = {
        **facts,
        "sources_sha256": sources.sha256,
        "files": files,
        "refused": refused,
        "dropped": +dropped,
    }
    save_record(folder / f"{name}.json", record)


def _write_columns(path: Path, words: list[np.ndarray], functions: list[tuple[int, int, int]]) -> None:
    numbers, lines, hashes = zip(*functions, strict=True) if functions else ((), (), ())
    with path.open("wb") as file:
        np.savez(
            file,
            signatures=np.array([sign(of_file) for of_file in words], dtype=np.uint32).reshape(
                -1, PERMUTATIONS
            ),
            offsets=np.cumsum([0, *(len(of_file) for of_file in words)]),
            words=np.concatenate([*words, np.empty(0, dtype=np.uint64)]),
            function_file=np.array(numbers, dtype=np.int32),
            function_line=np.array(lines, dtype=np.int32),
            function_hash=np.array(hashes, dtype=np.uint64),
        )


class _Tokens:
    """The tokens of a file without comments and layout."""

    def __init__(self, text: str) -> None:
        tokens = scan(text, 0, len(text))
        kept = [i for i, token in enumerate(tokens.texts) if token not in (INDENT, DEDENT)]
        self._texts = [tokens.texts[i] for i in kept]
        self._starts = np.array([tokens.starts[i] for i in kept], dtype=np.int64)

    def words(self) -> Iterator[str]:
        """The names, keywords and strings."""
        return (text for text in self._texts if _WORD.search(text) and not text[0].isdigit())

    def describe(self, function: FunctionNode, source: PythonSource) -> tuple[int, int]:
        """The first line of a function, decorators included, and a hash of its tokens."""
        start = source.function_start(function)
        end = source.offset(function.end_lineno or 0, function.end_col_offset or 0)
        first, last = np.searchsorted(self._starts, [start, end])
        return 1 + source.text.count("\n", 0, start), hash_word("\0".join(self._texts[first:last]))


def _outermost(body: list[ast.stmt]) -> Iterator[FunctionNode]:
    """Every function that is inside no other function."""
    for statement in body:
        if isinstance(statement, FunctionNode):
            yield statement
        else:
            blocks = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
            parts = (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ()))
            for block in (*blocks, *(part.body for part in parts)):
                yield from _outermost(block)


_PACKAGES_IN_MEMORY = 64


def plan_packages(
    indexes: dict[str, PackageIndex], others: Sequence[PackageIndex] = ()
) -> dict[str, dict[str, Any]]:
    """For each package: the files to use, each with the lines of its functions to use, and what was dropped.

    `others` are packages of other corpora, whose files and functions come first.
    """
    names = sorted(indexes)
    repeated = _repeated_files([*others, *(indexes[name] for name in names)])
    seen: set[int] = set()
    for other in others:
        seen.update(other["function_hash"].tolist())
    plans = {}
    for number, name in enumerate(names, start=len(others)):
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
