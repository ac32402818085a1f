"""What a worker does with one file: text in, its record out.

    analyse(data, known, score, calibration)  ->  FileRecord

Every function becomes a question for the detector; the answer is made into places, repairs, messages, confidence and
heat, from log-probabilities that are rounded first, so that the last bits of a processor's arithmetic decide nothing.

After an edit, `analyse_edited` takes the results of functions whose text is the same for granted, and reads only the
others: a guess, because what the rest of a file says about names and calls may have changed, to be confirmed by `analyse`.

A file may be hostile, so scans call this in processes that can be killed.
"""

import ast
import hashlib
import math
import re
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, takewhile, tee
from types import MappingProxyType

import numpy as np

from hyperheat.check.identity import identify, make_traces
from hyperheat.check.records import (
    EditRecord,
    ErrorRecord,
    FileRecord,
    FunctionRecord,
    HeatRecord,
    ListedFunction,
    PartialRecord,
    PlaceRecord,
    RepairRecord,
    Wanted,
    join_parts,
    key_of_lines,
)
from hyperheat.check.suppressions import find_suppressions
from hyperheat.detector import SampleScores, Scorer
from hyperheat.detector.calibration import Calibration
from hyperheat.detector.manifest import ModelError
from hyperheat.detector.sample import Origin, Sample, encode_candidates
from hyperheat.pycode import (
    FunctionGraph,
    ModuleGraphs,
    ModuleOutline,
    SourceError,
    TooMuchSource,
    UnreadFunction,
    extract,
    outline,
)
from hyperheat.pycode.syntax.python_source import MAX_CHARACTERS, PythonSource
from hyperheat.report.source import SourceText
from hyperheat.rewrites import KINDS, Rewrite, candidates, edits_in_file
from hyperheat.source_encoding import SlowEncodingError, decode, without_stray_bytes
from hyperheat.workers.limits import Limits

__all__ = [
    "ALTERNATIVES",
    "MAX_CANDIDATES",
    "MAX_FUNCTIONS",
    "MAX_LINE",
    "MAX_NODES",
    "MAX_PLACES",
    "MAX_TRACES",
    "Detail",
    "Question",
    "Score",
    "analyse",
    "analyse_edited",
    "analyse_parts",
    "analyse_text",
    "answer",
    "check_lines",
    "error_record",
    "line_starts",
    "make_question",
    "place_record",
    "rank_candidates",
    "read_module",
    "read_outline",
    "read_text",
    "try_model",
]

MAX_LINE = 20_000
"""Characters of the longest line that is read; longer ones are data, or made by machines."""
MAX_FUNCTIONS = 2_000
"""Functions, and classes, of the largest file that is read; inner ones count, and so do mentions in text."""
MAX_NODES = 8_000
"""Nodes of the largest function that is scored: the standard library's largest have about as many."""
MAX_CANDIDATES = 40_000
"""Candidates of the largest function that is scored; their number grows with its square."""

ALTERNATIVES = 3
"""The most alternative repairs listed for one place."""
MAX_PLACES = 10
"""The most places listed for one function."""
MAX_TRACES = 30
"""The most places of one function that can be compared with another version."""

Score = Callable[[Sample], SampleScores]
"""What a detector says of a function; raises TooMuchSource if that is too large for it."""

_LINE_END = re.compile(r"[\r\n]")
_NOWHERE = Origin(project="", version="", path="", function="", line=1)
_DIGITS = 4
_LEAST = 0.01  # less confidence is not worth telling, of heat and of other repairs
_TRIAL = "def first(items, default):\n    if len(items) > 1:\n        return get(items, default)\n    return default\n"
_NO_TOKENS = np.empty(0, dtype=np.int32)  # only models that read tokens need them


@dataclass(frozen=True, slots=True)
class Question:
    """A function, its candidate rewrites in the order of the sample, and the sample that a detector reads.

    `text` is that of the function's file if its line ends are not all bare newlines.
    """

    function: FunctionGraph
    rewrites: tuple[Rewrite, ...]
    sample: Sample
    text: str | None


def analyse(data: bytes, known: Collection[str], score: Score, calibration: Calibration) -> FileRecord:
    """The record of a file, without the functions whose digests are known."""
    return join_parts(analyse_parts(data, known, score, calibration), known)


def analyse_text(text: str, known: Collection[str], score: Score, calibration: Calibration) -> FileRecord:
    """The same from the text of a file."""
    return join_parts(analyse_edited(text, {}, known, score, calibration), known)


def analyse_parts(
    data: bytes,
    known: Collection[str],
    score: Score,
    calibration: Calibration,
    *,
    guesses: Mapping[str, str] = MappingProxyType({}),
    max_characters: int = MAX_CHARACTERS,
    detail: "Detail | None" = None,
) -> Iterator[PartialRecord | None]:
    """The record of a file in parts, as `join_parts` takes them, each as soon as it is done.

    None is no part, but a moment at which the work may be given up. `guesses` are those of `analyse_edited`.
    """
    try:
        text = read_text(data)
    except SourceError as error:
        yield PartialRecord(errors=(error_record(error),))
    else:
        yield from analyse_edited(
            text, guesses, known, score, calibration, max_characters=max_characters, detail=detail
        )


def analyse_edited(
    text: str,
    guesses: Mapping[str, str],
    known: Collection[str],
    score: Score,
    calibration: Calibration,
    *,
    max_characters: int = MAX_CHARACTERS,
    interactive: bool = False,
    unjudged: Collection[int] = (),
    detail: "Detail | None" = None,
) -> Iterator[PartialRecord | None]:
    """The parts of an edited text's record; `guesses` are digests of functions by the key of their lines.

    A function whose lines have a guess is not read: its digest, which should be known, stays that of before. Functions with
    `unjudged` lines are not scored. The text is `interactive` if it may await anywhere, as in a notebook.
    """
    try:
        module = read_outline(text, max_characters=max_characters, interactive=interactive)
    except SourceError as error:
        yield PartialRecord(errors=(error_record(error),))
        return
    source, done, detail = SourceText(text), set(known), detail or _REPORTED
    listed: list[ListedFunction] = []
    errors: list[ErrorRecord] = []
    waiting: list[tuple[str, FunctionGraph, str]] = []
    unscored: dict[str, FunctionRecord] = {}
    for place in module.functions:
        lines = _lines(place, source)
        digest = guesses.get(key_of_lines(place.name, lines)) if guesses else None
        if digest is None:
            try:
                function = module.read(place)
            except SourceError as error:
                errors.append(error_record(error))
                continue
            if not detail.wants(function):
                continue
            judged = not any(place.line <= line <= place.end_line for line in unjudged)
            digest = _digest(lines, function, judged=judged)
            if not judged:
                unscored[digest] = FunctionRecord(line_starts(function))
            elif digest not in done:
                waiting.append((digest, function, lines))
                done.add(digest)
            yield None
        listed.append(ListedFunction(place.name, place.line, digest))
    yield PartialRecord(
        functions=tuple(listed), errors=tuple(errors), comments=find_suppressions(source), known=unscored
    )
    for digest, function, lines in waiting:
        try:
            question = make_question(function, text if "\r" in lines else None)
            yield PartialRecord(known={digest: answer(question, score, calibration, detail)})
        except TooMuchSource as error:
            yield PartialRecord(refused={digest: error.problem})


def read_module(text: str, *, max_characters: int = MAX_CHARACTERS) -> ModuleGraphs:
    """The functions of a text; raises SourceError if it cannot be read, or is larger than what is read."""
    check_lines(text)
    return extract(text, max_characters=max_characters)


def read_outline(
    text: str, *, max_characters: int = MAX_CHARACTERS, interactive: bool = False
) -> ModuleOutline:
    """The same without reading the functions, which then can be read one by one."""
    check_lines(text)
    return outline(text, max_characters=max_characters, interactive=interactive)


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


def check_lines(text: str) -> None:
    """Raise TooMuchSource for a text with longer lines, or more functions or classes, than are read."""
    longest = max(map(len, _LINE_END.split(text)))
    if longest > MAX_LINE:
        raise TooMuchSource(None, None, f"expected lines of at most {MAX_LINE} characters, got {longest}")
    for word in ("def", "class"):
        if (count := text.count(f"{word} ")) > MAX_FUNCTIONS:
            problem = f"expected `{word}` at most {MAX_FUNCTIONS} times, got it {count} times"
            raise TooMuchSource(None, None, problem)


def error_record(error: SourceError) -> ErrorRecord:
    """What is told of source that is not checked."""
    rule = "HH901" if isinstance(error, TooMuchSource) else "HH900"
    return ErrorRecord(rule, error.problem, error.line)


def make_question(function: FunctionGraph, text: str | None) -> Question:
    """The question for the detector about a function."""
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


def _lines(function: UnreadFunction, source: SourceText) -> str:
    """The lines of a function, unchanged from its file."""
    return source.lines(function.line, function.end_line)


def _digest(lines: str, function: FunctionGraph, *, judged: bool) -> str:
    """A digest of everything that the record of a function depends on.

    The graph includes what the rest of the module says about names and calls. Candidates depend on the text and on whether
    annotations are evaluated, since these may bind names.
    """
    graph, lazy = function.graph, function.scope.lazy_annotations
    arrays = (graph.label, graph.relation, graph.offsets, graph.qualifier, graph.node)
    digest = hashlib.sha256((b"lazy" if lazy else b"") + (b"" if judged else b"unjudged"))
    for part in (lines.encode(), "\0".join(graph.names).encode(), *(array.tobytes() for array in arrays)):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """How much the record of a function tells: places, repairs of each, and the least confidence worth telling."""

    places: int = MAX_PLACES
    repairs: int = 1 + ALTERNATIVES
    least: float = _LEAST
    unlikely: bool = False
    """Whether to tell of places that are less likely than the assumed share of buggy functions."""
    compared: bool = False
    """Whether a later version will be compared with it; otherwise it is identified only if it has something to report."""
    wanted: Wanted | None = None
    """The only functions to tell of; None for all."""

    def wants(self, function: FunctionGraph) -> bool:
        """Whether to tell of a function at all."""
        wanted = self.wanted
        return wanted is None or function.name in wanted.names or identify(function).shape in wanted.shapes


_REPORTED = Detail()


def answer(
    question: Question, score: Score, calibration: Calibration, detail: Detail = _REPORTED
) -> FunctionRecord:
    """The record of a function; one with fewer candidates than any that was measured is not scored."""
    lines = line_starts(question.function)
    if len(question.rewrites) < max(1, calibration.min_candidates):
        return FunctionRecord(lines)
    scores = score(question.sample)
    findings, locations = np.round(scores.findings, _DIGITS), np.round(scores.locations, _DIGITS)
    shown, traced = tee(rank_candidates(scores))
    places: list[PlaceRecord] = []
    for chosen in islice(shown, detail.places):
        sure = calibration.confidence(float(findings[chosen[0]]))
        if places and sure < calibration.bug_rate and not detail.unlikely:
            break
        places.append(place_record(question, scores, chosen, calibration, detail))
    heat = tuple(_heat(question, scores, locations, calibration, detail.least))
    surest = (chosen[0] for chosen in islice(traced, MAX_TRACES))
    best = ((question.rewrites[candidate], float(findings[candidate])) for candidate in surest)
    traces = tuple(make_traces(question.function, best, scores.no_bug, calibration))
    compared = detail.compared or places[0].repairs[0].confidence >= calibration.bug_rate
    identity = identify(question.function) if compared else None
    return FunctionRecord(lines, _probability(scores.no_bug), tuple(places), heat, identity, traces)


def rank_candidates(scores: SampleScores) -> Iterator[list[int]]:
    """The candidates of each place, surest first; places in the order of their surest ones, as in a record."""
    order = np.argsort(-np.round(scores.findings, _DIGITS), kind="stable")
    places = scores.location_of[order]
    _, first = np.unique(places, return_index=True)
    for place in places[np.sort(first)].tolist():
        yield order[places == place].tolist()


def place_record(
    question: Question,
    scores: SampleScores,
    chosen: list[int],
    calibration: Calibration,
    detail: Detail = _REPORTED,
) -> PlaceRecord:
    """The record of a place from its candidates, surest first."""
    findings = np.round(scores.findings[chosen[: detail.repairs]], _DIGITS).tolist()
    repairs = [
        _repair(question, question.rewrites[candidate], calibration.confidence(finding))
        for candidate, finding in zip(chosen, findings, strict=False)
    ]
    others = [other for other in repairs[1:] if other.confidence >= detail.least]
    location, probability = question.rewrites[chosen[0]].location, _probability(findings[0])
    return PlaceRecord(location.start, location.end, probability, (repairs[0], *others))


def _repair(question: Question, rewrite: Rewrite, confidence: float) -> RepairRecord:
    function, text = question.function, question.text
    texts = rewrite.edits if text is None else edits_in_file(rewrite, function, text)
    edits = (
        EditRecord(edit.start, edit.end, new.text) for edit, new in zip(rewrite.edits, texts, strict=True)
    )
    message = KINDS[rewrite.kind].describe(rewrite, function.source)
    return RepairRecord(rewrite.kind, message, confidence, tuple(edits))


def _heat(
    question: Question, scores: SampleScores, locations: np.ndarray, calibration: Calibration, least: float
) -> Iterator[HeatRecord]:
    """The places that are suspicious at all, and how suspicious they are."""
    _, first = np.unique(scores.location_of, return_index=True)
    order = np.argsort(-locations).tolist()
    sure = ((place, calibration.confidence(float(locations[place]))) for place in order)
    hottest = takewhile(lambda place: place[1] >= least, sure)
    for place, confidence in sorted(hottest):
        span = question.rewrites[first[place]].location
        yield HeatRecord(span.start, span.end, confidence)


def line_starts(function: FunctionGraph) -> tuple[int, ...]:
    """Where each line of a function starts in its source."""
    first, _, last, _ = function.span
    ends = (match.end() for match in re.finditer("\n", function.source))
    return (0, *islice(ends, last - first))


def _probability(logarithm: float) -> float:
    return round(math.exp(logarithm), _DIGITS)


def try_model(scorer: Scorer, limits: Limits) -> None:
    """Ask a model about a function of four lines before all else.

    Raises ModelError if it has no answer, or takes too much memory for it.
    """
    (function,) = read_module(_TRIAL).functions
    try:
        scorer.score_batch([make_question(function, None).sample])
    except MemoryError:
        reason, _ = limits.out_of_memory()
        raise ModelError(f"{scorer.path}: cannot be run on a function of four lines: {reason}") from None
