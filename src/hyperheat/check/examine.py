"""What is done with one file: text in, its record out.

Everything here may be asked to read a file that was made to do harm, so scans call it in processes that can be ended.
"""

import ast
import hashlib
import re
import warnings
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

from hyperheat.check.encoding import SlowEncodingError, decode, without_stray_bytes
from hyperheat.check.records import Record, comment_record, join_parts
from hyperheat.check.suppressions import find_suppressions
from hyperheat.check.suspicion import Question, answer
from hyperheat.detector import SampleScores
from hyperheat.detector.calibration import Calibration
from hyperheat.detector.sample import Origin, Sample, encode_candidates
from hyperheat.pycode import FunctionGraph, ModuleGraphs, SourceError, TooMuchSource, extract
from hyperheat.pycode.syntax.python_source import MAX_CHARACTERS, PythonSource
from hyperheat.report.source import SourceText
from hyperheat.rewrites import candidates

__all__ = [
    "MAX_CANDIDATES",
    "MAX_FUNCTIONS",
    "MAX_LINE",
    "MAX_NODES",
    "Score",
    "examine",
    "examine_parts",
    "examine_text",
    "make_question",
    "read_module",
    "read_text",
]

MAX_LINE = 20_000
"""Characters of the longest line that is read; longer ones are data, or made by machines."""
MAX_FUNCTIONS = 2_000
"""Functions, and classes, of the largest file that is read; inner ones count, and so do mentions in text."""
MAX_NODES = 8_000
"""Nodes of the largest function that is scored: the standard library's largest have about as many."""
MAX_CANDIDATES = 40_000
"""Candidates of the largest function that is scored; their number grows with its square."""

Score = Callable[[Sample], SampleScores]
"""What a detector says of a function; raises TooMuchSource if that is too large for it."""

_LINE_END = re.compile(r"[\r\n]")
_NOWHERE = Origin(project="", version="", path="", function="", line=1)
_NO_TOKENS = np.empty(0, dtype=np.int32)  # only models that read tokens need them


def examine(data: bytes, known: Collection[str], score: Score, calibration: Calibration) -> Record:
    """The record of a file, without the functions whose digests are known."""
    return join_parts(examine_parts(data, known, score, calibration), known)


def examine_text(text: str, known: Collection[str], score: Score, calibration: Calibration) -> Record:
    """The same from the text of a file."""
    return join_parts(_text_parts(text, known, score, calibration, MAX_CHARACTERS), known)


def examine_parts(
    data: bytes,
    known: Collection[str],
    score: Score,
    calibration: Calibration,
    *,
    max_characters: int = MAX_CHARACTERS,
) -> Iterator[Record]:
    """The record of a file in parts, as `join_parts` takes them, each as soon as it is done."""
    try:
        text = read_text(data)
    except SourceError as error:
        yield _refused(error)
    else:
        yield from _text_parts(text, known, score, calibration, max_characters)


def _text_parts(
    text: str, known: Collection[str], score: Score, calibration: Calibration, max_characters: int
) -> Iterator[Record]:
    try:
        module = read_module(text, max_characters=max_characters)
    except SourceError as error:
        yield _refused(error)
        return
    source = SourceText(text)
    lines = [_lines(function, source) for function in module.functions]
    digests = [_digest(*pair) for pair in zip(lines, module.functions, strict=True)]
    yield {
        "functions": [
            [function.name, function.span[0], digest]
            for function, digest in zip(module.functions, digests, strict=True)
        ],
        "errors": [_error(error) for error in module.refused],
        "comments": [comment_record(comment) for comment in find_suppressions(source)],
    }
    done = set(known)
    for function, of_function, digest in zip(module.functions, lines, digests, strict=True):
        if digest in done:
            continue
        done.add(digest)
        try:
            question = make_question(function, text if "\r" in of_function else None)
            yield {"known": {digest: answer(question, score, calibration)}}
        except TooMuchSource as error:
            yield {"refused": {digest: error.problem}}


def read_module(text: str, *, max_characters: int = MAX_CHARACTERS) -> ModuleGraphs:
    """The functions of a text; raises SourceError if it cannot be read, or is larger than what is read."""
    _check_lines(text)
    return extract(text, max_characters=max_characters)


def read_text(data: bytes) -> str:
    """The text of a file; raises SourceError if Python could not read it."""
    try:
        text = decode(data)[0]
    except SlowEncodingError as error:
        raise TooMuchSource(None, 1, str(error)) from None
    except (SyntaxError, LookupError, UnicodeError):
        PythonSource.read(data)  # which says what is wrong with it
        raise
    clean = without_stray_bytes(text)
    if clean != text and not _is_compiled(data):
        PythonSource.read(data)
    return clean


def _is_compiled(data: bytes) -> bool:
    """Whether Python takes bytes that are not all text: it does so in comments."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data, "<source>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _check_lines(text: str) -> None:
    longest = max(map(len, _LINE_END.split(text)))
    if longest > MAX_LINE:
        raise TooMuchSource(None, None, f"expected lines of at most {MAX_LINE} characters, got {longest}")
    for word in ("def", "class"):
        if (count := text.count(f"{word} ")) > MAX_FUNCTIONS:
            problem = f"expected `{word}` at most {MAX_FUNCTIONS} times, got it {count} times"
            raise TooMuchSource(None, None, problem)


def _refused(error: SourceError) -> Record:
    return {"functions": [], "errors": [_error(error)], "comments": []}


def _error(error: SourceError) -> list[Any]:
    """The rule, reason and line of what cannot be looked at."""
    return ["HH901" if isinstance(error, TooMuchSource) else "HH900", error.problem, error.line]


def make_question(function: FunctionGraph, text: str | None) -> Question:
    """What the detector is asked about a function."""
    if (nodes := function.graph.num_nodes) > MAX_NODES:
        raise TooMuchSource(None, None, f"expected at most {MAX_NODES} nodes, got {nodes}")
    rewrites = candidates(function, most=MAX_CANDIDATES)
    columns, order = encode_candidates(function, rewrites)
    sample = Sample(
        origin=_NOWHERE,
        source=function.source,
        graph=function.graph,
        pairs=None,
        token_of=_NO_TOKENS,
        candidates=columns,
        repairs=(),
    )
    return Question(function, tuple(rewrites[index] for index in order), sample, text)


def _lines(function: FunctionGraph, source: SourceText) -> str:
    """The lines of a function as they are in its file."""
    line, _, end_line, _ = function.span
    return source.text[source.offset(line, 1) : source.offset(end_line + 1, 1)]


def _digest(lines: str, function: FunctionGraph) -> str:
    """A digest of all that the record of a function is made from.

    The graph holds what the rest of the module says about names and calls. Candidates follow from the text and, since
    annotations may bind names, from whether those are evaluated.
    """
    graph, lazy = function.graph, function.scope.lazy_annotations
    arrays = (graph.label, graph.relation, graph.offsets, graph.qualifier, graph.node)
    digest = hashlib.sha256(b"lazy" if lazy else b"")
    for part in (lines.encode(), "\0".join(graph.names).encode(), *(array.tobytes() for array in arrays)):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()[:32]
