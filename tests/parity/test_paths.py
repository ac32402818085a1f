"""The fast paths of the attention agree with each other and with the paper's algorithm."""

import numpy as np
import pytest
import torch
from tests.nn.models import make_encoder

from benchmarks.paper import PaperLayer, paper_plan
from benchmarks.workloads import code_like, random_hypergraph
from hyperheat import Vocabulary, collate
from hyperheat.nn.fast import attention, kernel
from hyperheat.nn.fast.rows import segment_max
from hyperheat.tensors import Segments, by_size, packed
from hyperheat.tensors.indices import segments


@pytest.mark.parametrize("layout", [by_size, packed])
def test_attention_in_chunks_is_attention_at_once(layout, monkeypatch):
    graphs = code_like(functions=2)
    vocab = Vocabulary.build(graphs)
    batch = collate(graphs, vocab, layout).to_torch()
    monkeypatch.setattr(attention, "_CHUNK", 4_000)  # many chunks, the last of a group not full
    torch.manual_seed(0)
    rows = len(batch.plan.slots.starts) - 1
    table = torch.randn(rows, 3 * 16, dtype=torch.float64)
    table[-1] = 0
    upstream = torch.randn(len(batch.plan.slots.pairs), 16, dtype=torch.float64)
    results = []
    for function in (attention.attend, attention._attend_at_once):
        leaf = table.clone().requires_grad_()
        out = function(leaf, batch.plan, heads=4)
        (gradient,) = torch.autograd.grad(out, leaf, upstream)
        results.append((out.detach(), gradient))
    _, chunks = attention._divide(batch.plan, table, 4, None)
    assert len(chunks) > 2 * len(batch.plan.groups)
    held = batch.plan.edges.owner < batch.num_edges  # what a padding cell attends to is never read
    assert torch.allclose(results[0][0][held], results[1][0][held], atol=1e-12)
    assert torch.allclose(results[0][1], results[1][1], atol=1e-11)


@pytest.fixture
def compiled():
    try:
        yield kernel.load()
    except RuntimeError as error:
        pytest.skip(str(error))
    finally:
        kernel.unload()


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def uneven_batch(largest):
    """Edges of every size from 1 to `largest` slots, three of each."""
    sizes = np.random.default_rng(0).permutation(np.repeat(np.arange(largest), 3))
    graphs = [random_hypergraph(sizes, 50, skew=1.5, relations=3, qualifiers=5, seed=1)]
    return collate(graphs, Vocabulary.build(graphs)).to_torch()


@pytest.mark.parametrize(
    ("heads", "width"), [(8, 64), (8, 128), (4, 16), (1, 16), (2, 48), (16, 80), (8, 96), (4, 256)]
)
@pytest.mark.parametrize("count", [1, 2])
def test_the_compiled_kernel_is_attention_at_once(compiled, threads, heads, width, count):
    threads(count)
    batch = uneven_batch(60)
    torch.manual_seed(0)
    table = torch.randn(len(batch.plan.slots.starts) - 1, 3 * width)
    table[-1] = 0
    fused, chunks = attention._divide(batch.plan, table, heads, compiled)
    largest = 60 if count == 1 else kernel.LARGEST
    assert {group.block for _, group in fused} == set(range(1, largest + 1))
    assert {group.block for *_, group in chunks} == set(range(largest + 1, 61))
    upstream = torch.randn(len(batch.plan.slots.pairs), width)
    results = []
    for function in (attention.attend, attention._attend_at_once):
        leaf = table.clone().requires_grad_()
        out = function(leaf, batch.plan, heads)
        (gradient,) = torch.autograd.grad(out, leaf, upstream)
        results.append((out.detach(), gradient))
    assert torch.allclose(results[0][0], results[1][0], atol=1e-5)
    assert torch.allclose(results[0][1], results[1][1], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(("heads", "width"), [(3, 12), (8, 24), (32, 64)])
def test_torch_attends_where_heads_do_not_fill_the_kernels_vectors(compiled, heads, width):
    batch = uneven_batch(5)
    table = torch.randn(len(batch.plan.slots.starts) - 1, 3 * width)
    fused, chunks = attention._divide(batch.plan, table, heads, compiled)
    assert not fused
    assert chunks


def test_scores_far_apart_give_the_kernels_weights_zero_and_one(compiled, threads):
    threads(1)
    batch = uneven_batch(20)
    table = 100 * torch.randn(len(batch.plan.slots.starts) - 1, 3 * 16)
    ours, plain = (f(table, batch.plan, 4) for f in (attention.attend, attention._attend_at_once))
    assert torch.allclose(ours, plain, atol=1e-3)


def test_the_compiled_kernel_reads_a_table_in_bfloat16(compiled, threads):
    threads(1)
    batch = uneven_batch(10)
    table = torch.randn(len(batch.plan.slots.starts) - 1, 3 * 16).bfloat16().requires_grad_()
    out = attention.attend(table, batch.plan, 4)
    assert torch.equal(out, attention.attend(table.float(), batch.plan, 4))
    out.sum().backward()
    assert table.grad is not None
    assert table.grad.dtype == torch.bfloat16


def test_the_compiled_kernel_does_not_hide_nan(compiled):
    graphs = code_like(functions=1)
    batch = collate(graphs, Vocabulary.build(graphs)).to_torch()
    table = torch.randn(len(batch.plan.slots.starts) - 1, 3 * 16)
    table[0] = float("nan")
    out = attention.attend(table, batch.plan, 4)
    touched = batch.plan.edges.owner[(batch.plan.slots.pairs == 0).any(1)]
    inside = torch.isin(batch.plan.edges.owner, touched)
    assert torch.isnan(out[inside]).all()
    assert not torch.isnan(out[~inside]).any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("width", [16, 128, 144])
@pytest.mark.parametrize("count", [1, 2])
def test_the_compiled_maximum_is_that_of_torch(compiled, threads, dtype, width, count):
    threads(count)
    rng = np.random.default_rng(0)
    owner = rng.integers(0, 120, 200)  # many segments are empty, many have one row
    planned = segments(owner, 130)
    plan = Segments(
        **{name: torch.from_numpy(getattr(planned, name)) for name in ("owner", "offsets", "entries")}
    )
    x = torch.from_numpy(rng.integers(-3, 3, (200, width)) / 4).to(dtype)  # ties are frequent
    x[7, 3], x[8, 0], x[9] = torch.nan, -torch.nan, -torch.inf
    upstream = torch.from_numpy(rng.standard_normal((130, width))).to(dtype)
    results = []
    for wanted in (True, False):
        kernel.use(wanted)
        leaf = x.clone().requires_grad_()
        out = segment_max(leaf, plan)
        (gradient,) = torch.autograd.grad(out, leaf, upstream)
        results.append((out, gradient))
    (ours, our_gradient), (plain, gradient) = results
    assert kernel.Kernel.takes_rows(x)
    assert torch.equal(ours.nan_to_num(99), plain.nan_to_num(99))
    assert torch.equal(our_gradient, gradient)


@pytest.mark.parametrize("x", [torch.randn(4, 16).double(), torch.randn(4, 15)])
def test_torch_takes_maxima_of_other_tables(compiled, x):
    planned = segments(np.array([0, 0, 1, 1]), 2)
    plan = Segments(
        **{name: torch.from_numpy(getattr(planned, name)) for name in ("owner", "offsets", "entries")}
    )
    assert not compiled.takes_rows(x)
    assert torch.equal(segment_max(x, plan), x.view(2, 2, -1).amax(1))


def test_a_missing_compiler_is_said_in_one_sentence(monkeypatch):
    kernel.unload()
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(RuntimeError, match=r"no C compiler found for the compiled kernels .tried"):
        kernel.load()


@pytest.mark.parametrize("masks_for", [None, 2])
def test_the_papers_algorithm_computes_the_same_layer(masks_for):
    sizes = np.random.default_rng(0).integers(0, 40, 60)
    graphs = [random_hypergraph(sizes, 50, skew=1.5, relations=3, qualifiers=5, seed=1)]
    vocab = Vocabulary.build(graphs)
    encoder = make_encoder("heat", vocab, layers=1)
    numpy_batch = collate(graphs, vocab)
    batch = numpy_batch.to_torch()
    h, r = (x.detach() for x in encoder.embedding(batch))
    ours = encoder.layers[0]
    paper = PaperLayer(ours, encoder.config).eval()  # pyright: ignore[reportArgumentType]
    results = []
    for layer, plan in ((ours, batch.plan), (paper, paper_plan(numpy_batch, masks_for))):
        leaf = h.clone().requires_grad_()
        out = layer(leaf, r, plan)
        (gradient,) = torch.autograd.grad(out.square().sum() + (out * torch.arange(8)).sum(), leaf)
        results.append((out.detach(), gradient))
    assert torch.allclose(results[0][0], results[1][0], atol=1e-5)
    assert torch.allclose(results[0][1], results[1][1], atol=2e-4)
