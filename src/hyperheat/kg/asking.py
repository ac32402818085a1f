r"""Questions: statements with one blank, and how they are written.

    Albert Einstein | educated at | ? | academic degree=PhD | academic major=physics

The blank `?` stands for the subject, the object or the value of a qualifier. Names are ids or labels. A name that holds
`|`, or a qualifier that holds `=`, is written with a backslash before it: `\|`, `\=`; so are a backslash, and the name `?`.
In JSON a question is an object with the keys of a statement, and the blank is null:

    {"subject": "Albert Einstein", "relation": "educated at", "object": null, "qualifiers": [["academic degree", "PhD"]]}
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperheat.files import parse_json
from hyperheat.kg.neural.questions import OBJECT, SUBJECT

__all__ = [
    "FIRST_QUALIFIER",
    "OBJECT",
    "SUBJECT",
    "Question",
    "QuestionError",
    "parse_line",
    "parse_question",
]

FIRST_QUALIFIER = 2
_BLANK = "?"
_KEYS = ("subject", "relation", "object", "qualifiers")
Qualifiers = Mapping[str, Any] | Sequence[tuple[str, str | None]]


class QuestionError(ValueError):
    """A question that cannot be read: what was expected and what came."""


@dataclass(frozen=True, slots=True)
class Question:
    """A statement in which one of subject, object and the qualifiers' values is None."""

    subject: str | None
    relation: str
    object: str | None
    qualifiers: tuple[tuple[str, str | None], ...] = ()

    def __post_init__(self) -> None:
        if self.relation is None:
            raise QuestionError("expected a relation, got a blank: only entities can be asked for")
        names = [self.relation, *self.entities, *(name for name, _ in self.qualifiers)]
        for name in names:
            if name is not None and (not isinstance(name, str) or not name.strip()):
                raise QuestionError(f"expected names in {str(self)!r}, got {name!r}")
        if self.entities.count(None) != 1:
            raise QuestionError(f"expected one blank in {str(self)!r}, got {self.entities.count(None)}")

    @classmethod
    def of(
        cls, subject: str | None, relation: str, object: str | None, qualifiers: Qualifiers = ()
    ) -> "Question":
        """A question with qualifiers as pairs or as a mapping, whose values may be lists."""
        pairs = _pairs(qualifiers) if isinstance(qualifiers, Mapping) else qualifiers
        return cls(subject, relation, object, tuple((name, value) for name, value in pairs))

    @property
    def entities(self) -> list[str | None]:
        """Subject, object and the values of qualifiers: the slots, in the order of their numbers."""
        return [self.subject, self.object, *(value for _, value in self.qualifiers)]

    @property
    def blank(self) -> int:
        """The number of the blank slot: SUBJECT, OBJECT, or FIRST_QUALIFIER + i."""
        return self.entities.index(None)

    def __str__(self) -> str:
        """The question as `parse_question` reads it."""
        parts = [_written(self.subject), _written(self.relation), _written(self.object)]
        parts += [f"{_written(name, also='=')}={_written(value)}" for name, value in self.qualifiers]
        return " | ".join(parts)


def parse_question(text: str) -> Question:
    """Read `subject | relation | object | qualifier=value | ...` with `?` for the blank."""
    parts = _split(text, "|")
    if len(parts) < 3:
        raise QuestionError(
            f"expected subject | relation | object | qualifier=value with ? as one of them, got {text!r}"
        )
    subject, relation, obj = map(_name, parts[:3])
    if relation is None:
        raise QuestionError(f"expected a relation, got a blank in {text!r}: only entities can be asked for")
    qualifiers = []
    for part in parts[3:]:
        name, *value = _split(part, "=")
        if not value:
            raise QuestionError(f"expected qualifier=value, got {part.strip()!r} in {text!r}")
        relation_name = _name(name)
        if relation_name is None:
            raise QuestionError(f"expected the name of a qualifier, got a blank in {text!r}")
        qualifiers.append((relation_name, _name("=".join(value))))
    return Question(subject, relation, obj, tuple(qualifiers))


def parse_line(line: str) -> Question:
    """Read a question as text or as a JSON object, whichever the line holds."""
    if not line.lstrip().startswith("{"):
        return parse_question(line)
    try:
        record = parse_json(line)
    except ValueError as error:
        raise QuestionError(f"expected a JSON object, got {line[:40]!r}: {error}") from None
    if not record.keys() <= set(_KEYS) or "relation" not in record:
        raise QuestionError(f"expected the keys {', '.join(_KEYS)}, got {', '.join(sorted(record))}")
    qualifiers = record.get("qualifiers", [])
    if not isinstance(qualifiers, dict) and not _are_pairs(qualifiers):
        raise QuestionError(f"qualifiers: expected pairs of relation and value, got {qualifiers!r}")
    return Question.of(record.get("subject"), record["relation"], record.get("object"), qualifiers)


def _are_pairs(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value)


def _pairs(qualifiers: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    for name, values in qualifiers.items():
        for value in values if isinstance(values, list | tuple) else [values]:
            yield name, value


def _split(text: str, separator: str) -> list[str]:
    """The parts between separators that no backslash escapes; escapes stay as they are."""
    parts, escaped = [""], False
    for character in text:
        if character == separator and not escaped:
            parts.append("")
        else:
            parts[-1] += character
        escaped = character == "\\" and not escaped
    return parts


def _name(part: str) -> str | None:
    part = part.strip()
    return None if part == _BLANK else re.sub(r"\\(.)", r"\1", part)


def _written(name: str | None, also: str = "") -> str:
    if name is None:
        return _BLANK
    return f"\\{name}" if name == _BLANK else re.sub(rf"[\\|{also}]", r"\\\g<0>", str(name))
