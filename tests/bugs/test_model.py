"""The head against its equations, written as loops over samples, locations and rewrites."""

import math
from random import Random
from statistics import mean

import numpy as np
import pytest
import torch
from tests.detector.samples import SOURCE, all_samples, origin

from hyperheat.bugs.encoders import build_encoder, roles_of, view_of
from hyperheat.bugs.model import BugHead, BugModel, dense_losses, losses
from hyperheat.bugs.recipes import RECIPES
from hyperheat.detector.batch import collate_samples
from hyperheat.detector.sample import NO_BUG, make_sample
from hyperheat.detector.views import Hyperedges
from hyperheat.pycode import extract, extract_function
from hyperheat.rewrites import candidates
from hyperheat.rewrites.planting import choose_together, plant
from hyperheat.tensors import Vocabulary

DIM = 8
SAMPLES = all_samples(every=5)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def vocabulary(view, roles=0):
    return Vocabulary.build((view.graph(sample) for sample in SAMPLES), roles=roles)


def score(scorer, *inputs):
    features = torch.relu(scorer.hidden(torch.cat(inputs)))
    return features, scorer.score(features)[0]


def reference(head, nodes, sample):
    """Log-probabilities of locations and no bug, and of the rewrites of each location, for one sample."""
    candidates = sample.candidates
    features, scores = {}, {}
    for row, location in enumerate(candidates.location):
        if candidates.text[row] >= 0:
            scored = score(head.put_text, nodes[location], head.text.weight[candidates.text[row]])
        elif candidates.second[row] < 0:
            scored = score(head.put_variable, nodes[location], nodes[candidates.first[row]])
        else:
            scored = score(
                head.swap, nodes[location], nodes[candidates.first[row]], nodes[candidates.second[row]]
            )
        features.setdefault(location, []).append(scored[0])
        scores.setdefault(location, []).append(scored[1])
    z = {location: torch.stack(rows).amax(0) for location, rows in features.items()}
    summary = torch.stack([head.summary(torch.cat([nodes[loc], z[loc]])) for loc in z]).amax(0)
    pointed = [score(head.location, nodes[loc], z[loc], summary)[1] for loc in z]
    choices = torch.stack([*pointed, head.no_bug(summary)[0]]).log_softmax(0)
    rewrites = torch.cat([torch.stack(rows).log_softmax(0) for rows in scores.values()])
    return list(z), choices, rewrites


def test_the_head_is_its_equations():
    view = Hyperedges()
    batch = collate_samples(SAMPLES, view, vocabulary(view)).to_torch()
    head = BugHead(DIM, dropout=0.1).double().eval()
    nodes = torch.randn(batch.graphs.num_nodes, DIM, dtype=torch.float64, requires_grad=True)
    scores = head(nodes, batch)
    num_locations = len(batch.by_sample.owner)
    located, total = 0, torch.zeros((), dtype=torch.float64)
    for g, sample in enumerate(SAMPLES):
        own = nodes[batch.graphs.node_offsets[g] :]
        locations, choices, rewrites = reference(head, own, sample)
        rows = torch.cat([torch.arange(located, located + len(locations)), torch.tensor([num_locations + g])])
        # The head computes log-softmax in float32.
        assert torch.allclose(scores.choices[rows].double(), choices, atol=1e-5)
        here = batch.by_sample.owner[batch.by_location.owner] == g
        found = torch.empty(len(sample.candidates), dtype=torch.float64)
        found[batch.candidate[here]] = scores.rewrites[here].double()
        assert torch.allclose(found, rewrites, atol=1e-5)
        if sample.target == NO_BUG:
            total = total - choices[-1]
        else:
            place = locations.index(sample.candidates.location[sample.target])
            total = total - choices[place] - rewrites[sample.target]
        located += len(locations)
    location, repair = losses(scores, batch)
    loss = location + repair
    assert torch.allclose(loss.double(), total, atol=1e-4)
    (fast,) = torch.autograd.grad(loss, nodes, retain_graph=True)
    (slow,) = torch.autograd.grad(total, nodes)
    assert torch.allclose(fast, slow, atol=1e-5)


def test_the_dense_loss_is_its_equation():
    module = extract(SOURCE)
    samples = []
    for function in module.functions:
        text, repairs = plant(choose_together(candidates(function), 0.3, Random(0)), function.source)
        samples.append(make_sample(extract_function(text, function, module.facts), repairs, origin()))
    view = Hyperedges()
    batch = collate_samples(samples, view, Vocabulary.build(sample.graph for sample in samples)).to_torch()
    head = BugHead(DIM, dropout=0.0).double().eval()
    scores = head(torch.randn(batch.graphs.num_nodes, DIM, dtype=torch.float64), batch)
    changed, unchanged, repaired, start = [], [], [], 0
    for g, sample in enumerate(samples):
        locations = sorted(set(sample.candidates.location.tolist()))
        bugs = {int(sample.candidates.location[repair]) for repair in sample.repairs}
        here = batch.by_sample.owner[batch.by_location.owner] == g
        rewrites = dict(zip(batch.candidate[here].tolist(), scores.rewrites[here].tolist(), strict=True))
        for place, location in enumerate(locations, start):
            p = torch.sigmoid(scores.places[place]).item()
            (changed if location in bugs else unchanged).append(-math.log(p if location in bugs else 1 - p))
        repaired += [-rewrites[repair] for repair in sample.repairs]
        start += len(locations)
    location, repair = dense_losses(scores, batch)
    assert location.item() == pytest.approx(2 * (mean(changed) + mean(unchanged)), rel=1e-5)
    assert repair.item() == pytest.approx(2 * mean(repaired), rel=1e-5)


def test_weights_and_the_focal_loss_are_their_equations():
    view = Hyperedges()
    batch = collate_samples(SAMPLES, view, vocabulary(view)).to_torch()
    scores = BugHead(DIM, dropout=0.0).eval()(torch.randn(batch.graphs.num_nodes, DIM), batch)
    weight = torch.rand(len(SAMPLES))
    choices = repairs = 0.0
    true_rewrites = iter(batch.true_rewrite.tolist())
    for g, sample in enumerate(SAMPLES):
        p = scores.choices[batch.true_choice[g]].exp().item()
        choices -= weight[g].item() * (1 - p) ** 1.5 * math.log(p)
        if sample.repairs:
            repairs -= weight[g].item() * scores.rewrites[next(true_rewrites)].item()
    choice, repair = losses(scores, batch, weight, focal=1.5)
    assert choice.item() == pytest.approx(choices, rel=1e-4)
    assert repair.item() == pytest.approx(repairs, rel=1e-4)


@pytest.mark.parametrize("name", RECIPES)
def test_every_encoder_answers_the_same_question(name):
    """Alone or in company, each sample gets a distribution over its locations, and gradients reach all weights."""
    settings = RECIPES[name]()
    view = view_of(settings.model, binarise=settings.binarise)
    vocab = vocabulary(view, roles_of(settings.model))
    model = BugModel(build_encoder(settings.model, vocab), settings.model.dim, settings.model.dropout).eval()
    batch = collate_samples(SAMPLES, view, vocab).to_torch()
    scores = model(batch)
    sums = torch.zeros(len(SAMPLES)).index_add(0, batch.choices.owner, scores.choices.exp())
    assert torch.allclose(sums, torch.ones(len(SAMPLES)), atol=1e-5)
    alone = model(collate_samples(SAMPLES[3:4], view, vocab).to_torch())
    mine = scores.choices[batch.choices.owner == 3]
    assert torch.allclose(alone.choices, mine, atol=1e-4)
    location, repair = losses(scores, batch)
    (location + repair).backward()
    without = {name for name, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum()}
    assert not {name for name in without if not name.startswith("encoder.")}


def test_locations_with_one_token_stay_apart():
    """GREAT reads the tokens alone: a call and the name that it begins with have one state, but are two locations."""
    settings = RECIPES["great"]()
    view = view_of(settings.model)
    samples = all_samples("def f(call, left, right):\n    return call(left, right)\n", every=1)
    batch = collate_samples(samples, view, vocabulary(view))
    plain = collate_samples(samples, Hyperedges(), vocabulary(Hyperedges()))
    assert len(batch.by_sample.owner) == len(plain.by_sample.owner)
    assert (batch.true_choice == plain.true_choice).all()
    first = np.flatnonzero(batch.by_sample.owner == 0)
    assert len(set(batch.nodes.owner[first].tolist())) < len(first)
