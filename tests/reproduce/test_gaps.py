"""How far a row is ahead, and how sure that is."""

from dataclasses import replace

import numpy as np
import pytest
from tests.reproduce.sample_records import sample_record

from hyperheat.reproduce.gaps import Gap, judge, measure_gap
from hyperheat.reproduce.row_records import RowRecord
from hyperheat.reproduce.tables_page import tables_page


def run(row: str, joints: list[float], *, seed: int = 0, samples: int = 100) -> RowRecord:
    """A run with some joint in each package."""
    by_package = {f"p{n}": {"samples": samples, "joint": joint} for n, joint in enumerate(joints)}
    record = sample_record(row=row, seed=seed, joint=float(np.mean(joints)))
    return replace(record, valid={**record.valid, "by_package": by_package})


def test_the_mean_weighs_packages_by_their_samples():
    ours, theirs = run("gnn", [0.5] * 9 + [0.9]), run("heat", [0.5] * 10)
    for one in (ours, theirs):
        one.valid["by_package"]["p9"]["samples"] = 900
    gap = measure_gap([ours], [theirs])
    assert gap is not None
    assert gap.mean == pytest.approx(0.4 * 900 / 1800)
    assert gap.lower < gap.mean < gap.upper


def test_the_interval_covers_the_true_difference_as_often_as_it_says():
    """Packages are drawn from a population whose mean difference is known; the interval of few packages is a bit short."""
    random = np.random.default_rng(1)
    hits = 0
    for _ in range(200):
        ahead = random.normal(0.02, 0.03, size=15)
        gap = measure_gap([run("gnn", (0.5 + ahead).tolist())], [run("heat", [0.5] * 15)])
        assert gap is not None
        hits += gap.lower <= 0.02 <= gap.upper
    assert 0.87 <= hits / 200 <= 0.98


def test_seeds_that_disagree_widen_the_interval():
    heat = [run("heat", [0.5] * 12, seed=seed) for seed in (0, 1)]
    agree = [run("gnn", [0.52] * 12, seed=seed) for seed in (0, 1)]
    disagree = [run("gnn", [joint] * 12, seed=seed) for seed, joint in ((0, 0.49), (1, 0.55))]
    sure, unsure = measure_gap(agree, heat), measure_gap(disagree, heat)
    assert sure is not None
    assert unsure is not None
    assert sure.mean == pytest.approx(unsure.mean)
    assert sure.upper - sure.lower < 1e-9
    assert (unsure.lower, unsure.upper) == pytest.approx((-0.01, 0.05))


def test_only_equal_seeds_and_equal_packages_are_compared():
    ours, theirs = run("gnn", [0.5] * 8, seed=1), run("heat", [0.4] * 8)
    assert measure_gap([ours], [theirs]) is None
    assert measure_gap([run("gnn", [0.5] * 9)], [theirs]) is None
    assert measure_gap([sample_record(row="gnn")], [theirs]) is None
    assert measure_gap([run("gnn", [0.5] * 3)], [run("heat", [0.4] * 3)]) is None  # too few to resample


@pytest.mark.parametrize(
    ("gap", "paper", "told"),
    [
        ((-0.03, -0.05, -0.01), -6.7, "confirmed"),
        ((0.03, 0.01, 0.05), -6.7, "refuted"),
        ((-0.01, -0.03, 0.01), -6.7, "not told apart"),
        ((0.02, 0.01, 0.03), 0.0, "ahead, equal in the paper"),
    ],
)
def test_the_verdict(gap, paper, told):
    mean, lower, upper = gap
    assert judge(Gap(mean=mean, lower=lower, upper=upper), paper) == told


def test_the_page_tells_whether_the_order_holds():
    records = [run("heat", [0.5] * 10, seed=seed) for seed in (0, 1)]
    records += [run("gnn", [0.46] * 10, seed=seed) for seed in (0, 1)]
    page = tables_page([*records, run("tied-updates", [0.46] * 10), run("no-ffn", [0.52] * 10)])
    assert "| GNN (rerun) (`gnn`) | small | -6.7 | -4.0 (-4.0 to -4.0) | confirmed |" in page
    assert "| HEAT without FFN (`no-ffn`) | small | -2.8 | +2.0 (+2.0 to +2.0) | refuted (one seed) |" in page
    section = page.partition("## Does the paper's order hold?")[2].partition("\n## ")[0]
    assert "tied-updates" not in section  # the paper has no such row
    assert "Does the paper's order hold?" not in tables_page([sample_record(row="heat")])
