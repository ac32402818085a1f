"""Pass one, package by package: what its files and functions are, in a form that can be compared across packages."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hyperheat.bugs.corpus.records import read_record, write_record
from hyperheat.bugs.corpus.settings import SECONDS_PER_FILE
from hyperheat.bugs.corpus.similarity import PERMUTATIONS, hash_word, hash_words, sign
from hyperheat.bugs.corpus.sources import Sources
from hyperheat.files import whole_file
from hyperheat.pycode import SourceError
from hyperheat.pycode.syntax.python_source import PythonSource
from hyperheat.pycode.syntax.tokens import DEDENT, INDENT, scan
from hyperheat.workers.limits import time_limit

__all__ = ["PackageIndex", "index_package"]

_WORD = re.compile(r"[^\W\d]|[\"']")
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


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
        return cls(record=read_record(folder / f"{name}.json"), path=folder / f"{name}.npz")

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


def index_package(name: str, sources: Sources, facts: dict[str, Any], folder: Path) -> None:
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
    write_record(folder / f"{name}.json", record)


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
