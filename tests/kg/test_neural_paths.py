"""The lean path of models against naive ones: the same scores and losses from the same weights."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from tests.kg.neural_data import HEAT, new_model, random_statements
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from benchmarks.naive_kg import NaiveModel
from hyperheat.kg import Questions, Statement, Statements
from hyperheat.kg.neural.decoder import tokenise
from hyperheat.kg.neural.graph_encoders import NoEncoder, Table
from hyperheat.kg.neural.loss import BinaryLoss, SoftmaxLoss, candidate_loss
from hyperheat.kg.neural.stare import StareConfig, StareDecoder, rotate
from hyperheat.kg.neural.trained_model import ModelScorer
from hyperheat.kg.questions import OBJECT, SUBJECT
from hyperheat.nn import HeatConfig
from hyperheat.nn.aggregate import CrossAttentionAggregate
from hyperheat.nn.update import OwnUpdate
from hyperheat.tensors.indices import to_tensors

ENCODERS = {
    "none": NoEncoder(dim=16),
    "heat": HEAT,
    "heat-2": replace(HEAT, layers=2),
    "heat-crossatt": replace(HEAT, aggregate=CrossAttentionAggregate),
    "heat-own-edges": replace(HEAT, layers=2, final_edges=True, edge_update=OwnUpdate),
    "stare": StareConfig(dim=16),
}


@pytest.mark.parametrize("skip", [None, 0.5])
@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS.keys())
def test_scores_equal_those_of_the_naive_path(encoder, skip):
    statements = random_statements()
    trained = new_model(statements, encoder, skip=skip)
    naive = NaiveModel(trained.model, trained.config, statements).eval()
    blank = np.random.default_rng(0).integers(0, 2 + statements.num_qualifiers)
    tokens, order = tokenise(Questions(statements, blank))
    with torch.no_grad():
        expected = naive.scores(tokens).numpy()
    np.testing.assert_allclose(
        ModelScorer(trained).logits(Questions(statements, blank))[order], expected, atol=1e-4
    )


def _own_parameters(encoder: Any) -> list[torch.nn.Parameter]:
    """Some that both ways share, not copied: the roles of HEAT, or all of StarE."""
    return [encoder.role] if hasattr(encoder, "role") else list(encoder.parameters())


@pytest.mark.parametrize("encoder", ["heat", "heat-crossatt", "stare"])
def test_gradients_equal_those_of_the_naive_path(encoder):
    statements = random_statements()
    trained = new_model(statements, ENCODERS[encoder])
    model = trained.model
    tokens, _ = tokenise(Questions(statements, np.full(len(statements), OBJECT)))
    weights = torch.randn(len(statements), len(statements.entities))

    def gradients(scores: torch.Tensor) -> list[torch.Tensor]:
        model.zero_grad()
        (scores * weights).sum().backward()
        parameters = [model.entity, model.relation, *_own_parameters(model.encoder)]
        return [parameter.grad.clone() for parameter in parameters if parameter.grad is not None]

    table = model.encode(to_tensors(model.plan(statements), "cpu"))
    lean = gradients(model.read(table, to_tensors(tokens, "cpu")) @ table.entities.T)
    naive = gradients(NaiveModel(model, trained.config, statements).eval().scores(tokens))
    assert len(lean) > 2
    for a, b in zip(lean, naive, strict=True):
        torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("decoder", [None, StareDecoder(ff=24)], ids=["mask", "stare"])
def test_a_question_alone_equals_the_same_among_others(decoder):
    statements = random_statements()
    trained = new_model(statements) if decoder is None else new_model(statements, decoder=decoder)
    scorer = ModelScorer(trained)
    blank = np.arange(len(statements)) % 2
    together = scorer.logits(Questions(statements, blank))
    for index in range(0, len(statements), 7):
        alone = scorer.logits(Questions(statements[[index]], blank[[index]]))
        np.testing.assert_allclose(together[[index]], alone, atol=1e-5)


def test_the_order_of_qualifiers_and_statements_says_nothing():
    statements = random_statements()
    turned = Statements.build(
        Statement(s.subject, s.relation, s.object, s.qualifiers[::-1]) for s in reversed(list(statements))
    )
    trained = new_model(statements)
    blank = np.full(len(statements), SUBJECT)
    expected = ModelScorer(trained).logits(Questions(statements, blank))
    other = ModelScorer(replace(trained, statements=turned)).logits(Questions(turned, blank))
    np.testing.assert_allclose(other[::-1], expected, atol=1e-5)


def test_the_blank_itself_is_not_read():
    statements = random_statements()
    trained = new_model(statements)
    elsewhere = replace(statements, object=np.zeros_like(statements.object))
    blank = np.full(len(statements), OBJECT)
    scorer = ModelScorer(trained)
    np.testing.assert_array_equal(
        scorer.logits(Questions(statements, blank)), scorer.logits(Questions(elsewhere, blank))
    )


def test_heat_reads_the_graph_and_no_encoder_does_not():
    statements = random_statements()
    blank = np.full(10, OBJECT)
    for encoder, reads in ((HEAT, True), (NoEncoder(dim=16), False), (StareConfig(dim=16), True)):
        trained = new_model(statements, encoder)
        whole = ModelScorer(trained).logits(Questions(statements[:10], blank))
        part = ModelScorer(replace(trained, statements=statements[30:])).logits(
            Questions(statements[:10], blank)
        )
        assert np.allclose(whole, part) != reads


def test_with_a_skip_entities_are_their_own_vectors_and_a_learnt_share_of_the_encoded():
    statements = random_statements()
    model = new_model(statements, skip=0.5).model
    assert model.skip is not None
    graph = to_tensors(model.plan(statements), "cpu")
    with torch.no_grad():
        entities, _ = model.encode(graph)
        encoded = model.encoder(Table(model.entity, model.relation), graph).entities
        norm = model.skip.norm
        own = F.layer_norm(model.entity, (16,), norm.weight, norm.bias)
        torch.testing.assert_close(entities, own + model.skip.share * encoded)
        model.skip.share.zero_()
        torch.testing.assert_close(model.encode(graph).entities, own)


def dense_softmax(scores: torch.Tensor, answers: torch.Tensor) -> torch.Tensor:
    targets = 0.9 * answers / answers.sum(1, keepdim=True) + 0.1 / scores.shape[1]
    return F.cross_entropy(scores, targets, reduction="sum")


def dense_binary(scores: torch.Tensor, answers: torch.Tensor) -> torch.Tensor:
    targets = 0.9 * answers + 1 / scores.shape[1]
    return F.binary_cross_entropy_with_logits(scores, targets, reduction="none").mean(1).sum()


@pytest.mark.parametrize(
    ("loss", "dense"),
    [(SoftmaxLoss(), dense_softmax), (BinaryLoss(), dense_binary)],
    ids=["softmax", "binary"],
)
def test_losses_and_gradients_equal_those_of_the_whole_matrix(loss, dense):
    torch.manual_seed(0)
    z, x = torch.randn(600, 8, dtype=torch.float64), torch.randn(30, 8, dtype=torch.float64)
    answers = (torch.rand(600, 30) < 0.1).double()
    answers[torch.arange(600), torch.arange(600) % 30] = 1
    row, column = answers.nonzero().T
    results = []
    for function in (lambda: candidate_loss(loss, z, x, row, column), lambda: dense(z @ x.T, answers)):
        z.requires_grad_().grad, x.requires_grad_().grad = None, None
        value = function()
        (3 * value).backward()
        results.append((value.detach(), z.grad, x.grad))
    for lean, expected in zip(*results, strict=True):
        torch.testing.assert_close(lean, expected)


def test_rotation_is_the_complex_product():
    # (1 + 2i)(3 - i) = 5 + 5i and (0 + i)(2 + 0i) = 2i, real parts first
    x, r = torch.tensor([[1.0, 0.0, 2.0, 1.0]]), torch.tensor([[3.0, 2.0, -1.0, 0.0]])
    assert rotate(x, r).tolist() == [[5.0, 0.0, 5.0, 2.0]]


def test_heat_of_two_layers_without_kept_states_has_a_state_per_edge():
    statements = random_statements()
    own = HeatConfig(dim=16, layers=2, heads=4, ff=24)
    assert len(new_model(statements, own).model.plan(statements).state) == len(statements)
    assert len(new_model(statements).model.plan(statements).state) == len(statements.relations)


class LargestTensor(TorchDispatchMode):
    """Remembers how many numbers the largest tensor has that any operation gives."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        sizes = [leaf.numel() for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        self.numbers = max([self.numbers, *sizes])
        return result


@pytest.mark.parametrize("loss", [SoftmaxLoss(), BinaryLoss()])
def test_no_more_scores_are_held_than_those_of_a_chunk(loss, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("hyperheat.kg.neural.loss._CHUNK", 16)
    z, x = (torch.randn(size, 4, requires_grad=True) for size in (100, 300))
    answers = torch.arange(100)
    with LargestTensor() as largest:
        candidate_loss(loss, z, x, answers, answers).backward()
    assert largest.numbers == 16 * 300  # not 100 * 300
