r"""Questions: statements with one blank each.

    Albert Einstein | educated at | ? | academic degree=PhD | academic major=physics

The blank `?` stands for the subject, the object, the relation or the value of a qualifier. These slots are numbered: SUBJECT
is 0, OBJECT is 1, FIRST_QUALIFIER + i is the value of qualifier i, and RELATION is -1.

`Questions` holds any number of them in columns, like `Statements`. Scorers, ranking, training and completion all take
this form; a question that a person writes is one row of it, with the names in the text as its tables:

    >>> question = parse_question("Albert Einstein | educated at | ? | academic degree=PhD")
    >>> len(question), int(question.blank[0])
    (1, 1)

In text, names are ids or labels. A `|` inside a name, or a `=` inside the name of a qualifier, is escaped with a backslash:
`\|`, `\=`; so are a backslash, and an entity that is called `?`. In JSON a question is an object with null for the blank:

    {"subject": "Albert Einstein", "relation": "educated at", "object": null, "qualifiers": [["academic degree", "PhD"]]}
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hyperheat.files import parse_json
from hyperheat.kg.statements import Statement, Statements, expand

__all__ = [
    "FIRST_QUALIFIER",
    "OBJECT",
    "RELATION",
    "SUBJECT",
    "Practice",
    "Qualifiers",
    "QuestionError",
    "Questions",
    "join_questions",
    "parse_line",
    "parse_question",
    "questions_at_once",
]

RELATION, SUBJECT, OBJECT, FIRST_QUALIFIER = -1, 0, 1, 2
_BLANK = "?"
_QUESTIONS_AT_ONCE = 128
_SCORES_AT_ONCE = 1 << 24
_KEYS = ("subject", "relation", "object", "qualifiers")
Qualifiers = Mapping[str, Any] | Sequence[tuple[str, str | None]]
"""(name, value) pairs, or a mapping from names to a value or a list of values; None is the blank."""


@dataclass(frozen=True, kw_only=True)
class Practice:
    """The kinds of questions that a model was trained on, beside those that ask for a subject or an object."""

    values: bool = False
    """those that ask for the value of a qualifier"""
    relations: bool = False
    """those that ask for the relation"""


class QuestionError(ValueError):
    """A question that cannot be read or asked."""


@dataclass(frozen=True, eq=False, repr=False)
class Questions:
    """A batch of questions: a slot of each statement is blank, and what the statement held there is erased."""

    statements: Statements
    blank: np.ndarray
    """[B] the number of the blank slot"""

    def __post_init__(self) -> None:
        statements, blank = self.statements, np.ascontiguousarray(self.blank, np.int64).view()
        if (
            blank.shape != (len(statements),)
            or not ((blank >= RELATION) & (blank < FIRST_QUALIFIER + statements.num_qualifiers)).all()
        ):
            raise ValueError(f"blank: expected a slot of each of {len(statements)} statements, got {blank}")
        blank.flags.writeable = False
        object.__setattr__(self, "blank", blank)
        object.__setattr__(self, "statements", self.filled(np.zeros(len(blank), np.int32)))

    @classmethod
    def of(
        cls, subject: str | None, relation: str | None, object: str | None, qualifiers: Qualifiers = ()
    ) -> "Questions":
        """A single question; the part that is asked for is None.

        >>> print(Questions.of("Albert Einstein", "educated at", None, {"academic degree": "PhD"}))
        Albert Einstein | educated at | ? | academic degree=PhD
        """
        pairs = list(_pairs(qualifiers))
        slots = [relation, subject, object, *(value for _, value in pairs)]
        shown = _written_line(subject, relation, object, pairs)
        for name in [*slots, *(name for name, _ in pairs)]:
            if name is not None and (not isinstance(name, str) or not name.strip()):
                raise QuestionError(f"expected names in {shown!r}, got {name!r}")
        if slots.count(None) != 1:
            raise QuestionError(f"expected one blank in {shown!r}, got {slots.count(None)}")
        relation, subject, object, *values = (_BLANK if name is None else name for name in slots)
        names = (name for name, _ in pairs)
        statement = Statement(subject, relation, object, tuple(zip(names, values, strict=True)))
        return cls(Statements.build([statement]), np.array([RELATION + slots.index(None)]))

    def __len__(self) -> int:
        return len(self.blank)

    def __iter__(self) -> Iterator["Questions"]:
        return (self[row] for row in range(len(self)))

    def __getitem__(self, index: int | slice | np.ndarray | list[int]) -> "Questions":
        """Some of the questions; with a number the one in that place, still as a batch."""
        rows = [int(index)] if isinstance(index, int | np.integer) else index
        return Questions(self.statements[rows], self.blank[rows])

    def __str__(self) -> str:
        """The questions as `parse_question` reads them, one per line."""
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        return f"Questions({'; '.join(self._lines()) if len(self) < 4 else f'{len(self)} questions'})"

    def __eq__(self, other: Any) -> bool:
        """Equal questions in equal order, however large the tables are."""
        return list(self._lines()) == list(other._lines()) if isinstance(other, Questions) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))

    def _lines(self) -> Iterator[str]:
        for s, blank in zip(self.statements, self.blank.tolist(), strict=True):
            slots: list[str | None] = [s.relation, s.subject, s.object, *(value for _, value in s.qualifiers)]
            slots[blank - RELATION] = None
            relation, subject, obj, *values = slots
            pairs = list(zip((name for name, _ in s.qualifiers), values, strict=True))
            yield _written_line(subject, relation, obj, pairs)

    @property
    def asks_relation(self) -> bool:
        """Whether all questions ask for relations; a mixture cannot be scored at once, and raises ValueError."""
        asked = self.blank == RELATION
        if asked.any() and not asked.all():
            raise ValueError("expected questions for relations or for entities, got both in one batch")
        return bool(asked.any())

    def given(self) -> tuple[np.ndarray, np.ndarray]:
        """Every question and each entity that it gives, in the order of the slots: two columns."""
        rows = np.zeros_like(self.blank)
        slot = np.concatenate([rows + SUBJECT, rows + OBJECT, self._value_slots()[1]])
        owner, entity = self.statements.memberships()
        is_given = slot != self.blank[owner]
        return owner[is_given], entity[is_given]

    def given_roles(self) -> np.ndarray:
        """The role of each entity that `given` lists, as `Statements.incidences` names it."""
        rows = np.zeros_like(self.blank)
        owner, slot = self._value_slots()
        roles = np.concatenate([rows, rows + 1, 2 + self.statements.qualifier])
        slots = np.concatenate([rows + SUBJECT, rows + OBJECT, slot])
        return roles[slots != np.concatenate([self.blank, self.blank, self.blank[owner]])]

    def given_qualifiers(self) -> np.ndarray:
        """Which qualifiers of the statements the questions give: a mask [K]; the others are asked for."""
        owner, slot = self._value_slots()
        return slot != self.blank[owner]

    def asked_qualifiers(self, rows: np.ndarray) -> np.ndarray:
        """For questions that ask for the value of a qualifier, the relation of that qualifier."""
        return self.statements.qualifier[self.statements.offsets[rows] + self.blank[rows] - FIRST_QUALIFIER]

    def filled(self, answers: np.ndarray) -> Statements:
        """The statements with an entity, or a relation if that is asked for, in each blank: [B]."""
        columns = {}
        for slot, name in ((RELATION, "relation"), (SUBJECT, "subject"), (OBJECT, "object")):
            if (asked := self.blank == slot).any():
                columns[name] = np.where(asked, answers, getattr(self.statements, name))
        rows = np.flatnonzero(self.blank >= FIRST_QUALIFIER)
        if len(rows):
            columns["value"] = value = self.statements.value.copy()
            value[self.statements.offsets[rows] + self.blank[rows] - FIRST_QUALIFIER] = answers[rows]
        return replace(self.statements, **columns)

    def without_each(self) -> "Questions":
        """Each question as often as it gives qualifiers, every time without another one of them."""
        owner, slot = self._value_slots()
        is_given = slot != self.blank[owner]
        repeated = self[owner[is_given]]
        _, slot_there = repeated._value_slots()
        left_out = slot[is_given]
        kept = slot_there != np.repeat(left_out, repeated.statements.num_qualifiers)
        return Questions(
            repeated.statements.with_qualifiers(kept), repeated.blank - (repeated.blank > left_out)
        )

    def _value_slots(self) -> tuple[np.ndarray, np.ndarray]:
        """The question and the number of the slot of each qualifier."""
        first = self.statements.offsets[:-1]
        owner, place = expand(first, self.statements.num_qualifiers)
        return owner, FIRST_QUALIFIER + place - first[owner]


def questions_at_once(candidates: int) -> int:
    """How many questions to score together, so that there are not too many scores in memory."""
    return max(1, min(_QUESTIONS_AT_ONCE, _SCORES_AT_ONCE // max(1, candidates)))


def join_questions(parts: Iterable[Questions]) -> Questions:
    """One batch of all questions, whatever their tables."""
    parts = list(parts)
    statements = Statements.build(statement for part in parts for statement in part.statements)
    return Questions(statements, np.concatenate([np.zeros(0, np.int64), *(part.blank for part in parts)]))


def parse_question(text: str) -> Questions:
    """Read `subject | relation | object | qualifier=value | ...` with `?` for the blank."""
    parts = _split(text, "|")
    if len(parts) < 3:
        raise QuestionError(
            f"expected subject | relation | object | qualifier=value with ? as one of them, got {text!r}"
        )
    subject, relation, obj = map(_name, parts[:3])
    qualifiers = []
    for part in parts[3:]:
        name, *value = _split(part, "=")
        if not value:
            raise QuestionError(f"expected qualifier=value, got {part.strip()!r} in {text!r}")
        relation_name = _name(name)
        if relation_name is None:
            raise QuestionError(f"the name of a qualifier cannot be blank in {text!r}")
        qualifiers.append((relation_name, _name("=".join(value))))
    return Questions.of(subject, relation, obj, qualifiers)


def parse_line(line: str) -> Questions:
    """Read a question as text or as a JSON object, whichever the line holds."""
    if not line.lstrip().startswith("{"):
        return parse_question(line)
    try:
        record = parse_json(line)
    except ValueError as error:
        raise QuestionError(f"expected a JSON object, got {line[:40]!r}: {error}") from None
    if not record.keys() <= set(_KEYS) or not record:
        raise QuestionError(f"expected the keys {', '.join(_KEYS)}, got {', '.join(sorted(record))}")
    qualifiers = record.get("qualifiers", [])
    if not isinstance(qualifiers, dict) and not _are_pairs(qualifiers):
        raise QuestionError(f"qualifiers: expected pairs of relation and value, got {qualifiers!r}")
    return Questions.of(record.get("subject"), record.get("relation"), record.get("object"), qualifiers)


def _are_pairs(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value)


def _pairs(qualifiers: Qualifiers) -> Iterator[tuple[str, str | None]]:
    if not isinstance(qualifiers, Mapping):
        yield from ((name, value) for name, value in qualifiers)
        return
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


def _written_line(
    subject: str | None, relation: str | None, obj: str | None, pairs: Sequence[tuple[str, str | None]]
) -> str:
    parts = [_written(subject), _written(relation), _written(obj)]
    parts += [f"{_written(name, also='=')}={_written(value)}" for name, value in pairs]
    return " | ".join(parts)


def _written(name: str | None, also: str = "") -> str:
    if name is None:
        return _BLANK
    return f"\\{name}" if name == _BLANK else re.sub(rf"[\\|{also}]", r"\\\g<0>", str(name))
