"""The rows of the paper's tables, with the paper's figures. A row is added in one line.

Here Table 1 is the comparison of encoders and Table 2 that of HEAT with its variants, which the paper shows in the lower
half of its Table 1 and, for binary edges, in its Table 2. Rows have the names of recipes, in `bugs.recipes` or
`kg.neural.recipes`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from hyperheat.spelling import did_you_mean

__all__ = ["SIZES", "TABLES", "ModelSize", "TableName", "TableRow", "find_row", "task_of", "whole_samples"]

TableName = Literal["table1", "table2", "table3"]


@dataclass(frozen=True, kw_only=True)
class ModelSize:
    """A size of the models of Tables 1 and 2, and how many samples they see."""

    dim: int
    layers: int
    ff: int
    largest: int
    """Nodes of the largest function, in training and in all figures."""
    samples: int


SIZES = {
    "small": ModelSize(dim=64, layers=3, ff=256, largest=300, samples=100_000),
    "large": ModelSize(dim=128, layers=4, ff=512, largest=300, samples=100_000),
}
"""The width, layers and feed-forward part of HEAT; other rows get as many parameters."""


@dataclass(frozen=True, kw_only=True)
class TableRow:
    """A row: the recipe of this name, what the paper reports of it, and how fast it is."""

    name: str
    title: str
    paper: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    """Joint, location and repair in % by data set; for Table 3 MRR, H@1 and H@10."""
    set: tuple[str, ...] = ()
    """Settings that were tuned on validation packages."""
    rate: float
    """Samples that one core of a 2.8 GHz server trains on in a second at the small size, to plan with."""
    samples: int | None = None
    """How many samples the row sees, if its size does not say that."""
    on_request: bool = False
    """Too long for `all`."""


_WD50K = "WD50K(100), test"
_QUESTIONS = 1_600_000
"""That a row of Table 3 sees: 1,500 steps of the recipes."""


_TUNED = ("train.lr=3.2e-3", "model.dropout=0.0")
"""The best settings of HEAT, and of the GNN; of the variants of HEAT, only that with cross-attention needed others."""


def _bugs(
    name: str,
    title: str,
    *,
    rate: float,
    random: tuple[float, float, float] | None = None,
    pypibugs: tuple[float, float, float] | None = None,
    set: tuple[str, ...] = _TUNED,
) -> TableRow:
    given = {"random bugs": random, "PyPIBugs": pypibugs}
    paper = {data: figures for data, figures in given.items() if figures is not None}
    return TableRow(name=name, title=title, paper=paper, set=set, rate=rate)


def _kg(name: str, title: str, *, rate: float, paper: tuple[float, float, float] | None = None) -> TableRow:
    figures = {} if paper is None else {_WD50K: paper}
    return TableRow(name=name, title=title, rate=rate, paper=figures, samples=_QUESTIONS)


def _published(name: str, title: str, *, epochs: int, paper: tuple[float, float, float]) -> TableRow:
    """StarE's training, which goes through all questions in every epoch."""
    return TableRow(
        name=name, title=title, rate=300, paper={_WD50K: paper}, samples=epochs * 38_636, on_request=True
    )


_HEAT = _bugs("heat", "HEAT", rate=160, random=(76.5, 83.1, 88.5), pypibugs=(24.6, 29.6, 71.0))

TABLES: dict[TableName, tuple[TableRow, ...]] = {
    "table1": (
        _HEAT,
        _bugs("gnn", "GNN (rerun)", rate=165, random=(69.8, 79.6, 83.4), pypibugs=(22.0, 28.3, 66.7)),
        _bugs(
            "great",
            "GREAT (rerun)",
            rate=100,
            random=(65.6, 74.4, 81.8),
            pypibugs=(16.8, 21.9, 67.7),
            set=("train.lr=1.6e-3",),
        ),
        _bugs("heat-roles", "HEAT with a matrix for each kind of slot, which the paper has not", rate=190),
    ),
    "table2": (
        _HEAT,
        _bugs(
            "no-qualifiers",
            "HEAT without qualifier embeddings",
            rate=165,
            random=(69.2, 76.7, 85.6),
            pypibugs=(19.1, 25.7, 65.0),
        ),
        _bugs(
            "deepset-messages",
            "HEAT with DeepSet-based messages",
            rate=215,
            random=(74.0, 81.1, 87.3),
            pypibugs=(23.2, 28.6, 69.0),
        ),
        _bugs(
            "crossatt-aggregate",
            "HEAT with Agg = CrossAtt",
            rate=130,
            random=(76.5, 83.0, 88.2),
            pypibugs=(23.4, 27.9, 71.5),
            set=("train.lr=1.6e-3", "model.dropout=0.0"),
        ),
        _bugs(
            "no-ffn",
            "HEAT without FFN",
            rate=240,
            random=(73.7, 80.7, 87.0),
            pypibugs=(20.7, 25.4, 69.2),
        ),
        _bugs(
            "static-edge-state",
            "HEAT without hyperedge state",
            rate=185,
            random=(75.7, 82.4, 88.0),
            pypibugs=(23.0, 28.6, 71.1),
        ),
        _bugs("binarised", "HEAT on binarised hypergraphs", rate=80, random=(71.6, 79.3, 85.5)),
        _bugs("tied-updates", "HEAT, nodes and edges updated alike", rate=170),
        _bugs("sum-aggregate", "HEAT with Agg = sum", rate=180),
        _bugs("mean-aggregate", "HEAT with Agg = mean", rate=175),
        _bugs("allset", "AllSet", rate=150),
    ),
    "table3": (
        _kg("stare", "StarE (GNN)", rate=1100, paper=(0.654, 0.586, 0.777)),
        _kg("stare-labels", "StarE (GNN), with labels", rate=900, paper=(0.653, 0.586, 0.774)),
        _kg("heat", "StarE (HEAT), Agg = max", rate=850, paper=(0.666, 0.605, 0.779)),
        _kg("heat-crossatt", "StarE (HEAT), Agg = CrossAtt", rate=600, paper=(0.666, 0.599, 0.787)),
        _kg(
            "heat-labels", "StarE (HEAT), Agg = CrossAtt, with labels", rate=550, paper=(0.667, 0.601, 0.789)
        ),
        _kg("no-encoder", "Hy-Transformer", rate=2000, paper=(0.699, 0.637, 0.812)),
        _kg("heat-surroundings", "HEAT around each question, which the paper has not", rate=1300),
        _published("published-stare", "StarE (GNN), as published", epochs=401, paper=(0.654, 0.586, 0.777)),
        _published(
            "published-stare-labels",
            "StarE (GNN), labels, as published",
            epochs=401,
            paper=(0.653, 0.586, 0.774),
        ),
        _published(
            "published-heat", "StarE (HEAT), max, as published", epochs=1000, paper=(0.666, 0.605, 0.779)
        ),
        _published(
            "published-heat-crossatt",
            "StarE (HEAT), CrossAtt, as published",
            epochs=1000,
            paper=(0.666, 0.599, 0.787),
        ),
        _published(
            "published-heat-crossatt-labels",
            "StarE (HEAT), CrossAtt, labels, as published",
            epochs=1000,
            paper=(0.667, 0.601, 0.789),
        ),
        _published("hy-transformer", "Hy-Transformer, as published", epochs=401, paper=(0.699, 0.637, 0.812)),
    ),
}
"""The rows of each table in the order of the paper; HEAT is in two of them and runs once."""


def task_of(table: TableName) -> Literal["bugs", "kg"]:
    """Whether a table is about bugs or about statements."""
    return "kg" if table == "table3" else "bugs"


def whole_samples(row: TableRow, size: str) -> int:
    """How many samples a complete run sees."""
    return SIZES[size].samples if row.samples is None else row.samples


def find_row(table: TableName, name: str) -> TableRow:
    """The row of this name."""
    rows = {row.name: row for row in TABLES[table]}
    if name not in rows:
        hint = did_you_mean(name, rows)
        raise ValueError(
            f"--row: expected a row of {table} ({', '.join(rows)}), got {name!r}"
            + (f"; {hint}" if hint else "")
        )
    return rows[name]
