"""One page without scripts and without anything from elsewhere: findings, code frames, and heat maps of suspicion.

Its policy allows the page's own style sheet, by its hash, and nothing else. Every text from outside is made visible and
escaped; the page is ASCII.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping

from hyperheat.alarm_rate import MEANING, describe_rate
from hyperheat.report.cause_markup import why_lines
from hyperheat.report.finding import LEVELS, Finding, FunctionHeat, Report
from hyperheat.report.markup import (
    STYLE,
    as_ascii,
    finding_place,
    frame_lines,
    heat_legend,
    heat_lines,
    shown,
)
from hyperheat.report.rules import RULES
from hyperheat.report.source import SourceText

__all__ = ["render"]

_STYLE = f"\n{STYLE}"
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
    maps = {f"heat-{number}": heat for number, heat in enumerate(report.heat, 1) if heat.source in sources}
    parts = [_HEAD, *_overview(report), "<main>", *_findings(report, sources, maps)]
    if maps:
        parts.append("<h2>Heat maps</h2>")
        parts.append(heat_legend())
    for anchor, heat in maps.items():
        is_open = any(_is_inside(finding, heat) for finding in report.findings)
        parts += _heat_map(anchor, heat, sources.get(heat.source, SourceText("")), is_open=is_open)
    parts += [*_errors(report), "</main>", "</body>", "</html>"]
    return as_ascii("".join(f"{part}\n" for part in parts))


def _overview(report: Report) -> Iterator[str]:
    summary = report.summary
    found = Counter(finding.tier for finding in report.findings)
    counts: dict[str, object] = {"Files": summary.files, "Functions": summary.functions}
    counts |= {"Not judged": summary.too_small + summary.too_large}
    counts |= {f"Findings in tier {tier}": found[tier] for tier in LEVELS if found[tier]}
    counts |= {f"Hidden in tier {tier}": summary.hidden[tier] for tier in "ABC" if summary.hidden.get(tier)}
    counts |= {
        "Suppressed": summary.suppressed,
        "In the baseline": summary.known,
        "Not checked": len(report.errors),
    }
    yield "<header>"
    yield f"<h1>hyperheat {shown(report.version)}</h1>"
    yield f'<p class="faint">Model {shown(report.model.name)}, sha256 {shown(report.model.sha256)}</p>'
    yield '<dl class="counts">'
    yield from (f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in counts.items())
    yield "</dl>"
    yield from (f"<p>{shown(note)}</p>" for note in summary.notes)
    yield "</header>"


def _findings(
    report: Report, sources: Mapping[str, SourceText], maps: Mapping[str, FunctionHeat]
) -> Iterator[str]:
    yield "<h2>Findings</h2>"
    if not report.findings:
        yield "<p>None.</p>"
        return
    yield f'<p class="faint">{MEANING}</p>'
    yield "<table>"
    heads = [f'<th scope="col">{head}</th>' for head in ("Tier", "Measured", "Rule", "Place", "What")]
    yield f"<thead><tr>{''.join(heads)}</tr></thead>"
    yield "<tbody>"
    for number, finding in enumerate(report.findings, 1):
        yield (
            f'<tr><td class="short">{finding.tier}</td><td class="short">{describe_rate(finding.alarm_rate)}</td>'
            f'<td class="short">{finding.rule}</td><td><a href="#finding-{number}">{finding_place(finding)}</a></td>'
            f"<td>{shown(finding.message)}</td></tr>"
        )
    yield "</tbody>"
    yield "</table>"
    for number, finding in enumerate(report.findings, 1):
        yield f'<article id="finding-{number}" class="tier{finding.tier}">'
        yield from _finding(finding, sources.get(finding.source))
        anchors = [anchor for anchor, heat in maps.items() if _is_inside(finding, heat)]
        yield from (f'<p><a href="#{anchor}">Heat map of the function</a></p>' for anchor in anchors)
        yield "</article>"


def _finding(finding: Finding, source: SourceText | None) -> Iterator[str]:
    rule = RULES[finding.rule]
    yield f"<h3>{shown(finding.message)}</h3>"
    yield (
        f'<p class="faint">{rule.id} {rule.name}, {finding.worth}, '
        f"at {finding_place(finding)} in {shown(finding.function)}</p>"
    )
    yield from frame_lines(finding, source)
    if finding.alternatives:
        yield "<p>Or:</p>"
        yield "<ul>"
        for other in finding.alternatives:
            yield f"<li>{shown(other.message)}</li>"
        yield "</ul>"
    yield from why_lines(finding, source)
    yield f'<p class="faint">{shown(rule.summary)}</p>'


def _heat_map(anchor: str, heat: FunctionHeat, source: SourceText, *, is_open: bool) -> Iterator[str]:
    name, place = shown(heat.function), f"{shown(heat.source)}:{heat.line}"
    yield f'<details id="{anchor}"{" open" if is_open else ""}>'
    yield f'<summary>{name} <span class="faint">{place}</span></summary>'
    yield from heat_lines(heat, source)
    yield "</details>"


def _errors(report: Report) -> Iterator[str]:
    if not report.errors:
        return
    yield "<h2>Not checked</h2>"
    yield "<ul>"
    for error in report.errors:
        line = f":{error.line}" if error.line else ""
        rule = f'<span class="faint">{error.rule} {RULES[error.rule].name}</span>'
        yield f"<li>{shown(error.source)}{line}: {shown(error.reason)} {rule}</li>"
    yield "</ul>"


def _is_inside(finding: Finding, heat: FunctionHeat) -> bool:
    return finding.source == heat.source and heat.line <= finding.line <= heat.end_line
