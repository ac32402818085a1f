"""Models of statements beside a naive path: the same function from the same weights, computed as published code does.

The naive path builds and projects every slot of every edge and packs edges as the paper does (HEAT), or multiplies every
message by a matrix (StarE); pads questions to one length and computes all of their tokens to the last layer; scores all
entities at once and hides those that do not compete. It encodes the whole graph for every `naive_batch` questions.
Letters: N entities, M statements, I incidences, B questions, L padded tokens, D width, H heads.
"""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from hyperheat.bench.paper import PaperLayer, PaperPlan, paper_plan
from hyperheat.bench.workloads import STATEMENT_SIZES
from hyperheat.configuration import override
from hyperheat.kg.datasets import KNOWN, StatementDataset
from hyperheat.kg.known_answers import AnswerGroups
from hyperheat.kg.neural.decoder import DecoderLayer, QuestionTokens, tokenise
from hyperheat.kg.neural.graph_encoders import HeatGraph, Table, incidences
from hyperheat.kg.neural.recipes import RECIPES, KgSettings
from hyperheat.kg.neural.stare import StareGraph, StareLayer
from hyperheat.kg.neural.statement_model import ModelConfig, StatementModel
from hyperheat.kg.neural.trained import ModelScorer
from hyperheat.kg.neural.training import KgJob
from hyperheat.kg.statements import Statements
from hyperheat.nn import HeatConfig, HeatLayer
from hyperheat.nn.aggregate import CrossAttentionAggregate
from hyperheat.tensors import Vocabulary, collate
from hyperheat.train.process import freed_memory_kept

__all__ = ["ENCODERS", "Contest", "NaiveModel", "contestants", "measure", "synthetic"]

ENCODERS = ("no-encoder", "stare", "heat", "heat-crossatt")
"""Recipes, each of which has an encoder of its own."""
_EQUAL = 1e-4
_COMPARED = 64
"""Questions whose scores are compared."""
_MAIN_ENTITIES = 10_874
"""Entities of WD50K(100) that are subject or object."""


class NaiveModel(nn.Module):
    """A model with a MaskDecoder, computed the long way; statements are the whole graph."""

    def __init__(self, model: StatementModel, config: ModelConfig, statements: Statements) -> None:
        super().__init__()
        self.model = model
        self.encoder = _naive_encoder(model, config, statements)
        self.layers = nn.ModuleList(_transformer_layer(layer, config) for layer in model.decoder.layers)

    def scores(self, tokens: QuestionTokens[np.ndarray]) -> Tensor:
        """The scores of all entities for questions in the order of the tokens: [B, N]."""
        first = Table(self.model.entity, self.model.relation)
        table = self.model.pass_by(first, self.encoder(first))
        table = Table(self.model.dropout(table.entities), table.relations)
        decoder = self.model.decoder
        entry, role, blank = _padded(tokens, len(table.entities) + len(table.relations))
        names = table.relations[: len(table.relations) // 2]
        rows = torch.cat([*table, decoder.blank])
        roles = torch.cat([decoder.role, decoder.qualifier(names)])
        x = decoder.dropout(decoder.norm(rows[entry.clamp(min=0)] + roles[role]))  # [B, L, D]
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=entry < 0)
        z = decoder.out(x[torch.arange(len(x)), blank]) * x.shape[-1] ** -0.5
        return z @ table.entities.T

    def loss(self, tokens: QuestionTokens[np.ndarray], targets: Tensor, candidates: Tensor) -> Tensor:
        """The softmax loss of targets [B, N], summed."""
        scores = self.scores(tokens).masked_fill(~candidates, -1e6)
        return F.cross_entropy(scores, targets, reduction="sum")


def _naive_encoder(
    model: StatementModel, config: ModelConfig, statements: Statements
) -> Callable[[Table], Table]:
    if isinstance(model.encoder, HeatGraph):
        assert isinstance(config.encoder, HeatConfig)
        return NaiveHeat(model.encoder, config.encoder, statements)
    if isinstance(model.encoder, StareGraph):
        return NaiveStare(model.encoder, statements)
    return lambda first: model.encoder(first, None)


class NaiveHeat(nn.Module):
    """HEAT by the paper's algorithm, every edge with a state of its own."""

    def __init__(self, encoder: HeatGraph, config: HeatConfig, statements: Statements) -> None:
        super().__init__()
        self.heat = encoder
        self.relation = torch.as_tensor(statements.relation.astype(np.int64))
        layers: list[Any] = list(encoder.layers)
        pairs = zip(layers, config.layer_configs(), strict=True)
        kind = NaiveCrossAttention if config.aggregate is CrossAttentionAggregate else PaperLayer
        self.layers = nn.ModuleList(kind(layer, part) for layer, part in pairs)
        self.plan = _paper_plan(statements, config.heads)

    def forward(self, first: Table) -> Table:
        entities, relations = self.heat.tables(first, None)
        names = relations[: len(relations) // 2]
        h = self.heat.dropout(torch.cat([entities, names[self.relation]]))
        r = self.heat.dropout(torch.cat([self.heat.role, names]))
        for layer in self.layers:
            h = layer(h, r, self.plan)
        return Table(h[: len(entities)], relations)


def _paper_plan(statements: Statements, heads: int) -> PaperPlan:
    graph = statements.to_hypergraph()
    batch = collate([graph], Vocabulary.build([graph]))
    _, _, name = incidences(statements)
    return replace(paper_plan(batch, masks_for=heads), qualifier=torch.as_tensor(name))


class NaiveCrossAttention(PaperLayer):
    """The same with cross-attention as aggregation, by scattered maxima and sums."""

    def __init__(self, layer: HeatLayer, config: HeatConfig) -> None:
        super().__init__(layer, config)
        self.cross: Any = layer.aggregate

    def aggregate(self, m: Tensor, h: Tensor, node: Tensor) -> Tensor:
        query = self.cross.query(h)[node].unflatten(1, (self.heads, -1))  # [I, H, D/H]
        key, value = self.cross.key_value(m).unflatten(1, (2, self.heads, -1)).unbind(1)
        scores = (query * key).sum(-1) * query.shape[-1] ** -0.5  # [I, H]
        index = node[:, None].expand_as(scores)
        empty = scores.new_zeros(len(h), self.heads)
        highest = empty.scatter_reduce(0, index, scores.detach(), "amax", include_self=False)
        weights = (scores - highest[node]).exp()
        weights = weights / empty.index_add(0, node, weights)[node]
        attended = torch.zeros_like(h).index_add(0, node, (weights[..., None] * value).flatten(1))
        has_message = torch.bincount(node, minlength=len(h))[:, None] > 0
        return self.cross.out(attended) * has_message


class NaiveStare(nn.Module):
    """StarE with a product of a matrix and a vector per message."""

    def __init__(self, encoder: StareGraph, statements: Statements) -> None:
        super().__init__()
        self.stare = encoder
        owner = np.repeat(np.arange(len(statements)), statements.num_qualifiers)
        columns = statements.subject, statements.relation, statements.object
        columns += owner, statements.qualifier, statements.value
        self.columns = [torch.as_tensor(column.astype(np.int64)) for column in columns]

    def forward(self, first: Table) -> Table:
        x, r = first
        layers: list[Any] = list(self.stare.layers)
        for index, layer in enumerate(layers):
            x, r = self._layer(layer, self.stare.dropout(x) if index else x, r)
        return Table(x, r)

    def _layer(self, layer: StareLayer, x: Tensor, r: Tensor) -> tuple[Tensor, Tensor]:
        subject, relation, obj, owner, qualifier, value = self.columns
        pairs = rotate(x[value], r[qualifier])
        q = layer.qualifier(torch.zeros(len(subject), x.shape[1]).index_add(0, owner, pairs))
        backwards = relation + len(r) // 2
        total = layer.loop(rotate(x, layer.loop_relation))
        for linear, receiver, sender, kind in (
            (layer.inwards, subject, obj, relation),
            (layer.outwards, obj, subject, backwards),
        ):
            degree = torch.bincount(receiver, minlength=len(x)).to(x.dtype)
            scale = degree.pow(-0.5).masked_fill(degree == 0, 0)
            g = layer.weight * r[kind] + (1 - layer.weight) * q
            messages = linear(rotate(x[sender], g)) * (scale[receiver] * scale[sender])[:, None]
            total = total + layer.dropout(torch.zeros_like(x).index_add(0, receiver, messages))
        return torch.tanh(layer.norm(total / 3)), layer.relation(r)


def rotate(x: Tensor, r: Tensor) -> Tensor:
    """The complex product of vectors whose halves are real and imaginary parts."""
    (a, b), (c, d) = x.chunk(2, dim=-1), r.chunk(2, dim=-1)
    return torch.cat([a * c - b * d, a * d + b * c], dim=-1)


def _transformer_layer(layer: Any, config: ModelConfig) -> nn.TransformerEncoderLayer:
    """Torch's own layer with the weights of a decoder layer."""
    assert isinstance(layer, DecoderLayer)
    dim, sizes = config.encoder.dim, config.decoder
    built = nn.TransformerEncoderLayer(dim, sizes.heads, sizes.ff, sizes.dropout, batch_first=True)
    state = {
        "self_attn.in_proj_weight": torch.cat([layer.query.weight, layer.key_value.weight]),
        "self_attn.in_proj_bias": torch.cat([layer.query.bias, layer.key_value.bias]),
    }
    names = {
        "self_attn.out_proj": layer.attended,
        "linear1": layer.widen,
        "linear2": layer.narrow,
        "norm1": layer.attention_norm,
        "norm2": layer.norm,
    }
    for name, part in names.items():
        state |= {f"{name}.weight": part.weight, f"{name}.bias": part.bias}
    built.load_state_dict(state)
    return built


def _padded(tokens: QuestionTokens[np.ndarray], blank_row: int) -> tuple[Tensor, Tensor, Tensor]:
    """Entries (-1 is padding), roles [B, L] and the place of each blank [B]."""
    longest = max(length for _, length in tokens.groups)
    count = sum(questions for questions, _ in tokens.groups)
    entry, role = np.full((count, longest), -1), np.zeros((count, longest), np.int64)
    row = cell = 0
    for questions, length in tokens.groups:
        for padded, flat in ((entry, tokens.entry), (role, tokens.role)):
            group = flat[cell : cell + questions * length].reshape(questions, length)
            padded[row : row + questions, :length] = group
        row, cell = row + questions, cell + questions * length
    blank = (entry == blank_row).argmax(1)
    return torch.as_tensor(entry), torch.as_tensor(role), torch.as_tensor(blank)


@dataclass(frozen=True, kw_only=True)
class Contest:
    """A model with a step of training in both ways; each returns the loss. Dropout is drawn anew in each."""

    job: KgJob
    lean: Callable[[], float]
    naive: Callable[[], float]
    difference: float
    """the largest difference between the two ways in a score, as a share of the largest score; without dropout"""


def measure(
    data: StatementDataset,
    encoders: Sequence[str] = ENCODERS,
    assignments: Sequence[str] = (),
    *,
    naive_batch: int,
    repeats: int = 3,
) -> Iterator[dict[str, Any]]:
    """For each encoder seconds that cores work for an epoch of training, beside the naive path in the same process.

    An epoch is a step times their number; a step is the questions' loading, forward and backward, without the update, which
    both ways share. Keeping freed memory is a part of the lean path; a second ratio grants it to the naive one as well.
    Refuses to compare ways whose scores differ by more than 1e-4.
    """
    for name in encoders:
        contest = contestants(name, data, assignments, naive_batch)
        if contest.difference > _EQUAL:
            raise ValueError(
                f"{name}: expected scores equal to {_EQUAL}, got a difference of {contest.difference:.1e}"
            )
        lean, naive, naive_keeping = turns(contest, repeats)
        yield {
            "encoder": name,
            "seconds_per_epoch": round(lean * len(contest.job.batches(0)), 2),
            "speedup_over_naive": round(naive / lean, 2),
            "with_memory_kept": round(naive_keeping / lean, 2),
            "difference": contest.difference,
        }


def turns(contest: Contest, repeats: int) -> tuple[float, float, float]:
    """The median seconds that cores work for a step, which take turns; the first turn warms up.

    Lean, naive, and naive with freed memory kept, which takes a step to have effect.
    """
    seconds = []
    for _ in range(repeats + 1):
        with freed_memory_kept():
            contest.lean()
            lean = _work(contest.lean)
            contest.naive()
            naive_keeping = _work(contest.naive)
        seconds.append((lean, _work(contest.naive), naive_keeping))
    lean, naive, naive_keeping = (statistics.median(column) for column in zip(*seconds[1:], strict=True))
    return lean, naive, naive_keeping


def _work(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def contestants(recipe: str, data: StatementDataset, assignments: Sequence[str], naive_batch: int) -> Contest:
    """Forward and backward of the first batch of an epoch, lean and naive."""
    settings = replace(RECIPES[recipe](), hide_asked=False, drop_statements=0.0, qualifier_questions=0.0)
    settings = override(settings, assignments)
    job = KgJob(settings, _cut(data))
    trained, batch = job.trained, job.batches(0)[0]
    naive = NaiveModel(trained.model, trained.config, trained.statements)
    candidates = torch.as_tensor(trained.statements.main_entities())

    def run_lean() -> float:
        loss, _ = job.loss(job.load(batch))
        loss.backward()
        return loss.item()

    def run_naive() -> float:
        naive.train(job.model.training)
        total = 0.0
        for start in range(0, len(batch.main), naive_batch):
            chosen = batch.main[start : start + naive_batch]
            tokens, targets = _targets(job.main_groups, trained.statements, chosen, candidates, settings)
            loss = naive.loss(tokens, targets, candidates)
            loss.backward()
            total += loss.item()
        return total

    return Contest(job=job, lean=run_lean, naive=run_naive, difference=_difference(job, naive, batch.main))


@torch.no_grad()
def _difference(job: KgJob, naive: NaiveModel, chosen: np.ndarray) -> float:
    """The largest difference in the scores of all entities for a few questions, as a share of the largest score."""
    questions = job.main_groups.questions(job.trained.statements, chosen[:_COMPARED])
    naive.eval()
    tokens, order = tokenise(questions)
    lean = ModelScorer(job.trained).logits(questions)
    plain = naive.scores(tokens).numpy()
    naive.train()
    return float(np.abs(lean[order] - plain).max() / np.abs(plain).max())


def _targets(
    groups: AnswerGroups,
    statements: Statements,
    chosen: np.ndarray,
    candidates: Tensor,
    settings: KgSettings,
) -> tuple[QuestionTokens[np.ndarray], Tensor]:
    """The tokens of questions and their smoothed targets [B, N]."""
    tokens, order = tokenise(groups.questions(statements, chosen))
    row, place = groups.answers(chosen[order])
    answers = torch.zeros(len(chosen), len(candidates))
    answers[torch.as_tensor(row), torch.as_tensor(groups.answer[place].astype(np.int64))] = 1
    smoothing = settings.loss.smoothing
    spread = answers / answers.sum(1, keepdim=True)
    return tokens, (1 - smoothing) * spread + smoothing * candidates / candidates.sum()


def _cut(data: StatementDataset, most: int = 6) -> StatementDataset:
    """The data set without statements of more qualifiers than published decoders read."""
    return replace(data, **{name: split[split.num_qualifiers <= most] for name, split in data.splits.items()})


def synthetic(seed: int = 0) -> StatementDataset:
    """Statements in the sizes of WD50K(100), so that a benchmark needs no data; a few entities are in very many of them."""
    counts = KNOWN["wd50k_100"]
    random = np.random.default_rng(seed)
    sizes = np.array(list(STATEMENT_SIZES)) - 2  # without subject and object
    shares = np.array(list(STATEMENT_SIZES.values())) / sum(STATEMENT_SIZES.values())
    qualifiers = random.choice(sizes, size=sum(counts.statements), p=shares)

    def entities(number: int, limit: int) -> np.ndarray:
        return (limit * random.random(number) ** 2.5).astype(np.int64)

    every = Statements(
        entities=tuple(f"Q{i}" for i in range(counts.entities)),
        relations=tuple(f"P{i}" for i in range(counts.relations)),
        subject=entities(len(qualifiers), _MAIN_ENTITIES),
        relation=random.integers(0, counts.relations, len(qualifiers)),
        object=entities(len(qualifiers), _MAIN_ENTITIES),
        offsets=np.concatenate([[0], np.cumsum(qualifiers)]),
        qualifier=random.integers(0, counts.relations, qualifiers.sum()),
        value=entities(qualifiers.sum(), counts.entities),
    )
    first, second, _ = np.cumsum(counts.statements)
    return StatementDataset(
        source="synthetic",
        format="none",
        train=every[:first],
        valid=every[first:second],
        test=every[second:],
        labels={},
    )
