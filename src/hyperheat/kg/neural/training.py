"""Training a model of statements."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from hyperheat.configuration import to_dict
from hyperheat.kg.audit import has_equal_triple
from hyperheat.kg.datasets import StatementDataset
from hyperheat.kg.known_answers import AnswerGroups, group_main, group_relations, group_values
from hyperheat.kg.neural.decoder import QuestionTokens, tokenise
from hyperheat.kg.neural.labels import BpeLabels, train_tokenizer
from hyperheat.kg.neural.loss import candidate_loss
from hyperheat.kg.neural.recipes import KgSettings
from hyperheat.kg.neural.statement_model import ModelNames
from hyperheat.kg.neural.trained_model import ModelScorer, TrainedModel, save_model
from hyperheat.kg.questions import Practice
from hyperheat.kg.ranking import rank
from hyperheat.kg.statements import Statements
from hyperheat.tensors.indices import ArrayT, to_tensors
from hyperheat.train import TrainOutcome, fit
from hyperheat.train.checkpoint import latest

__all__ = ["KgJob", "train_model"]


@dataclass(frozen=True, eq=False, kw_only=True)
class QuestionBatch:
    """Numbers of questions: those that ask for a subject or object, for the value of a qualifier, and for a relation."""

    seed: tuple[int, ...]
    main: np.ndarray
    qualifier: np.ndarray
    relation: np.ndarray


@dataclass(frozen=True, kw_only=True)
class LabelledTokens(Generic[ArrayT]):
    """Questions with their answers: candidate `column[k]` answers question `row[k]`."""

    tokens: QuestionTokens[ArrayT]
    row: ArrayT
    column: ArrayT


@dataclass(frozen=True, kw_only=True)
class LoadedQuestions(Generic[ArrayT]):
    """The tensors of a batch."""

    graph: Any
    main: LabelledTokens[ArrayT]
    qualifier: LabelledTokens[ArrayT]
    relation: LabelledTokens[ArrayT]


class KgJob:
    """Questions in batches, the loss, and ranks on the validation split; see `hyperheat.train.Job`."""

    model: nn.Module

    def __init__(self, settings: KgSettings, data: StatementDataset, tokenizer: str | None = None) -> None:
        self._settings, self._data = settings, data
        self._statements = data.training(settings.train_on).distinct()
        self._held_out = None if settings.train_on == "train+valid" else _held_out(data, settings.validation)
        self.main_groups = group_main(self._statements)
        self._value_groups = group_values(self._statements)
        self._relation_groups = group_relations(self._statements)
        main = self._statements.main_entities() if settings.candidates == "main" else slice(None)
        self._candidates = np.arange(len(self._statements.entities))[main]
        self._values = np.unique(self._statements.value).astype(np.int64)
        self._relations = np.unique(self._statements.relation).astype(np.int64)
        names = _names(data, settings, tokenizer)
        torch.manual_seed(settings.train.seed)
        practice = Practice(
            values=settings.qualifier_questions > 0 and len(self._statements.value) > 0,
            relations=settings.relation_questions > 0,
        )
        self.trained = TrainedModel.new(settings.model, names, self._statements, practice)
        self.model = self.trained.model

    def describe(self) -> Mapping[str, Any]:
        """The settings and data that a resumed run must share."""
        settings = to_dict(self._settings)
        del settings["train"]
        tokenizer = sha256((self.trained.names.tokenizer or "").encode()).hexdigest()
        return {**settings, "statements": self._statements.digest(), "tokenizer": tokenizer}

    def batches(self, epoch: int) -> Sequence[QuestionBatch]:
        """Every question for a subject or object once, and some for qualifiers and relations, mixed evenly."""
        settings = self._settings
        seed = (settings.train.seed, epoch)
        random = np.random.default_rng(seed)
        main = random.permutation(len(self.main_groups))
        asked = int(len(self._value_groups) * settings.qualifier_questions)
        qualifier = random.permutation(len(self._value_groups))[:asked]
        asked = int(len(self._relation_groups) * settings.relation_questions)
        relation = random.permutation(len(self._relation_groups))[:asked]
        count = -(-len(main) // settings.batch)
        parts = zip(*(np.array_split(part, count) for part in (main, qualifier, relation)), strict=True)
        return [
            QuestionBatch(seed=(*seed, i), main=m, qualifier=q, relation=r)
            for i, (m, q, r) in enumerate(parts)
        ]

    def weight(self, batch: QuestionBatch) -> float:
        """The number of questions."""
        return len(batch.main) + len(batch.qualifier) + len(batch.relation)

    def load(self, batch: QuestionBatch) -> LoadedQuestions[Tensor]:
        """The graph that the batch may see, its questions and their answers."""
        settings = self._settings
        random = np.random.default_rng(batch.seed)
        seen = random.random(len(self._statements)) >= settings.drop_statements
        if settings.hide_asked:
            for groups, chosen in (
                (self.main_groups, batch.main),
                (self._value_groups, batch.qualifier),
                (self._relation_groups, batch.relation),
            ):
                seen[groups.statement[groups.answers(chosen)[1]]] = False
        given = random.random(len(self._statements.value)) >= settings.drop_qualifiers
        shortened = self._statements.with_qualifiers(given)
        loaded = LoadedQuestions(
            graph=self._whole_graph if seen.all() else self.trained.model.plan(self._statements[seen]),
            main=_ask(shortened, self.main_groups, batch.main, self._candidates),
            qualifier=_ask(self._statements, self._value_groups, batch.qualifier, self._values),
            relation=_ask(shortened, self._relation_groups, batch.relation, self._relations),
        )
        return to_tensors(loaded, "cpu")

    @cached_property
    def _whole_graph(self) -> Any:
        """What the encoder reads of all statements, planned once."""
        return self.trained.model.plan(self._statements)

    def loss(self, tensors: LoadedQuestions[Tensor]) -> tuple[Tensor, Mapping[str, float]]:
        """The loss of all kinds of questions, summed."""
        model = self.trained.model
        device = model.entity.device
        batch = to_tensors(tensors, device)
        table = model.encode(batch.graph)
        losses = []
        for asked, candidates, vectors in (
            (batch.main, self._candidates, table.entities),
            (batch.qualifier, self._values, table.entities),
            (batch.relation, self._relations, table.relations),
        ):
            if len(asked.tokens.blank) == 0:
                losses.append(table.entities.new_zeros(()))
                continue
            z = model.read(table, asked.tokens)
            x = F.embedding(torch.as_tensor(candidates, device=device), vectors)
            losses.append(candidate_loss(self._settings.loss, z, x, asked.row, asked.column))
        model.questions_seen += len(batch.main.tokens.blank)
        logged = {"qualifier": float(losses[1].detach()), "relation": float(losses[2].detach())}
        return losses[0] + losses[1] + losses[2], logged

    def validate(self) -> Mapping[str, float]:
        """Filtered ranks on validation statements, or the progress of the run if none are held out."""
        if self._held_out is None:
            return {"questions": float(self.trained.model.questions_seen)}
        known = self._data.training("train+valid")
        ranking = rank(
            ModelScorer(self.trained),
            self._held_out,
            known=known,
            candidates=self._statements.main_entities(),
        )
        metrics = asdict(ranking.metrics()["both"])
        del metrics["queries"]
        return metrics

    def save(self, folder: Path) -> None:
        """Write the model."""
        save_model(self.trained, folder)


def train_model(
    settings: KgSettings, data: StatementDataset, folder: str | Path, *, resume: bool = False
) -> TrainOutcome:
    """Train a model in a folder, or resume its training."""
    kept = latest(Path(folder)) if resume else None
    path = None if kept is None else kept / "tokenizer.json"
    tokenizer = path.read_text(encoding="utf-8").rstrip("\n") if path is not None and path.exists() else None
    job = KgJob(settings, data, tokenizer)
    train = settings.train
    if settings.train_on == "train+valid":
        train = replace(train, watch="questions", mode="max", patience=None)
    return fit(job, train, folder, resume=resume)


def _ask(
    statements: Statements, groups: AnswerGroups, chosen: np.ndarray, candidates: np.ndarray
) -> LabelledTokens[np.ndarray]:
    tokens, order = tokenise(groups.questions(statements, chosen))
    row, place = groups.answers(chosen[order])
    return LabelledTokens(tokens=tokens, row=row, column=np.searchsorted(candidates, groups.answer[place]))


def _held_out(data: StatementDataset, wanted: int) -> Statements:
    """Evenly spaced validation statements whose main triple is not in train."""
    fresh = data.valid[~has_equal_triple(data.train, data.valid)] if data.valid else data.valid
    if not fresh:
        raise ValueError(
            f"{data.source}: there are no validation statements that are not in train; use train_on=train+valid"
        )
    return fresh.spaced(wanted)


def _names(data: StatementDataset, settings: KgSettings, tokenizer: str | None) -> ModelNames:
    entities, relations = data.train.entities, data.train.relations
    known = {*entities, *relations}
    labels = {name: text for name, text in data.labels.items() if name in known}
    if isinstance(settings.model.labels, BpeLabels) and tokenizer is None:
        if not labels:
            raise ValueError(f"{data.source}: there are no labels for BpeLabels to read")
        tokenizer = train_tokenizer(sorted(labels.values()), settings.model.labels)
    return ModelNames(entities=entities, relations=relations, labels=labels, tokenizer=tokenizer)
