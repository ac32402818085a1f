"""What is to be seen of one function, as parts of a page: heat map, repairs of a place, why, and the hypergraph."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from hyperheat.check.scanned_files import ScannedFile, ScannedFunction
from hyperheat.report.finding import Finding
from hyperheat.report.listing import Piece
from hyperheat.report.markup import finding_place, frame_lines, heat_legend, heat_lines, shown
from hyperheat.report.rules import RULE_OF_KIND, RULES
from hyperheat.report.source import SourceText
from hyperheat.web.bars import bar, message, share
from hyperheat.web.look import CALLS, Drawing, RelationCount

__all__ = ["function_view", "graph_view", "place_view"]

_LEGEND = """<p class="legend">
<span><svg width="8" height="8" aria-hidden="true"><circle class="key" cx="4" cy="4" r="3"/></svg> token</span>
<span><svg width="8" height="8" aria-hidden="true"><rect class="key" x="1" y="1" width="6" height="6"/></svg>
larger piece of syntax, at its beginning</span>
<span><svg width="30" height="16" aria-hidden="true"><rect class="keybox" x="1" y="1" width="28" height="14" rx="3"/>
<text class="keytext" x="15" y="12">e7</text></svg> edge 7, in the colour of its relation</span>
<span><b>#7</b> node 7 of {nodes}</span>
<span>Choose an edge or a token to see its parts; Escape shows all again.</span>
</p>"""


def function_view(
    file: ScannedFile, number: int, function: ScannedFunction, found: ScannedFunction, source: SourceText
) -> Iterator[str]:
    """The head of a function, with a choice of all functions of its file, and its heat map; `found` has all places."""
    yield '<header class="head">'
    yield f"<h2>{shown(function.name)}</h2>"
    yield f'<p class="faint">{shown(found.heat.source)}, lines {found.line} to {found.end_line}</p>'
    yield f'<label>Function <select id="function" data-file="{number}">'
    for other in file.functions:
        chosen = " selected" if other.line == function.line else ""
        yield f'<option value="{other.line}"{chosen}>{shown(other.name)} ({other.line})</option>'
    yield "</select></label>"
    yield "</header>"
    if found.no_bug is None:
        yield '<p class="note">Not scored: it has too few places where a small change makes a difference.</p>'
    else:
        yield f'<p class="note">Probability that there is no bug here, by the model: <b>{found.no_bug:.3f}</b></p>'
        yield heat_legend()
    placed = _by_span(found)

    def attributes(piece: Piece) -> str:
        heats = [found.heat.heats[index] for index in piece.heats]
        spans = [(heat.line, heat.column, heat.end_line, heat.end_column) for heat in heats]
        places = [placed[span] for span in spans if span in placed]
        return f' data-places="{" ".join(map(str, places))}" role="button" tabindex="-1"' if places else ""

    yield from heat_lines(found.heat, source, attributes)
    if placed:
        yield '<p class="faint">Click a piece of code, or use arrow keys and Enter, to see what else could stand there.</p>'


def _by_span(function: ScannedFunction) -> dict[tuple[int, int, int, int], int]:
    """The number of the surest place at each span."""
    placed: dict[tuple[int, int, int, int], int] = {}
    for number, suspect in enumerate(function.suspects):
        placed.setdefault(_span(suspect.finding), number)
    return placed


def _span(finding: Finding) -> tuple[int, int, int, int]:
    return finding.line, finding.column, finding.end_line, finding.end_column


def place_view(
    function: ScannedFunction, place: int, source: SourceText, address: str, *, reported: bool
) -> Iterator[str]:
    """The suggested repair of a place, the other ones, and where to ask why."""
    finding = function.suspects[place].finding
    rule = RULES[finding.rule]
    badge = f'<span class="tier tier{finding.tier}">{finding.tier}</span>' if reported else "Not reported:"
    yield f'<h2 class="message">{message(finding.message)}</h2>'
    yield (
        f'<p class="faint">{badge} {finding.worth}, {rule.id} {rule.name}, at {finding_place(finding)}</p>'
    )
    yield from frame_lines(finding, source)
    yield "<h3>Repairs of this place</h3>"
    yield '<ol class="repairs">'
    repairs = [finding, *(_other(finding, number) for number in range(len(finding.alternatives)))]
    for repair in repairs:
        yield f"<li>{bar(repair.confidence)}<details><summary>{message(repair.message)}</summary>"
        yield from frame_lines(repair, source)
        yield "</details></li>"
    yield "</ol>"
    around = [
        other
        for other, _ in enumerate(function.suspects)
        if other != place and _inside(function, other, place)
    ]
    if around:
        yield "<h3>Also here</h3>"
        yield '<ul class="around">'
        for other in around[:8]:
            also = function.suspects[other].finding
            yield (
                f'<li><button type="button" data-place="{other}">{message(also.message)}</button> '
                f'<span class="faint">{share(also.confidence)}</span></li>'
            )
        yield "</ul>"
    yield f'<section id="why" data-address="{shown(address)}"><h4>Why</h4><p class="faint">Asking the model…</p></section>'


def _other(finding: Finding, number: int) -> Finding:
    """An alternative as a finding of its own."""
    other = finding.alternatives[number]
    return replace(
        finding,
        rule=RULE_OF_KIND[other.kind],
        kind=other.kind,
        message=other.message,
        confidence=other.confidence,
        fix=other.fix,
        alternatives=(),
    )


def _inside(function: ScannedFunction, other: int, place: int) -> bool:
    """Whether one of two places contains the other."""
    one, two = (_span(function.suspects[index].finding) for index in (other, place))
    return (one[:2] <= two[:2] and two[2:] <= one[2:]) or (two[:2] <= one[:2] and one[2:] <= two[2:])


def graph_view(drawing: Drawing, function: ScannedFunction) -> Iterator[str]:
    """The switches of the relations, the drawing, and what its shapes mean."""
    yield '<form id="relations" aria-label="Relations">'
    numbered = enumerate(drawing.relations)
    for is_call, some in groupby(numbered, key=lambda pair: pair[1].style == CALLS):
        relations = list(some)
        if is_call:
            yield from _call_switches(relations)
        else:
            yield '<fieldset class="chips"><legend>Relations</legend>'
            yield from (_switch(number, relation) for number, relation in relations)
            yield "</fieldset>"
    yield "</form>"
    yield _LEGEND.format(nodes=f"{drawing.nodes:,}")
    if drawing.svg is None:
        yield f'<p class="note">{shown(drawing.problem or "")}</p>'
    elif not any(relation.drawn for relation in drawing.relations):
        yield '<p class="note">Switch on a relation to draw it.</p>'
    else:
        label = f"Hypergraph of {shown(function.name)}"
        yield f'<div class="canvas" role="region" tabindex="0" aria-label="{label}">{drawing.svg}</div>'


def _call_switches(relations: list[tuple[int, RelationCount]]) -> Iterator[str]:
    """One switch for all calls and operations, and, folded away, one for each name."""
    every, some = (check(relation.drawn for _, relation in relations) for check in (all, any))
    edges = sum(relation.edges for _, relation in relations)
    yield (
        f'<fieldset class="chips"><label class="chip lane{CALLS}" title="what is called, its arguments and its value">'
        f'<input type="checkbox" id="all-calls" value="calls"{" checked" if every else ""}> calls and operations '
        f'<span class="count">{edges}</span></label>'
        f"<details{' open' if some and not every else ''}><summary>by name ({len(relations)})</summary>"
    )
    yield from (_switch(number, relation) for number, relation in relations)
    yield "</details></fieldset>"


def _switch(number: int, relation: RelationCount) -> str:
    checked = " checked" if relation.drawn else ""
    return (
        f'<label class="chip lane{relation.style}" title="{shown(relation.meaning)}">'
        f'<input type="checkbox" name="relation" value="{number}"{checked}> '
        f'{shown(relation.name)} <span class="count">{relation.edges}</span></label>'
    )
