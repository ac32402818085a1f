"""What is done with one file: text in, its record out.

Everything here may be asked to read a file that was made to do harm, so scans call it in processes that can be ended.
"""

import hashlib
import re
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from hyperheat.bugs.onnx import SampleScores
from hyperheat.bugs.onnx.calibration import Calibration
from hyperheat.bugs.sample import NO_BUG, Origin, Sample, encode_candidates
from hyperheat.check.encoding import SlowEncodingError, decode
from hyperheat.check.records import Record, comment_record
from hyperheat.check.suppressions import find_suppressions
from hyperheat.check.suspicion import Question, answer
from hyperheat.pycode import FunctionGraph, ModuleGraphs, SourceError, TooMuchSource, extract
from hyperheat.pycode.source import Source
from hyperheat.report.source import SourceText
from hyperheat.rewrites import candidates

__all__ = [
    "MAX_CANDIDATES",
    "MAX_FUNCTIONS",
    "MAX_LINE",
    "MAX_NODES",
    "Score",
    "examine",
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
    try:
        text = read_text(data)
    except SourceError as error:
        return _refused(error)
    return examine_text(text, known, score, calibration)


def examine_text(text: str, known: Collection[str], score: Score, calibration: Calibration) -> Record:
    """The same from the text of a file."""
    try:
        module = read_module(text)
    except SourceError as error:
        return _refused(error)
    source = SourceText(text)
    functions, made = [], {}
    errors = [_error(error) for error in module.refused]
    for function in module.functions:
        try:
            lines = _lines(function, source)
            digest = _digest(lines, function)
            if digest not in known and digest not in made:
                question = make_question(function, text if "\r" in lines else None)
                made[digest] = answer(question, score, calibration)
        except TooMuchSource as error:
            errors.append(_error(error, function))
        else:
            functions.append([function.name, function.span[0], digest])
    comments = [comment_record(comment) for comment in find_suppressions(source)]
    return {"functions": functions, "known": made, "errors": errors, "comments": comments}


def read_module(text: str) -> ModuleGraphs:
    """The functions of a text; raises SourceError if it cannot be read, or is larger than what is read."""
    _check_lines(text)
    return extract(text)


def read_text(data: bytes) -> str:
    """The text of a file; raises SourceError if Python could not read it."""
    try:
        return decode(data)[0]
    except SlowEncodingError as error:
        raise TooMuchSource(None, 1, str(error)) from None
    except (SyntaxError, LookupError, UnicodeError):
        Source.read(data)  # which says what is wrong with it
        raise


def _check_lines(text: str) -> None:
    longest = max(map(len, _LINE_END.split(text)))
    if longest > MAX_LINE:
        raise TooMuchSource(None, None, f"expected lines of at most {MAX_LINE} characters, got {longest}")
    for word in ("def", "class"):
        if (count := text.count(f"{word} ")) > MAX_FUNCTIONS:
            problem = f"expected `{word}` at most {MAX_FUNCTIONS} times, got it {count} times"
            raise TooMuchSource(None, None, problem)


def _refused(error: SourceError) -> Record:
    return {"functions": [], "known": {}, "errors": [_error(error)], "comments": []}


def _error(error: SourceError, function: FunctionGraph | None = None) -> list[Any]:
    """The rule, reason and line of what cannot be looked at: a file, or one of its functions."""
    rule = "HH901" if isinstance(error, TooMuchSource) else "HH900"
    if function is None:
        return [rule, error.problem, error.line]
    return [rule, f"the function {function.name}: {error.problem}", function.span[0]]


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
        target=NO_BUG,
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
