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
from hyperheat.report.listing import FrameLine, frame, paint
from hyperheat.report.rules import RULES
from hyperheat.report.source import SourceText
from hyperheat.visible_text import visible, visible_code

__all__ = ["render"]

_SHADES = "".join(
    f".h{level} {{ background: rgb(213 94 0 / {level * 8}%); }}\n" for level in range(1, 10)
)  # one hue that colour-blind readers tell from the page; the numbers stand beside it

_STYLE = (
    """
:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1b2430; --faint: #566373; --panel: #f4f6f8; --rule: #d3dae1;
  --A: #b3261e; --B: #8a5a00; --C: #1f5fa8; --added: #1a6b34; --addedpage: #e4f4e8; --found: #fbe3e1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12171d; --text: #e4e9ee; --faint: #a3b0bd; --panel: #1b222a; --rule: #36414c;
    --A: #ff8a80; --B: #f2b84b; --C: #8ab8f2; --added: #7fd69a; --addedpage: #16301e; --found: #4a1f1d;
  }
}
body {
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 66rem;
  background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif;
}
h1 { margin: 0; font-size: 1.6rem; }
h2 { margin: 2.5rem 0 0.5rem; font-size: 1.25rem; }
h3 { margin: 0; font-size: 1rem; overflow-wrap: anywhere; }
p, dl, ul { margin: 0.3rem 0; }
a { color: inherit; }
a:focus-visible, summary:focus-visible, .code:focus-visible { outline: 2px solid var(--C); outline-offset: 2px; }
.faint { color: var(--faint); overflow-wrap: anywhere; }
.counts { display: flex; flex-wrap: wrap; gap: 0.3rem 1.6rem; margin-top: 0.8rem; }
.counts div { display: flex; gap: 0.4rem; }
.counts dt { color: var(--faint); }
.counts dd { margin: 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.3rem 0.8rem 0.3rem 0; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top; }
th { color: var(--faint); font-weight: normal; }
td { overflow-wrap: anywhere; }
td.short { white-space: nowrap; font-variant-numeric: tabular-nums; }
article, details { margin: 1rem 0; padding: 0.9rem 1rem; border: 1px solid var(--rule); border-radius: 6px; }
article { border-left-width: 5px; }
.tierA { border-left-color: var(--A); }
.tierB { border-left-color: var(--B); }
.tierC { border-left-color: var(--C); }
summary { cursor: pointer; overflow-wrap: anywhere; }
.code {
  margin: 0.7rem 0 0.3rem; padding: 0.5rem 0; overflow-x: auto; background: var(--panel); border-radius: 4px;
  font: 0.875rem/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; tab-size: 4;
}
.line { display: flex; width: max-content; min-width: 100%; }
.number { flex: none; width: 3.5rem; padding-right: 0.8rem; color: var(--faint); text-align: right; user-select: none; }
.peak { flex: none; width: 2.5rem; padding-right: 0.8rem; color: var(--faint); user-select: none; }
.line code { font: inherit; white-space: pre; direction: ltr; unicode-bidi: isolate; }
.line mark { background: var(--found); color: inherit; border-bottom: 2px solid var(--A); }
.added { background: var(--addedpage); }
.added .number { color: var(--added); }
.added ins { color: var(--added); font-weight: bold; text-decoration: none; }
@media print { body { max-width: none; } .code { overflow: visible; } .line code { white-space: pre-wrap; } }
"""
    + _SHADES
)

_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode("ascii")).digest()).decode("ascii")
_POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'"
_HEAD = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>hyperheat report</title>
<style>{_STYLE}</style>
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
