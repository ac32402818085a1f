"""Synthetic batches with the size distributions of real ones, so that a benchmark needs no data."""

import numpy as np

from hyperheat.hypergraph import Hypergraph, HypergraphBuilder

__all__ = ["STATEMENT_SIZES", "WORKLOADS", "code_like", "random_hypergraph", "wd50k_like"]

# Relations of a Python function of average length: count, smallest and largest number of incidences.
_CODE_RELATIONS = {
    "AstNode": (150, 2, 6),
    "call": (60, 2, 4),
    "CtrlF": (40, 2, 4),
    "MayRead": (15, 2, 5),
    "MayWrite": (15, 2, 5),
    "Symbol": (20, 2, 12),
}

# WD50K(100): incidences per statement (subject, object and qualifiers) and how many of 31,314 statements have them.
STATEMENT_SIZES = {3: 20426, 4: 9342, 5: 876, 6: 306, 7: 256, 8: 30, 9: 20, 12: 20, 18: 18, 32: 12, 67: 8}


def code_like(functions: int = 16, seed: int = 0) -> list[Hypergraph]:
    """Functions of 200 to 380 nodes, each with one token sequence of 100 to 455 and 300 smaller edges."""
    rng = np.random.default_rng(seed)
    graphs = []
    for _ in range(functions):
        builder = HypergraphBuilder()
        nodes = [builder.add_node(f"label{rng.integers(60)}") for _ in range(rng.integers(200, 381))]
        builder.relate_sequence("Tokens", rng.choice(nodes, rng.integers(100, 456)).tolist())
        for relation, (count, low, high) in _CODE_RELATIONS.items():
            for size in rng.integers(low, high + 1, count):
                chosen = rng.choice(nodes, size).tolist()
                roles = [f"{relation}{k}" for k in range(size)]
                builder.relate(relation, *zip(roles, chosen, strict=True))
        graphs.append(builder.build())
    return graphs


def wd50k_like(statements: int = 22_738, entities: int = 17_684, seed: int = 0) -> list[Hypergraph]:
    """One graph of statements with qualifiers; a few entities are in very many of them."""
    rng = np.random.default_rng(seed)
    shares = np.array(list(STATEMENT_SIZES.values())) / sum(STATEMENT_SIZES.values())
    sizes = rng.choice(list(STATEMENT_SIZES), size=statements, p=shares)
    return [random_hypergraph(sizes, entities, skew=2.5, relations=204, qualifiers=134, seed=seed)]


def random_hypergraph(
    sizes: np.ndarray, num_nodes: int, *, skew: float, relations: int, qualifiers: int, seed: int
) -> Hypergraph:
    """Edges of the given sizes over nodes drawn at random, low numbers more often the larger `skew` is."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    names = [f"r{i}" for i in range(relations)] + [f"q{i}" for i in range(qualifiers)]
    return Hypergraph(
        names=(*names, *(f"Q{i + 1}" for i in range(num_nodes))),
        label=np.arange(len(names), len(names) + num_nodes),
        relation=rng.integers(0, relations, len(sizes)),
        offsets=offsets,
        qualifier=rng.integers(relations, relations + qualifiers, offsets[-1]),
        node=(num_nodes * rng.random(offsets[-1]) ** skew).astype(np.int64),
    )


WORKLOADS = {"code": code_like, "wd50k": wd50k_like}
