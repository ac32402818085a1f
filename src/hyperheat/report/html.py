"""One page without scripts and without anything from elsewhere: findings, code frames, and heat maps of suspicion.

Its policy allows the page's own style sheet, by its hash, and nothing else. Every text from outside is made visible and
escaped; the page is ASCII.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape

from hyperheat.report.finding import LEVELS, Finding, FunctionHeat, Report
from hyperheat.report.frame import FrameLine, frame
from hyperheat.report.heat import paint
from hyperheat.report.rules import RULES
from hyperheat.report.source import SourceText
from hyperheat.report.style import STYLE
from hyperheat.visible_text import visible, visible_code

__all__ = ["render"]

_HASH = base64.b64encode(hashlib.sha256(STYLE.encode("ascii")).digest()).decode("ascii")
_POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'"
_HEAD = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>hyperheat report</title>
<style>{STYLE}</style>
</head>
<body>"""


def render(report: Report, sources: Mapping[str, SourceText]) -> str:
    """The whole page."""
    maps = {f"heat-{number}": heat for number, heat in enumerate(report.heat, 1) if heat.path in sources}
    parts = [_HEAD, *_overview(report), "<main>", *_findings(report, sources, maps)]
    if maps:
        parts.append("<h2>Heat maps</h2>")
        parts.append(
            '<p class="faint">How suspicious each piece of code is to the model, from 0 to 1: the stronger the '
            "colour, the more. The number beside a line is its greatest.</p>"
        )
    for anchor, heat in maps.items():
        is_open = any(_is_inside(finding, heat) for finding in report.findings)
        parts += _heat_map(anchor, heat, sources.get(heat.path, SourceText("")), is_open=is_open)
    parts += [*_errors(report), "</main>", "</body>", "</html>"]
    return "".join(f"{part}\n" for part in parts).encode("ascii", "xmlcharrefreplace").decode("ascii")


def _overview(report: Report) -> Iterator[str]:
    summary = report.summary
    shown = Counter(finding.tier for finding in report.findings)
    counts: dict[str, object] = {"Files": summary.files, "Functions": summary.functions}
    counts |= {f"Findings in tier {tier}": shown[tier] for tier in LEVELS if shown[tier]}
    counts |= {f"Hidden in tier {tier}": summary.hidden[tier] for tier in LEVELS if summary.hidden.get(tier)}
    counts |= {
        "Suppressed": summary.suppressed,
        "In the baseline": summary.known,
        "Not checked": len(report.errors),
    }
    yield "<header>"
    yield f"<h1>hyperheat {_text(report.version)}</h1>"
    yield f'<p class="faint">Model {_text(report.model.name)}, sha256 {_text(report.model.sha256)}</p>'
    yield '<dl class="counts">'
    yield from (f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in counts.items())
    yield "</dl>"
    yield from (f"<p>{_text(note)}</p>" for note in summary.notes)
    yield "</header>"


def _findings(
    report: Report, sources: Mapping[str, SourceText], maps: Mapping[str, FunctionHeat]
) -> Iterator[str]:
    yield "<h2>Findings</h2>"
    if not report.findings:
        yield "<p>None.</p>"
        return
    yield "<table>"
    heads = [f'<th scope="col">{head}</th>' for head in ("Tier", "Confidence", "Rule", "Place", "What")]
    yield f"<thead><tr>{''.join(heads)}</tr></thead>"
    yield "<tbody>"
    for number, finding in enumerate(report.findings, 1):
        yield (
            f'<tr><td class="short">{finding.tier}</td><td class="short">{finding.confidence:.3f}</td>'
            f'<td class="short">{finding.rule}</td><td><a href="#finding-{number}">{_place(finding)}</a></td>'
            f"<td>{_text(finding.message)}</td></tr>"
        )
    yield "</tbody>"
    yield "</table>"
    for number, finding in enumerate(report.findings, 1):
        yield f'<article id="finding-{number}" class="tier{finding.tier}">'
        yield from _finding(finding, sources.get(finding.path))
        anchors = [anchor for anchor, heat in maps.items() if _is_inside(finding, heat)]
        yield from (f'<p><a href="#{anchor}">Heat map of the function</a></p>' for anchor in anchors)
        yield "</article>"


def _finding(finding: Finding, source: SourceText | None) -> Iterator[str]:
    rule = RULES[finding.rule]
    yield f"<h3>{_text(finding.message)}</h3>"
    yield (
        f'<p class="faint">{rule.id} {rule.name}, tier {finding.tier}, confidence {finding.confidence:.3f}, '
        f"at {_place(finding)} in {_text(finding.function)}</p>"
    )
    lines = frame(finding, source) if source else ()
    if lines:
        yield f'<div class="code" role="region" tabindex="0" aria-label="Code at {_place(finding)}">'
        yield from map(_frame_line, lines)
        yield "</div>"
    if finding.alternatives:
        yield "<p>Or:</p>"
        yield "<ul>"
        for other in finding.alternatives:
            yield f"<li>{_text(other.message)} ({other.confidence:.3f})</li>"
        yield "</ul>"
    yield f'<p class="faint">{_text(rule.summary)}</p>'


def _frame_line(line: FrameLine) -> str:
    before, marked, after = map(escape, visible_code(line.before, line.marked, line.after))
    if line.number is None:
        marked = f"<ins>{marked}</ins>" if marked else ""
        return (
            f'<div class="line added"><span class="number">+</span><code>{before}{marked}{after}</code></div>'
        )
    marked = f"<mark>{marked}</mark>" if marked else ""
    number = f'<span class="number">{line.number}</span>'
    return f'<div class="line">{number}<code>{before}{marked}{after}</code></div>'


def _heat_map(anchor: str, heat: FunctionHeat, source: SourceText, *, is_open: bool) -> Iterator[str]:
    name, place = _text(heat.function), f"{_text(heat.path)}:{heat.line}"
    yield f'<details id="{anchor}"{" open" if is_open else ""}>'
    yield f'<summary>{name} <span class="faint">{place}</span></summary>'
    yield f'<div class="code" role="region" tabindex="0" aria-label="Heat map of {name} at {place}">'
    for number, pieces in paint(heat, source):
        yield _heat_line(number, [text for text, _ in pieces], [suspicion for _, suspicion in pieces])
    yield "</div>"
    yield "</details>"


def _heat_line(number: int, texts: list[str], suspicions: list[float]) -> str:
    code = "".join(map(_shaded, visible_code(*texts), suspicions))
    peak = max(suspicions, default=0.0)
    beside = f"{peak:.2f}" if _level(peak) else ""
    numbers = f'<span class="number">{number}</span><span class="peak">{beside}</span>'
    return f'<div class="line">{numbers}<code>{code}</code></div>'


def _errors(report: Report) -> Iterator[str]:
    if not report.errors:
        return
    yield "<h2>Not checked</h2>"
    yield "<ul>"
    for error in report.errors:
        line = f":{error.line}" if error.line else ""
        rule = f'<span class="faint">{error.rule} {RULES[error.rule].name}</span>'
        yield f"<li>{_text(error.path)}{line}: {_text(error.reason)} {rule}</li>"
    yield "</ul>"


def _shaded(shown: str, suspicion: float) -> str:
    level = _level(suspicion)
    if not level:
        return escape(shown)
    return f'<span class="h{level}" title="suspicion {suspicion:.2f}">{escape(shown)}</span>'


def _level(suspicion: float) -> int:
    """The shade, from 0 (none) to 9."""
    return min(int(10 * suspicion), 9)


def _is_inside(finding: Finding, heat: FunctionHeat) -> bool:
    return finding.path == heat.path and heat.line <= finding.line <= heat.end_line


def _place(finding: Finding) -> str:
    return f"{_text(finding.path)}:{finding.line}:{finding.column}"


def _text(text: str) -> str:
    return escape(visible(text))
