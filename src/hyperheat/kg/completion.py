"""Completing statements: the most likely entities for the blank of a question.

    p(c) = softmax(score / T)_c        over the candidates c

Candidates are, unless given, the entities that are subject or object of a known statement, and for a qualifier those
that are the value of one. The temperature T is 1 unless the model was calibrated (calibration.py).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np

from hyperheat.kg.asking import FIRST_QUALIFIER, Qualifiers, Question, QuestionError, parse_question
from hyperheat.kg.calibration import Calibration
from hyperheat.kg.explaining import Explainer, Explanation
from hyperheat.kg.known import KnownFacts
from hyperheat.kg.lookup import Lookup
from hyperheat.kg.slots import Slots, stack
from hyperheat.kg.statements import Statements, UnknownName

__all__ = ["Answer", "Asked", "Completer", "Completion"]

Known = Literal["known", "with other qualifiers", "new"]


class Asked(Protocol):
    """What can be asked: a trained model, or the heuristic."""

    reads_labels: bool
    """Whether it knows unseen entities, which stand behind its own in the table of the statements, by their text."""
    asks_values: bool
    """Whether the blank may be the value of a qualifier."""

    def ask(self, statements: Statements, blank: np.ndarray) -> np.ndarray:
        """Scores of its entities for the blank slot of each statement: [B, entities]."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An entity that may fill the blank."""

    rank: int
    id: str
    label: str | None
    probability: float
    score: float
    known: Known


@dataclass(frozen=True, kw_only=True)
class Completion(Sequence[Answer]):
    """The best answers to a question, best first; printing it gives a table."""

    question: Question
    answers: tuple[Answer, ...]
    allowed: np.ndarray = field(repr=False, compare=False)
    """the candidates, over which the probabilities are spread: a mask over the entities"""
    notes: tuple[str, ...] = ()
    """names that the model does not know and reads by their text"""

    def __len__(self) -> int:
        return len(self.answers)

    def __getitem__(self, place: Any) -> Any:
        return self.answers[place]

    def __str__(self) -> str:
        shown = [_shown(answer) for answer in self.answers]
        width = max(map(len, shown), default=0)
        rows = [str(self.question), *(f"note: {note}" for note in self.notes)]
        rows.append(f"{'':>3} {'p':>6} {'score':>8}  answer")
        for answer, name in zip(self.answers, shown, strict=True):
            numbers = f"{answer.rank:>3} {answer.probability:>6.3f} {answer.score:>8.2f}"
            rows.append(f"{numbers}  {name:<{width}}  {answer.known}")
        return "\n".join(rows)

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "question": str(self.question),
            "candidates": int(self.allowed.sum()),
            "notes": list(self.notes),
            "answers": [asdict(answer) for answer in self.answers],
        }


class Completer:
    """A model with its names and known statements, ready to be asked."""

    def __init__(
        self,
        model: Asked,
        statements: Statements,
        labels: Mapping[str, str],
        *,
        calibration: Calibration | None = None,
    ) -> None:
        self._model = model
        self._temperature = 1.0 if calibration is None else calibration.temperature
        self.statements, self.labels = statements, labels
        self.entities = Lookup("an entity", statements.entities, labels)
        self.relations = Lookup("a relation", statements.relations, labels)
        self._known = KnownFacts(statements)
        values = np.zeros(len(statements.entities), bool)
        values[statements.value] = True
        self._main, self._values = statements.main_entities(), values

    def complete(
        self,
        subject: str | None,
        relation: str,
        object: str | None,
        qualifiers: Qualifiers = (),
        *,
        k: int = 10,
        exclude_known: bool = False,
        candidates: Iterable[str] | None = None,
    ) -> Completion:
        """The k best answers for what is None: subject, object or the value of a qualifier. Names are ids or labels."""
        question = Question.of(subject, relation, object, qualifiers)
        return self.ask(question, k=k, exclude_known=exclude_known, candidates=candidates)

    def ask(
        self,
        question: Question | str,
        *,
        k: int = 10,
        exclude_known: bool = False,
        candidates: Iterable[str] | None = None,
    ) -> Completion:
        """The k best answers to a question, which may be written as `subject | relation | ? | qualifier=value`."""
        if isinstance(question, str):
            question = parse_question(question)
        chosen = None if candidates is None else self.mask(candidates)
        (completion,) = self.ask_all([question], k=k, exclude_known=exclude_known, mask=chosen)
        return completion

    def ask_all(
        self,
        questions: Sequence[Question],
        *,
        k: int = 10,
        exclude_known: bool = False,
        mask: np.ndarray | None = None,
    ) -> Iterator[Completion]:
        """The best answers to several questions, scored together; `mask` says which entities may answer."""
        if k < 1:
            raise ValueError(f"k: expected at least 1, got {k}")
        unseen: list[str] = []
        found = [self.resolve(question, unseen) for question in questions]
        for question, slots, scores in zip(questions, found, self.scores(found, unseen), strict=True):
            known, otherwise = self._known.answers(slots)
            allowed = self.candidates(slots) if mask is None else mask
            if exclude_known:
                allowed = allowed.copy()
                allowed[known] = False
            p = self.probabilities(scores, allowed)
            best = _best(scores, allowed, k)
            flags: dict[int, Known] = dict.fromkeys(otherwise.tolist(), "with other qualifiers")
            flags |= dict.fromkeys(known.tolist(), "known")
            yield Completion(
                question=question,
                answers=tuple(
                    Answer(
                        rank=rank,
                        id=self.entities.names[index],
                        label=self.entities.label(index),
                        probability=float(p[index]),
                        score=float(scores[index]),
                        known=flags.get(index, "new"),
                    )
                    for rank, index in enumerate(best.tolist(), start=1)
                ),
                allowed=allowed,
                notes=self._notes(question, unseen),
            )

    def explain(self, completion: Completion, rank: int = 1, *, support: int = 3) -> Explanation:
        """Why the answer of this rank was given: what each qualifier does, and so many near statements."""
        return self._explainer.explain(completion, rank, support=support)

    @cached_property
    def _explainer(self) -> Explainer:
        return Explainer(self)

    def mask(self, names: Iterable[str]) -> np.ndarray:
        """A mask over the entities of the model: those with these ids or labels."""
        allowed = np.zeros(len(self.entities.names), bool)
        allowed[[self.entities.find(name) for name in names]] = True
        if not allowed.any():
            raise ValueError("candidates: expected at least one entity, got none")
        return allowed

    def candidates(self, question: Slots) -> np.ndarray:
        """The entities that may answer unless others are named: a mask."""
        return self._values if question.blank >= FIRST_QUALIFIER else self._main

    def probabilities(self, scores: np.ndarray, allowed: np.ndarray) -> np.ndarray:
        """The softmax of scores [entities] over the allowed entities, 0 for all others."""
        p = np.zeros(len(scores))
        if np.isfinite(highest := scores[allowed].max(initial=-np.inf)):
            p[allowed] = np.exp((scores[allowed].astype(float) - highest) / self._temperature)
            p /= p.sum()
        return p

    def scores(self, questions: Sequence[Slots], unseen: Sequence[str]) -> np.ndarray:
        """The scores of all entities [B, entities]."""
        tables = (*self.statements.entities, *unseen), self.statements.relations
        blank = np.array([question.blank for question in questions], np.int64)
        return self._model.ask(stack(questions, *tables), blank)

    def resolve(self, question: Question, unseen: list[str]) -> Slots:
        """The question by indices; entities that the model reads by their text are appended to `unseen`."""
        if question.blank >= FIRST_QUALIFIER and not self._model.asks_values:
            raise QuestionError(
                "expected a blank subject or object: this model reads no blank value of a qualifier"
            )
        entities = [0 if name is None else self._entity(name, unseen) for name in question.entities]
        names = [self._relation(name) for name, _ in question.qualifiers]
        return Slots(
            subject=entities[0],
            relation=self._relation(question.relation),
            object=entities[1],
            qualifiers=tuple(zip(names, entities[FIRST_QUALIFIER:], strict=True)),
            blank=question.blank,
        )

    def _entity(self, name: str, unseen: list[str]) -> int:
        if self._model.reads_labels and not self.entities.has(name):
            if name not in unseen:
                unseen.append(name)
            return len(self.entities.names) + unseen.index(name)
        return _find(self.entities, name, self.relations)

    def _relation(self, name: str) -> int:
        return _find(self.relations, name, self.entities)

    def _notes(self, question: Question, unseen: Sequence[str]) -> tuple[str, ...]:
        return tuple(
            f"{name!r} is not known to the model, which reads its text{self.entities.hint(name)}"
            for name in unseen
            if name in question.entities
        )


def _find(table: Lookup, name: str, other: Lookup) -> int:
    try:
        return table.find(name)
    except UnknownName:
        if other.has(name):
            raise UnknownName(f"expected {table.kind}, got {name!r}, which is {other.kind}") from None
        raise


def _best(scores: np.ndarray, allowed: np.ndarray, k: int) -> np.ndarray:
    """The allowed entities with the highest scores, but for those without any evidence."""
    places = np.flatnonzero(allowed & np.isfinite(scores))
    if len(places) > k:
        places = places[np.argpartition(-scores[places], k - 1)[:k]]
    return places[np.lexsort((places, -scores[places]))]


def _shown(answer: Answer) -> str:
    return answer.id if answer.label in (None, answer.id) else f"{answer.label} ({answer.id})"
