"""Statements that look wrong: a model that has not seen a statement gives its value a low rank, and is sure of another one.

The statements are divided into folds. Each fold is judged by a model of the others, so that no statement vouches for itself;
statements with equal main triples are in the same fold. Of each statement the object, the subject and every value of a
qualifier are asked for. A value is suspect if

    p(other) >= confidence    and    rank(given) > lowest_rank

where `other` is the best entity that stands in the same place of the same relation elsewhere, and that no statement of the
data gives for the same question. Suspects are sorted by p(other) - p(given), then by the score of the other. Known answers
to the same question are neither suggested nor counted in the rank.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from hyperheat.kg.completion import Completer, CompletionModel
from hyperheat.kg.known_answers import OtherAnswers, group_values
from hyperheat.kg.questions import FIRST_QUALIFIER, OBJECT, SUBJECT, Questions
from hyperheat.kg.statements import Statement, Statements, number_triples

__all__ = ["FoundPlanted", "LintSettings", "SuspectValue", "lint", "measure", "plant"]

Slot = Literal["object", "subject", "value"]
_SLOTS: dict[Slot, int] = {"object": OBJECT, "subject": SUBJECT, "value": FIRST_QUALIFIER}
_BATCH = 256


@dataclass(frozen=True, kw_only=True)
class LintSettings:
    """What is suspect, and how it is found."""

    folds: int = 5
    confidence: float = 0.5
    """the least probability of the other value"""
    lowest_rank: int = 10
    """the given value must rank below this"""
    evidence: int = 3
    """how many similar statements are shown for the other value"""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.folds < 2 or self.lowest_rank < 1 or self.evidence < 0:
            raise ValueError(
                f"expected at least 2 folds, a lowest rank of at least 1 and evidence of at least 0, got {self}"
            )
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence: expected a number between 0 and 1, got {self.confidence}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspectValue:
    """A value that looks wrong, and what the model would put in its place."""

    number: int
    """of the statement, counted from 1"""
    statement: Statement
    slot: Slot
    qualifier: str | None
    """the qualifier whose value it is"""
    given: str
    other: str
    given_probability: float
    other_probability: float
    given_rank: float
    other_score: float
    evidence: tuple[Statement, ...] = ()
    """the statements that are most like the one with the other value"""

    @property
    def place(self) -> str:
        """The part of the statement that is suspect, in words."""
        return self.slot if self.qualifier is None else f"value of {self.qualifier}"

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        return asdict(self)


def lint(
    statements: Statements,
    make: Callable[[Statements], CompletionModel],
    settings: LintSettings | None = None,
    *,
    most: int | None = None,
) -> list[SuspectValue]:
    """The suspect values of statements, the most suspect first; `make` trains a model of some of them."""
    settings = settings or LintSettings()
    if len(statements) < settings.folds:
        raise ValueError(
            f"expected at least {settings.folds} statements, one for each fold, got {len(statements)}"
        )
    fold = _folds(statements, settings)
    found: list[tuple[SuspectValue, int]] = []
    completers = []
    for number in range(settings.folds):
        kept = statements[fold != number]
        completers.append(Completer(make(kept), kept, {}))
        rows = np.flatnonzero(fold == number)
        found += [(suspect, number) for suspect in _judge(completers[-1], statements, rows, settings)]
    found.sort(key=lambda pair: _order(pair[0]))
    return [_with_evidence(suspect, completers[number], settings) for suspect, number in found[:most]]


def _order(suspect: SuspectValue) -> tuple[float, float, int]:
    return suspect.given_probability - suspect.other_probability, -suspect.other_score, suspect.number


def _folds(statements: Statements, settings: LintSettings) -> np.ndarray:
    triples = number_triples(statements)
    random = np.random.default_rng(settings.seed)
    order = random.permutation(int(triples.max()) + 1)
    return order[triples] % settings.folds


def _judge(
    completer: Completer, statements: Statements, rows: np.ndarray, settings: LintSettings
) -> Iterator[SuspectValue]:
    """The suspects among some of the statements, by a model of the others."""
    asked = statements[rows]
    for slot, blank in _SLOTS.items():
        if slot == "value" and not len(asked.value):
            continue
        others = OtherAnswers.find(asked, statements, blank, "qualifiers")
        fitting = _fitting(completer.statements, slot)
        owner, blanks, relation = np.arange(len(asked)), np.full(len(asked), blank), asked.relation
        if slot == "value":
            groups = group_values(asked)
            owner, blanks, relation = groups.statement, groups.blank, asked.qualifier
        for start in range(0, len(owner), _BATCH):
            part = np.arange(start, min(start + _BATCH, len(owner)))
            scores = np.stack(completer.scores(Questions(asked[owner[part]], blanks[part])))
            allowed = fitting[relation[part]]
            allowed[others.of(part)] = False
            for place, verdict in _verdicts(completer, scores, allowed, others.own[part], settings):
                row = int(owner[start + place])
                blank_there = int(blanks[start + place])
                yield _suspect(int(rows[row]), asked[row], slot, blank_there, verdict, completer)


def _fitting(statements: Statements, slot: Slot) -> np.ndarray:
    """For each relation a mask of the entities that stand in this slot of it."""
    relation = statements.qualifier if slot == "value" else statements.relation
    masks = np.zeros((len(statements.relations), len(statements.entities)), bool)
    masks[relation, getattr(statements, slot)] = True
    return masks


@dataclass(frozen=True, slots=True)
class _Verdict:
    """The best other answer, the two probabilities, and the rank of the given one."""

    other: int
    other_probability: float
    given_probability: float
    rank: float
    score: float
    """of the other"""


def _verdicts(
    completer: Completer, scores: np.ndarray, allowed: np.ndarray, given: np.ndarray, settings: LintSettings
) -> Iterator[tuple[int, _Verdict]]:
    """The questions [B] whose given answers are suspect; `scores` and `allowed` are [B, entities]."""
    lines = np.arange(len(scores))
    allowed[lines, given] = False
    own = scores[lines, given][:, None]
    ranks = 1 + ((scores > own) & allowed).sum(1) + ((scores == own) & allowed).sum(1) / 2
    best = np.where(allowed, scores, -np.inf).argmax(1)
    low = (ranks > settings.lowest_rank) & np.isfinite(scores[lines, best]) & allowed[lines, best]
    for place in np.flatnonzero(low).tolist():
        among = allowed[place]
        among[given[place]] = True
        p = completer.probabilities(scores[place], among)
        other, right = int(best[place]), int(given[place])
        if p[other] >= settings.confidence:
            found = p[other], p[right], ranks[place], scores[place, other]
            yield place, _Verdict(other, *map(float, found))


def _suspect(
    number: int, statement: Statement, slot: Slot, blank: int, verdict: _Verdict, completer: Completer
) -> SuspectValue:
    qualifier = None
    if slot == "value":
        qualifier, given = statement.qualifiers[blank - FIRST_QUALIFIER]
    else:
        given = statement.object if slot == "object" else statement.subject
    return SuspectValue(
        number=number + 1,
        statement=statement,
        slot=slot,
        qualifier=qualifier,
        given=given,
        other=completer.entities.names[verdict.other],
        given_probability=verdict.given_probability,
        other_probability=verdict.other_probability,
        given_rank=verdict.rank,
        other_score=verdict.score,
    )


def _with_evidence(suspect: SuspectValue, completer: Completer, settings: LintSettings) -> SuspectValue:
    """The suspect with the known statements that are most like it, were the other value in place."""
    statement = suspect.statement
    if suspect.qualifier is None:
        completed = replace(statement, **{suspect.slot: suspect.other})
    else:
        pairs = list(statement.qualifiers)
        pairs[pairs.index((suspect.qualifier, suspect.given))] = suspect.qualifier, suspect.other
        completed = replace(statement, qualifiers=tuple(pairs))
    return replace(suspect, evidence=completer.nearest(completed, settings.evidence))


def plant(statements: Statements, count: int, *, seed: int = 0) -> tuple[Statements, np.ndarray]:
    """The statements with so many wrong objects, each one that the relation has elsewhere; and which have one: a mask."""
    random = np.random.default_rng(seed)
    taken = set(
        zip(
            statements.subject.tolist(), statements.relation.tolist(), statements.object.tolist(), strict=True
        )
    )
    by_relation = {
        relation: np.unique(statements.object[statements.relation == relation])
        for relation in np.unique(statements.relation).tolist()
    }
    objects, is_wrong, planted = statements.object.copy(), np.zeros(len(statements), bool), 0
    for row in random.permutation(len(statements)).tolist():
        if planted == count:
            break
        subject, relation = int(statements.subject[row]), int(statements.relation[row])
        wrong = [o for o in by_relation[relation].tolist() if (subject, relation, o) not in taken]
        if wrong:
            objects[row], is_wrong[row] = random.choice(wrong), True
            planted += 1
    if planted < count:
        raise ValueError(f"plant: only {planted} statements can be given another object, expected {count}")
    return replace(statements, object=objects), is_wrong


@dataclass(frozen=True, kw_only=True)
class FoundPlanted:
    """How planted values were found: the share of the first suspects that was planted, and the share that was found."""

    planted: int
    reported: int
    first: int
    precision: float
    recall: float


def measure(suspects: list[SuspectValue], is_wrong: np.ndarray, *, first: int = 100) -> FoundPlanted:
    """Compare suspects with the planted values; a suspect counts if its statement has a planted value."""
    right = [bool(is_wrong[suspect.number - 1]) for suspect in suspects]
    found = {suspect.number for suspect, hit in zip(suspects, right, strict=True) if hit}
    return FoundPlanted(
        planted=int(is_wrong.sum()),
        reported=len(suspects),
        first=min(first, len(suspects)),
        precision=float(np.mean(right[:first])) if suspects else 0.0,
        recall=len(found) / int(is_wrong.sum()),
    )
