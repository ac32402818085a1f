"""Completing statements: the most likely entities, or relations, for the blank of a question.

    p(c) = softmax(score / T)_c        over the candidates c

By default the candidates are the entities that are subject or object of a known statement, or, for a qualifier, those
that are the value of one; for a relation, those of known main triples. Answers that a statement gives come first, then
the others by their scores. The temperature T is 1 unless the model was calibrated (temperature.py).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np

from hyperheat.kg.explanation import Explainer, Explanation
from hyperheat.kg.frames import predict
from hyperheat.kg.glossary import Glossary, UnknownName
from hyperheat.kg.known_answers import KnownAnswers
from hyperheat.kg.questions import (
    FIRST_QUALIFIER,
    OBJECT,
    RELATION,
    SUBJECT,
    Practice,
    Qualifiers,
    QuestionError,
    Questions,
    join_questions,
    parse_question,
    questions_at_once,
)
from hyperheat.kg.statements import Statement, Statements, append
from hyperheat.kg.temperature import Temperature

__all__ = ["Answer", "Completer", "Completion", "CompletionModel"]

Novelty = Literal["known", "with other qualifiers", "new"]
_WITH_ARTICLE = {"entity": "an entity", "relation": "a relation"}


class CompletionModel(Protocol):
    """What a Completer asks: a trained model, or the heuristic."""

    reads_labels: bool
    """Whether it knows entities by their text; unseen ones follow its own in the table of the questions."""
    asks_all: bool
    """Whether the blank may be the value of a qualifier or the relation, too."""
    practice: Practice
    """What it was trained on."""

    def with_statements(self, statements: Statements) -> "CompletionModel":
        """The same model with these statements, whose tables begin with those of its own."""
        ...

    def logits(self, questions: Questions) -> np.ndarray:
        """Scores of its entities [B, entities], whose softmax is a probability; or of its relations, if asked for."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An entity or a relation that may fill the blank."""

    rank: int
    id: str
    label: str | None
    probability: float
    score: float
    known: Novelty


@dataclass(frozen=True, kw_only=True)
class Completion(Sequence[Answer]):
    """The best answers to a question, known ones first, then best first; printing it gives a table."""

    question: Questions
    """a single one, in the names in which it was asked"""
    answers: tuple[Answer, ...]
    allowed: np.ndarray = field(repr=False, compare=False)
    """the candidates among which the probabilities are shared: a mask over the entities, or over the relations"""
    notes: tuple[str, ...] = ()
    """names that the model does not know and judges by their text, and what it was not trained for"""

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
    """A model with its names and known statements, ready to be asked; `hyperheat.kg.load` makes one."""

    def __init__(
        self,
        model: CompletionModel,
        statements: Statements,
        labels: Mapping[str, str],
        *,
        temperature: Temperature | None = None,
    ) -> None:
        self._model = model
        self._temperature = 1.0 if temperature is None else temperature.temperature
        self.statements, self.labels = statements, labels
        self.entities = Glossary("entity", statements.entities, labels)
        self.relations = Glossary("relation", statements.relations, labels)
        self._known = KnownAnswers(statements)
        values = np.zeros(len(statements.entities), bool)
        values[statements.value] = True
        relations = np.zeros(len(statements.relations), bool)
        relations[statements.relation] = True
        self._main, self._values, self._main_relations = statements.main_entities(), values, relations

    def complete(
        self,
        subject: str | None,
        relation: str | None,
        object: str | None,
        qualifiers: Qualifiers = (),
        *,
        k: int = 10,
        exclude_known: bool = False,
        candidates: Iterable[str] | None = None,
    ) -> Completion:
        """The k best answers for the part that is None: subject, relation, object or the value of a qualifier.

        Names are ids or labels.
        """
        question = Questions.of(subject, relation, object, qualifiers)
        return self.ask(question, k=k, exclude_known=exclude_known, candidates=candidates)

    def ask(
        self,
        question: Questions | str,
        *,
        k: int = 10,
        exclude_known: bool = False,
        candidates: Iterable[str] | None = None,
    ) -> Completion:
        """The k best answers to one question, which may be written as `subject | relation | ? | qualifier=value`."""
        if isinstance(question, str):
            question = parse_question(question)
        chosen = None if candidates is None else self.mask(candidates, self._answers_of(question))
        (completion,) = self.ask_all(question, k=k, exclude_known=exclude_known, mask=chosen)
        return completion

    def ask_all(
        self,
        questions: Questions | Iterable[str],
        *,
        k: int = 10,
        exclude_known: bool = False,
        mask: np.ndarray | None = None,
    ) -> Iterator[Completion]:
        """The best answers to several questions, scored in blocks; `mask` says which entities, or relations, may answer."""
        if k < 1:
            raise ValueError(f"k: expected at least 1, got {k}")
        if not isinstance(questions, Questions):
            questions = join_questions(map(parse_question, questions))
        found = self.resolve(questions)
        for asked, question, scores in zip(questions, found, self._scored(found), strict=True):
            known, otherwise = self._known.to(question)
            allowed = self.candidates(question) if mask is None else mask
            table = self._answers_of(question)
            if len(allowed) != len(table.names):
                raise ValueError(
                    f"mask: expected one over the {table.kind} table, got {len(allowed)} candidates"
                )
            if exclude_known:
                allowed = allowed.copy()
                allowed[known] = False
            p = self.probabilities(scores, allowed)
            best = _best(scores, allowed, k, first=known)
            flags: dict[int, Novelty] = dict.fromkeys(otherwise.tolist(), "with other qualifiers")
            flags |= dict.fromkeys(known.tolist(), "known")
            yield Completion(
                question=asked,
                answers=tuple(
                    Answer(
                        rank=rank,
                        id=table.names[index],
                        label=table.label(index),
                        probability=float(p[index]),
                        score=float(scores[index]),
                        known=flags.get(index, "new"),
                    )
                    for rank, index in enumerate(best.tolist(), start=1)
                ),
                allowed=allowed,
                notes=self._notes(question),
            )

    def predict(self, frame: Any, *, k: int = 1, exclude_known: bool = False) -> Any:
        """The k best answers to the question in each row of a data frame, as a frame of the same library.

        A row holds head, relation and tail, and `q:` columns for qualifiers; the blank is an empty cell, `?`, or a column
        that is not there. Answers have the columns row, rank, answer, label, probability, score and known.
        """
        return predict(self, frame, k=k, exclude_known=exclude_known)

    def with_statements(self, statements: Statements | Iterable[Statement]) -> "Completer":
        """The same model with more statements, without training; they may have entities that it never saw."""
        joined = append(self.statements, statements).distinct()
        return Completer(self._model.with_statements(joined), joined, self.labels)

    def explain(self, completion: Completion, rank: int = 1, *, support: int = 3) -> Explanation:
        """Why the answer of this rank was given: the effect of each qualifier, and so many similar statements."""
        return self._explainer.explain(completion, rank, support=support)

    def nearest(self, statement: Statement, count: int) -> tuple[Statement, ...]:
        """The known statements that share most with a statement whose names are ids of the model, nearest first."""
        return self._explainer.nearest(statement, count)

    @cached_property
    def _explainer(self) -> Explainer:
        return Explainer(self)

    def mask(self, names: Iterable[str], table: Glossary | None = None) -> np.ndarray:
        """A mask over the entities of the model, or over another table: those with these ids or labels."""
        table = self.entities if table is None else table
        allowed = np.zeros(len(table.names), bool)
        allowed[[table.find(name) for name in names]] = True
        if not allowed.any():
            raise ValueError(f"candidates: expected at least one {table.kind}, got none")
        return allowed

    def candidates(self, question: Questions) -> np.ndarray:
        """The entities, or relations, that may answer a question unless others are named: a mask."""
        if question.asks_relation:
            return self._main_relations
        return self._values if question.blank[0] >= FIRST_QUALIFIER else self._main

    def find_answer(self, completion: Completion, rank: int) -> int:
        """The index of the answer of a rank, among the entities or, if a relation was asked for, the relations."""
        return self._answers_of(completion.question).find(completion[rank - 1].id)

    def _answers_of(self, question: Questions) -> Glossary:
        return self.relations if question.asks_relation else self.entities

    def probabilities(self, scores: np.ndarray, allowed: np.ndarray) -> np.ndarray:
        """The softmax of scores [entities] over the allowed entities, 0 for all others."""
        p = np.zeros(len(scores))
        if np.isfinite(highest := scores[allowed].max(initial=-np.inf)):
            p[allowed] = np.exp((scores[allowed].astype(float) - highest) / self._temperature)
            p /= p.sum()
        return p

    def _scored(self, questions: Questions) -> Iterator[np.ndarray]:
        """The scores for any number of questions, a few of which are in memory."""
        size = questions_at_once(len(self.entities.names))
        for start in range(0, len(questions), size):
            yield from self.scores(questions[start : start + size])

    def scores(self, questions: Questions) -> Sequence[np.ndarray]:
        """The scores of all entities, or relations, for each of some questions in the names of the model."""
        scores: list[np.ndarray] = [np.zeros(0)] * len(questions)
        asked = questions.blank == RELATION
        for rows in (np.flatnonzero(asked), np.flatnonzero(~asked)):
            if len(rows):
                for row, found in zip(rows.tolist(), self._model.logits(questions[rows]), strict=True):
                    scores[row] = found
        return scores

    def resolve(self, questions: Questions) -> Questions:
        """The same questions in the names of the model, found by id or label.

        Unseen entities of a model that reads labels follow its own in the table.
        """
        if not np.isin(questions.blank, (SUBJECT, OBJECT)).all() and not self._model.asks_all:
            raise QuestionError(
                "this model cannot fill in relations or values of qualifiers; ask for the subject or the object"
            )
        asked = questions.statements
        unseen: list[str] = []
        entity = np.zeros(len(asked.entities), np.int64)
        owner, used = questions.given()
        for index in dict.fromkeys(used[np.argsort(owner, kind="stable")].tolist()):
            entity[index] = self._entity(asked.entities[index], unseen)
        relation = np.zeros(len(asked.relations), np.int64)
        given = asked.relation[questions.blank != RELATION]
        for index in dict.fromkeys([*asked.qualifier.tolist(), *given.tolist()]):
            relation[index] = self._relation(asked.relations[index])
        return Questions(
            replace(
                asked,
                entities=self.statements.entities + tuple(unseen),
                relations=self.statements.relations,
                subject=entity[asked.subject],
                relation=relation[asked.relation],
                object=entity[asked.object],
                qualifier=relation[asked.qualifier],
                value=entity[asked.value],
            ),
            questions.blank,
        )

    def _entity(self, name: str, unseen: list[str]) -> int:
        if self._model.reads_labels and not self.entities.has(name):
            unseen.append(name)
            return len(self.entities.names) + len(unseen) - 1
        return _find(self.entities, name, self.relations)

    def _relation(self, name: str) -> int:
        return _find(self.relations, name, self.entities)

    def _notes(self, question: Questions) -> tuple[str, ...]:
        """A note for each entity of a question that the model does not know, and one if it did not practise the question."""
        notes = []
        for asked, practised, what in (
            (question.blank[0] >= FIRST_QUALIFIER, self._model.practice.values, "values of qualifiers"),
            (question.asks_relation, self._model.practice.relations, "relations"),
        ):
            if asked and not practised:
                notes.append(f"the model was not trained to fill in {what}, so new answers are guesses")
        used = np.unique(question.given()[1])
        unseen = used[used >= len(self.entities.names)].tolist()
        names = [question.statements.entities[index] for index in unseen]
        notes += [
            f"unknown entity {name!r}: the model goes by its text alone{self.entities.hint(name)}"
            for name in names
        ]
        return tuple(notes)


def _find(table: Glossary, name: str, other: Glossary) -> int:
    try:
        return table.find(name)
    except UnknownName:
        if other.has(name):
            raise UnknownName(
                f"unknown {table.kind} {name!r}: there is {_WITH_ARTICLE[other.kind]} of that name"
            ) from None
        raise


def _best(scores: np.ndarray, allowed: np.ndarray, k: int, *, first: np.ndarray) -> np.ndarray:
    """The allowed entities with the highest scores, except those without any evidence; some come before all others."""
    is_first = np.zeros(len(scores), bool)
    is_first[first] = True
    found = np.zeros(0, np.int64)
    for group in (allowed & is_first, allowed & ~is_first & np.isfinite(scores)):
        places = np.flatnonzero(group)
        wanted = k - len(found)
        if len(places) > wanted > 0:
            last = len(places) - wanted
            places = places[
                scores[places] >= np.partition(scores[places], last)[last]
            ]  # ties with it included
        found = np.concatenate([found, places[np.lexsort((places, -scores[places]))][:wanted]])
    return found


def _shown(answer: Answer) -> str:
    return answer.id if answer.label in (None, answer.id) else f"{answer.label} ({answer.id})"
