"""SuspectValue statements as text, JSON, JSON lines, SARIF and commands of GitHub."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hyperheat.kg.lint import SuspectValue
from hyperheat.kg.statements import Statement
from hyperheat.visible_text import dump_json, uri, visible

__all__ = ["SUSPECT_FORMATS", "SuspectReport"]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RULE = "suspect-statement"


@dataclass(frozen=True, kw_only=True)
class SuspectReport:
    """The suspects of a data set, and what is needed to show them."""

    source: str
    suspects: list[SuspectValue]
    places: list[str]
    """of each suspect: the split, and the number of the statement in it"""
    labels: Mapping[str, str]
    checked: int
    model: str
    version: str

    def message(self, suspect: SuspectValue) -> str:
        """The suspicion in one sentence."""
        given, other = (self.labels.get(name, name) for name in (suspect.given, suspect.other))
        return (
            f"{suspect.place} {given!r} looks wrong: did you mean {other!r}? "
            f"(p {suspect.other_probability:.2f}; given: p {suspect.given_probability:.3f}, rank {suspect.given_rank:g})"
        )

    def labelled(self, statement: Statement) -> str:
        """A statement in labels where there are any."""
        names = [statement.subject, statement.relation, statement.object]
        pairs = tuple((self.labels.get(q, q), self.labels.get(v, v)) for q, v in statement.qualifiers)
        subject, relation, obj = (self.labels.get(name, name) for name in names)
        return str(Statement(subject, relation, obj, pairs))


def _text(report: SuspectReport) -> str:
    lines = []
    for place, suspect in zip(report.places, report.suspects, strict=True):
        lines += [f"{place}: {report.message(suspect)}", f"  {report.labelled(suspect.statement)}"]
        lines += [f"  like: {report.labelled(statement)}" for statement in suspect.evidence]
    return "".join(f"{visible(line)}\n" for line in lines)


def _records(report: SuspectReport) -> list[dict[str, Any]]:
    return [
        {"place": place, "message": report.message(suspect), **suspect.to_json()}
        for place, suspect in zip(report.places, report.suspects, strict=True)
    ]


def _json(report: SuspectReport) -> str:
    document = {
        "version": report.version,
        "source": report.source,
        "model": report.model,
        "checked": report.checked,
        "suspects": _records(report),
    }
    return f"{dump_json(document, indent=1)}\n"


def _json_lines(report: SuspectReport) -> str:
    return "".join(f"{dump_json(record)}\n" for record in _records(report))


def _sarif(report: SuspectReport) -> str:
    description = "A model of the other statements ranks this value low and is sure of another one."
    rule = {"id": _RULE, "name": "SuspectStatement", "shortDescription": {"text": description}}
    results = [
        {
            "ruleId": _RULE,
            "ruleIndex": 0,
            "level": "warning",
            "rank": round(100 * suspect.other_probability, 1),
            "message": {"text": visible(report.message(suspect)).replace("{", "{{").replace("}", "}}")},
            "locations": [
                {
                    "physicalLocation": {"artifactLocation": {"uri": uri(report.source)}},
                    "logicalLocations": [{"fullyQualifiedName": place, "kind": "member"}],
                }
            ],
            "properties": {"statement": visible(report.labelled(suspect.statement))},
        }
        for place, suspect in zip(report.places, report.suspects, strict=True)
    ]
    driver = {"name": "hyperheat", "version": report.version, "rules": [rule]}
    run = {"tool": {"driver": driver}, "results": results}
    return f"{dump_json({'$schema': _SCHEMA, 'version': '2.1.0', 'runs': [run]})}\n"


def _github(report: SuspectReport) -> str:
    lines = []
    for place, suspect in zip(report.places, report.suspects, strict=True):
        file = visible(report.source).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
        text = visible(f"{place}: {report.message(suspect)}").replace("%", "%25")
        lines.append(f"::warning file={file},title={_RULE}::{text}\n")
    return "".join(lines)


SUSPECT_FORMATS: dict[str, Callable[[SuspectReport], str]] = {
    "text": _text,
    "json": _json,
    "jsonl": _json_lines,
    "sarif": _sarif,
    "github": _github,
}
"""What writes suspects in each format."""
