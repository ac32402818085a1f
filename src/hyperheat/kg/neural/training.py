"""Training a model of statements."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from hyperheat.configuration import to_dict
from hyperheat.kg.audit import has_equal_triple
from hyperheat.kg.datasets import StatementDataset
from hyperheat.kg.neural.extension import other_graph, scorer_elsewhere
from hyperheat.kg.neural.graph_encoders import Table
from hyperheat.kg.neural.labels import BpeLabels, train_tokenizer
from hyperheat.kg.neural.loading import LabelledTokens, LoadedQuestions, QuestionBatch, QuestionLoader
from hyperheat.kg.neural.loss import AddedScores, candidate_loss
from hyperheat.kg.neural.recipes import KgSettings
from hyperheat.kg.neural.statement_model import ModelNames
from hyperheat.kg.neural.trained_model import ModelScorer, TrainedModel, save_model
from hyperheat.kg.questions import Practice
from hyperheat.kg.ranking import rank
from hyperheat.kg.statements import Statements
from hyperheat.tensors.indices import to_tensors
from hyperheat.train import TrainOutcome, fit
from hyperheat.train.checkpoint import latest
from hyperheat.train.process import sum_over_processes

__all__ = ["KgJob", "train_model"]


class KgJob:
    """Questions in batches, the loss, and ranks on the validation split; see `hyperheat.train.Job`."""

    model: nn.Module

    def __init__(
        self,
        settings: KgSettings,
        data: StatementDataset,
        tokenizer: str | None = None,
        other: StatementDataset | None = None,
    ) -> None:
        self._settings, self._data = settings, data
        self._statements = data.training(settings.train_on).distinct()
        names = _names(data, settings, tokenizer)
        torch.manual_seed(settings.train.seed)
        practice = Practice(
            values=settings.qualifier_questions > 0 and len(self._statements.value) > 0,
            relations=settings.relation_questions > 0,
        )
        self.trained = TrainedModel.new(settings.model, names, self._statements, practice)
        self.model = self.trained.model
        if settings.model.unknown_relations:
            uses = np.concatenate([self._statements.relation, self._statements.qualifier])
            count = np.bincount(uses, minlength=len(self._statements.relations))
            self.trained.model.rare_relation.copy_(torch.as_tensor(count < settings.model.rare))
        self._other = None if other is None else other_graph(self.trained, other)
        chosen_on = self._other or (data if settings.train_on == "train" else None)
        self._held_out = None if chosen_on is None else _held_out(chosen_on, settings.validation)
        self._loader = QuestionLoader(settings, self._statements, self.trained.model.plan)
        self.main_groups = self._loader.main

    def describe(self) -> Mapping[str, Any]:
        """The settings and data that a resumed run must share."""
        settings = to_dict(self._settings)
        del settings["train"]
        tokenizer = sha256((self.trained.names.tokenizer or "").encode()).hexdigest()
        found = {**settings, "statements": self._statements.digest(), "tokenizer": tokenizer}
        return found if self._other is None else {**found, "validate_on": self._other.every().digest()}

    def batches(self, epoch: int) -> Sequence[QuestionBatch]:
        """Every question for a subject or object once, and some for qualifiers and relations, mixed evenly."""
        settings = self._settings
        seed = (settings.train.seed, epoch)
        random = np.random.default_rng(seed)
        shares = (1.0, settings.qualifier_questions, settings.relation_questions)
        main, qualifier, relation = (
            random.permutation(len(groups))[: int(len(groups) * share)]
            for groups, share in zip(self._loader.groups, shares, strict=True)
        )
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
        return self._loader.load(batch)

    def loss(self, tensors: LoadedQuestions[Tensor]) -> tuple[Tensor, Mapping[str, float]]:
        """The loss of all kinds of questions, summed."""
        model = self.trained.model
        batch = to_tensors(tensors, model.entity.device)
        table = model.encode(batch.graph, batch.entities)
        losses = []
        for asked, vectors in (
            (batch.main, table.entities),
            (batch.qualifier, table.entities),
            (batch.relation, table.relations),
        ):
            if len(asked.tokens.blank) == 0:
                losses.append(table.entities.new_zeros(()))
                continue
            losses.append(self._loss_of(asked, table, vectors))
        model.questions_seen += sum_over_processes(len(batch.main.tokens.blank), model.entity.device)
        logged = {"qualifier": float(losses[1].detach()), "relation": float(losses[2].detach())}
        return losses[0] + losses[1] + losses[2], logged

    def _loss_of(self, asked: LabelledTokens[Tensor], table: Table, vectors: Tensor) -> Tensor:
        """The loss of questions of one kind, whose candidates have these vectors."""
        loss, model, candidates = self._settings.loss, self.trained.model, asked.candidates
        z, x = model.read(table, asked.tokens), F.embedding(candidates.entry, vectors)
        near, added, own = asked.near, None, 0.0
        if model.surroundings is not None and near is not None:
            scores = model.surroundings(table, z, near.around)[near.node]
            added = AddedScores(near.around.question[near.node], near.candidate, scores)
            if model.surroundings.apart:  # scores that are added to nothing
                rows, nothing = len(near.around.asked), x.new_zeros(len(x), 1)
                own = candidate_loss(loss, x.new_zeros(rows, 1), nothing, near.row, near.column, added=added)
                added = None
        return own + candidate_loss(
            loss,
            z,
            x,
            candidates.row,
            candidates.column,
            raised_C=candidates.raised,
            left_out_2X=candidates.left_out,
            added=added,
        )

    def validate(self) -> Mapping[str, float]:
        """Filtered ranks on validation statements, or the progress of the run if none are held out."""
        if self._held_out is None:
            return {"questions": float(self.trained.model.questions_seen)}
        data, elsewhere = self._other or self._data, self._other is not None
        ranking = rank(
            scorer_elsewhere(self.trained, data.train) if elsewhere else ModelScorer(self.trained),
            self._held_out,
            known=data.training("train+valid"),
            candidates=data.train.main_entities(),
        )
        metrics = asdict(ranking.metrics()["both"])
        del metrics["queries"]
        return metrics

    def save(self, folder: Path) -> None:
        """Write the model."""
        save_model(self.trained, folder)


def train_model(
    settings: KgSettings,
    data: StatementDataset,
    folder: str | Path,
    *,
    validate_on: StatementDataset | None = None,
    resume: bool = False,
) -> TrainOutcome:
    """Train a model in a folder, or resume its training; `validate_on` has another graph to choose the best model on."""
    kept = latest(Path(folder)) if resume else None
    path = None if kept is None else kept / "tokenizer.json"
    tokenizer = path.read_text(encoding="utf-8").rstrip("\n") if path is not None and path.exists() else None
    job = KgJob(settings, data, tokenizer, validate_on)
    train = settings.train
    if settings.train_on == "train+valid" and validate_on is None:
        train = replace(train, watch="questions", mode="max", patience=None)
    return fit(job, train, folder, resume=resume)


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
