"""What a worker does when somebody looks at a function: its places with all their repairs, why, and its drawing.

The functions of a file are found by their first lines. Nothing here needs a web server.
"""

from dataclasses import dataclass
from functools import lru_cache, partial

from hyperheat.check.analysis import Detail, answer, line_starts, make_question, read_outline, read_text
from hyperheat.check.explanations import ExplainedPlace, Target, explain_targets
from hyperheat.check.notebook import read_notebook
from hyperheat.check.notebook_analysis import join_cells
from hyperheat.check.records import FunctionRecord
from hyperheat.check.scan_work import score_in_worker
from hyperheat.detector.detector import Detector
from hyperheat.hypergraph import Hypergraph
from hyperheat.hypergraph.overlay import Lane, TooManySpokes, draw_over
from hyperheat.pycode import FunctionGraph, ModuleOutline, SourceError
from hyperheat.workers.limits import Limits

__all__ = [
    "CALLS",
    "DEFAULT",
    "DrawJob",
    "Drawing",
    "LookJob",
    "Looker",
    "PlacesJob",
    "Refusal",
    "RelationCount",
    "Source",
    "WhyJob",
]

DEFAULT = ("MayWrite",)
"""The relations that are drawn if no others are asked for."""

_DETAIL = Detail(places=1_000, repairs=8, least=0.0, unlikely=True)
_FAMILIES = {
    "Tokens": "the tokens in order",
    "AstNode": "a piece of syntax and its parts",
    "CtrlF": "what runs right before what",
    "MayRead": "which uses of a variable may follow one another",
    "MayWrite": "which assignments a use may get its value from",
    "Symbol": "all occurrences of a name",
    "Returns": "where a function returns from",
}
CALLS = len(_FAMILIES)
"""The number of the colour of all calls and operations."""


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of a file; the lines of a notebook are those of the code of all its cells together."""

    data: bytes
    is_notebook: bool = False


@dataclass(frozen=True, slots=True)
class PlacesJob:
    """Every place of the function that begins in a line of a file, with its repairs; the answer is a FunctionRecord."""

    source: Source
    line: int


@dataclass(frozen=True, slots=True)
class WhyJob:
    """What moved the score of a place; the answer is an ExplainedPlace, or None if it cannot be explained."""

    source: Source
    place: Target


@dataclass(frozen=True, slots=True)
class DrawJob:
    """A function with some of its relations, None for the usual ones; the answer is a Drawing.

    Relations are numbered as in the answer. Its first line is shown with the number `shown_line`.
    """

    source: Source
    line: int
    relations: frozenset[int] | None
    shown_line: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a job was not done, as a sentence."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationCount:
    """A relation of a function: how many edges it has, what it means, the number of its colour, and whether it is drawn."""

    name: str
    edges: int
    meaning: str
    style: int
    drawn: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """The SVG, or why there is none, with all relations of the function."""

    svg: str | None
    problem: str | None
    nodes: int
    relations: tuple[RelationCount, ...]


LookJob = PlacesJob | WhyJob | DrawJob


@dataclass(frozen=True, slots=True)
class Looker:
    """Does all of these jobs."""

    detector: Detector
    limits: Limits

    def __call__(self, job: LookJob) -> FunctionRecord | ExplainedPlace | Drawing | Refusal | None:
        score, calibration = partial(score_in_worker, self.detector, self.limits), self.detector.calibration
        try:
            code = _read(job.source)
            if isinstance(job, WhyJob):
                is_notebook, commands = job.source.is_notebook, code.commands
                return next(
                    explain_targets(
                        code.text, [job.place], score, calibration, interactive=is_notebook, unjudged=commands
                    )
                )
            function = code.find(job.line)
            if isinstance(job, DrawJob):
                return _draw(function, job.relations, job.shown_line)
            if any(function.span[0] <= line <= function.span[2] for line in code.commands):
                return FunctionRecord(line_starts(function))
            question = make_question(function, code.text if "\r" in code.text else None)
            return answer(question, score, calibration, _DETAIL)
        except SourceError as error:
            return Refusal(error.problem)


@dataclass(frozen=True, slots=True)
class _Code:
    """The text of a file, its functions, and the lines of a notebook that hold IPython's commands."""

    text: str
    module: ModuleOutline
    commands: frozenset[int]

    def find(self, line: int) -> FunctionGraph:
        """The function that begins in a line."""
        for function in self.module.functions:
            if function.line == line:
                return self.module.read(function)
        raise SourceError(None, line, "no function begins here")


@lru_cache(maxsize=4)
def _read(source: Source) -> _Code:
    if not source.is_notebook:
        text = read_text(source.data)
        return _Code(text, read_outline(text), frozenset())
    joined = join_cells(read_notebook(source.data))
    return _Code(joined.text, read_outline(joined.text, interactive=True), joined.commands)


def _draw(function: FunctionGraph, wanted: frozenset[int] | None, shown_line: int) -> Drawing:
    graph = function.graph
    relations = _relations(graph, wanted)
    svg, problem = None, None
    try:
        lines = function.source.split("\n")
        lines = lines[: function.span[2] - function.span[0] + 1]
        first, lanes = function.span[0], _lanes(relations)
        svg = draw_over(graph, lines, first_line=first, lanes=lanes, shown_line=shown_line)
    except TooManySpokes as error:
        problem = str(error)
    return Drawing(svg=svg, problem=problem, nodes=graph.num_nodes, relations=relations)


def _relations(graph: Hypergraph, wanted: frozenset[int] | None) -> tuple[RelationCount, ...]:
    """The relations of a graph: first those that all functions have, then the names of what is called, by number."""
    counts: dict[str, int] = {}
    for name in graph.relations:
        counts[name] = counts.get(name, 0) + 1
    families = [name for name in _FAMILIES if name in counts]
    called = sorted(counts.keys() - _FAMILIES.keys(), key=lambda name: (-counts[name], name))
    styles = {name: style for style, name in enumerate(_FAMILIES)}
    return tuple(
        RelationCount(
            name=name,
            edges=counts[name],
            meaning=_FAMILIES.get(name, f"a call or operation {name}: its arguments and its value"),
            style=styles.get(name, CALLS),
            drawn=name in DEFAULT if wanted is None else number in wanted,
        )
        for number, name in enumerate((*families, *called))
    )


def _lanes(relations: tuple[RelationCount, ...]) -> list[Lane]:
    """A lane for each relation that all functions have, and one for all calls and operations."""
    drawn = [relation for relation in relations if relation.drawn]
    lanes = [
        Lane(title=relation.name, relations=frozenset({relation.name}), style=relation.style)
        for relation in drawn
        if relation.style != CALLS
    ]
    called = frozenset(relation.name for relation in drawn if relation.style == CALLS)
    more = [Lane(title="calls", relations=called, style=CALLS, named=True)] if called else []
    return [*lanes, *more]
