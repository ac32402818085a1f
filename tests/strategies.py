"""Hypothesis strategies shared by all tests."""

from collections.abc import Callable

from hypothesis import strategies as st

from hyperheat.hypergraph import Hypergraph, HypergraphBuilder, Position

__all__ = ["hypergraphs", "names"]

_FAMILIAR = (
    "foo",
    "barBaz",
    "left",
    "right",
    "BinOp",
    "__init__",
    "rval",
    "node",
    "p1",
    "P69",
    "größe",
    "变量",
    "",
)


def names() -> st.SearchStrategy[str]:
    """Names of nodes, relations and qualifiers: familiar ones, which repeat, and arbitrary unicode text."""
    # Lone surrogates are strings in Python only: no file format in UTF-8 can hold them.
    return st.sampled_from(_FAMILIAR) | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@st.composite
def hypergraphs(
    draw: Callable,
    max_nodes: int = 8,
    max_edges: int = 6,
    max_size: int = 5,
    *,
    min_nodes: int = 0,
    min_edges: int = 0,
    spans: bool = True,
) -> Hypergraph:
    """Hypergraphs with isolated nodes, repeated incidences, positions, unicode names and edges of any size.

    `max_size` bounds the incidences of one edge; with `spans`, some graphs carry source spans.
    """
    builder = HypergraphBuilder()
    spanned = spans and draw(st.booleans())
    place = st.integers(0, 99)
    for label in draw(st.lists(names(), min_size=min_nodes, max_size=max_nodes)):
        span = draw(st.none() | st.tuples(place, place, place, place)) if spanned else None
        builder.add_node(label, span)
    qualifier = names() | st.integers(1, 2_000).map(Position)
    size = max_size if builder.num_nodes else 0
    incidence = st.tuples(qualifier, st.integers(0, max(builder.num_nodes - 1, 0)))
    for _ in range(draw(st.integers(min_edges, max_edges))):
        incidences = draw(st.lists(incidence, max_size=size))
        if draw(st.booleans()):
            builder.relate(draw(names()), *incidences)
        else:
            builder.relate_sequence(draw(names()), [node for _, node in incidences])
    return builder.build()
