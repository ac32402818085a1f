"""From numbers of questions to the tensors of a batch: the graph that it may see, its questions, candidates and answers.

Without a fan-out the graph is the whole one, but for what is hidden, and entities keep their numbers. With one, only what
the entities of the questions and the candidates reach is in it (neighbourhood.py), and entities are numbered anew: the
vectors of the others are not touched.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic

import numpy as np
from torch import Tensor

from hyperheat.kg.known_answers import AnswerGroups, group_main, group_relations, group_values
from hyperheat.kg.neural.candidates import BatchCandidates, CandidateSampler
from hyperheat.kg.neural.decoder import QuestionTokens, tokenise
from hyperheat.kg.neural.neighbourhood import StatementIndex, reach
from hyperheat.kg.neural.recipes import KgSettings
from hyperheat.kg.neural.surroundings import SurroundingGraph, SurroundingsIndex
from hyperheat.kg.questions import Questions
from hyperheat.kg.statements import Statements
from hyperheat.tensors.indices import ArrayT, to_tensors

__all__ = ["LabelledTokens", "LoadedQuestions", "QuestionBatch", "QuestionLoader"]


@dataclass(frozen=True, eq=False, kw_only=True)
class QuestionBatch:
    """Numbers of questions: those that ask for a subject or object, for the value of a qualifier, and for a relation."""

    seed: tuple[int, ...]
    main: np.ndarray
    qualifier: np.ndarray
    relation: np.ndarray


@dataclass(frozen=True, kw_only=True)
class LabelledTokens(Generic[ArrayT]):
    """Questions with their candidates, which are rows of the encoded table."""

    tokens: QuestionTokens[ArrayT]
    candidates: BatchCandidates[ArrayT]
    near: "NearAnswers[ArrayT] | None"
    """what is read around the questions, or some of them, by models that do"""


@dataclass(frozen=True, kw_only=True)
class NearAnswers(Generic[ArrayT]):
    """The surroundings of questions, which of their nodes are candidates, and which candidates are answers."""

    around: SurroundingGraph[ArrayT]
    node: ArrayT
    """[A] the nodes that are candidates"""
    candidate: ArrayT
    """[A] their places among the candidates"""
    row: ArrayT
    """[K] question `row[k]` of those with surroundings is answered by candidate `column[k]`"""
    column: ArrayT


@dataclass(frozen=True, kw_only=True)
class LoadedQuestions(Generic[ArrayT]):
    """The tensors of a batch."""

    entities: ArrayT | None
    """the entities of the graph, in rising order; None: all"""
    graph: Any
    main: LabelledTokens[ArrayT]
    qualifier: LabelledTokens[ArrayT]
    relation: LabelledTokens[ArrayT]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Asked:
    """Questions of one kind, those with fewer qualifiers first."""

    questions: Questions
    candidates: BatchCandidates[np.ndarray]
    of_relations: bool
    read: np.ndarray
    """the questions with surroundings"""
    around: SurroundingGraph[np.ndarray] | None

    def entities(self) -> np.ndarray:
        """The entities whose vectors are needed, with repetitions."""
        given = self.questions.given()[1].astype(np.int64)
        return given if self.of_relations else np.concatenate([given, self.candidates.entry])

    def label(self, entities: np.ndarray | None) -> LabelledTokens[np.ndarray]:
        """The tokens, in a table of some entities."""
        questions, candidates = self.questions, self.candidates
        if entities is not None:
            questions = Questions(questions.statements.narrowed(entities), questions.blank)
            if not self.of_relations:
                candidates = replace(candidates, entry=np.searchsorted(entities, candidates.entry))
        tokens, _ = tokenise(questions)  # which keeps their order
        near = None if self.around is None else _near(self.around, self.read, candidates)
        return LabelledTokens(tokens=tokens, candidates=candidates, near=near)


def _near(
    around: SurroundingGraph[np.ndarray], read: np.ndarray, candidates: BatchCandidates[np.ndarray]
) -> NearAnswers[np.ndarray]:
    """The candidates and the answers in the surroundings of some questions."""
    place = np.minimum(np.searchsorted(candidates.entry, around.entity), len(candidates.entry) - 1)
    node = np.flatnonzero(candidates.entry[place] == around.entity)
    kept = np.isin(candidates.row, read)
    return NearAnswers(
        around=around,
        node=node,
        candidate=place[node],
        row=np.searchsorted(read, candidates.row[kept]),
        column=candidates.column[kept],
    )


class QuestionLoader:
    """The questions of statements, and the tensors of any of them; `plan` prepares statements for the encoder."""

    def __init__(
        self, settings: KgSettings, statements: Statements, plan: Callable[[Statements], Any]
    ) -> None:
        self._settings, self._statements, self._plan = settings, statements, plan
        self.main, self.qualifier = group_main(statements), group_values(statements)
        self.relation = group_relations(statements)
        main = statements.main_entities() if settings.candidates == "main" else slice(None)
        entities = np.arange(len(statements.entities))[main]
        values, relations = (np.unique(c).astype(np.int64) for c in (statements.value, statements.relation))
        drawn = {"negatives": settings.negatives, "answers": settings.answers}
        self._candidates = (
            CandidateSampler(entities, self.main, **drawn),
            CandidateSampler(values, self.qualifier, **drawn),
            CandidateSampler(relations, self.relation, negatives=None, answers=None),  # they are few
        )

    @property
    def groups(self) -> Sequence[AnswerGroups]:
        """The questions of each kind: for subjects and objects, for values of qualifiers, for relations."""
        return self.main, self.qualifier, self.relation

    def load(self, batch: QuestionBatch) -> LoadedQuestions[Tensor]:
        """The graph that the batch may see, its questions and their answers."""
        random = np.random.default_rng(batch.seed)
        seen = random.random(len(self._statements)) >= self._settings.drop_statements
        chosen = batch.main, batch.qualifier, batch.relation
        if self._settings.hide_asked:
            for groups, numbers in zip(self.groups, chosen, strict=True):
                seen[groups.statement[groups.answers(numbers)[1]]] = False
        surroundings = self._settings.model.surroundings
        index = None if surroundings is None else SurroundingsIndex(surroundings, self._statements[seen])
        asked = [self._ask(kind, numbers, random, index) for kind, numbers in enumerate(chosen)]
        entities, graph = self._read(asked, seen, random)
        main, qualifier, relation = (part.label(entities) for part in asked)
        loaded = LoadedQuestions(
            entities=entities, graph=graph, main=main, qualifier=qualifier, relation=relation
        )
        return to_tensors(loaded, "cpu")

    def _ask(
        self, kind: int, chosen: np.ndarray, random: np.random.Generator, index: SurroundingsIndex | None
    ) -> _Asked:
        groups = self.groups[kind]
        statements = self._statements[groups.statement[groups.offsets[chosen]]]
        if groups is not self.qualifier:
            given = random.random(len(statements.value)) >= self._settings.drop_qualifiers
            statements = statements.with_qualifiers(given)
        order = np.argsort(statements.num_qualifiers, kind="stable")
        chosen = chosen[order]
        questions = Questions(statements[order], groups.blank[chosen])
        of_relations = groups is self.relation
        read = self._with_surroundings(len(questions), random)
        return _Asked(
            questions=questions,
            candidates=self._candidates[kind].draw(chosen, random),
            of_relations=of_relations,
            read=read,
            around=None if index is None or of_relations else index.around(questions[read], random),
        )

    def _with_surroundings(self, questions: int, random: np.random.Generator) -> np.ndarray:
        """The questions whose surroundings are read: all, or a share of them if that has a loss of its own."""
        surroundings = self._settings.model.surroundings
        share = None if surroundings is None else surroundings.apart
        if share is None or not questions:
            return np.arange(questions)
        return np.sort(random.permutation(questions)[: max(1, int(share * questions))])

    def _read(
        self, asked: Sequence[_Asked], seen: np.ndarray, random: np.random.Generator
    ) -> tuple[np.ndarray | None, Any]:
        """The entities that the encoder reads, None for all, and what it reads of their statements."""
        settings = self._settings
        if settings.fan_out is None:
            return None, self._whole_graph if seen.all() else self._plan(self._statements[seen])
        rows, entities = reach(
            self._index,
            np.concatenate([part.entities() for part in asked]),
            hops=getattr(settings.model.encoder, "layers", 0),  # none without an encoder
            fan_out=settings.fan_out,
            seen=seen,
            random=random,
        )
        return entities, self._plan(self._statements[rows].narrowed(entities))

    @cached_property
    def _index(self) -> StatementIndex:
        return StatementIndex.of(self._statements)

    @cached_property
    def _whole_graph(self) -> Any:
        """What the encoder reads of all statements, planned once."""
        return self._plan(self._statements)
