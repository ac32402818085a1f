"""What can be removed from a function, and that nothing else goes with it."""

import numpy as np
import pytest

from hyperheat.detector.occlusion import FAMILIES, FunctionPart, list_parts, remove
from hyperheat.hypergraph import Hypergraph
from hyperheat.pycode import FunctionGraph, extract
from hyperheat.rewrites import Span

SOURCE = '''\
class Shop:
    def add(self, price, count=1):
        """Add."""
        self.total = self.total + price * count
        print(f"{price}: {self.total}")
        return [self.total, price]
'''


def function_of(source: str = SOURCE) -> FunctionGraph:
    return extract(source).functions[0]


def parts_of(function: FunctionGraph, at: str = "price * count") -> list[FunctionPart]:
    start = function.source.index(at)
    return list_parts(function, Span(start, start + len(at)))


def one(parts: list[FunctionPart], kind: str, text: str) -> FunctionPart:
    (found,) = [part for part in parts if (part.kind, part.text) == (kind, text)]
    return found


def texts(function: FunctionGraph, part: FunctionPart) -> list[str]:
    return [function.source[start:end] for start, end in part.spans]


def test_names_that_occur_twice_are_variables() -> None:
    function = function_of()
    parts = parts_of(function)
    assert {part.text for part in parts if part.kind == "variable"} == {
        "self",
        "price",
        "count",
        "self.total",
    }
    assert texts(function, one(parts, "variable", "self.total")) == ["self.total"] * 4
    price = one(parts, "variable", "price")
    assert texts(function, price) == ["price"] * 4
    assert function.source[price.spans[0].start :].startswith("price * count")  # the nearest


def test_tokens_are_words_literals_and_operators() -> None:
    function = function_of()
    tokens = [part for part in parts_of(function) if part.kind == "token"]
    assert all(texts(function, part) == [part.text] for part in tokens)
    found = {part.text for part in tokens}
    assert {"def", "add", "price", "1", '"""Add."""', "=", "+", "*", "print", "return"} <= found
    assert found.isdisjoint("()[]{},:.")
    assert not [text for text in found if text.startswith('f"')]


def test_families_of_relations_cover_every_edge_but_the_sequence_of_tokens() -> None:
    function = function_of()
    graph = function.graph
    relations = [part for part in parts_of(function) if part.kind == "relation"]
    assert {part.text for part in relations} <= set(FAMILIES)
    dropped = sorted(edge for part in relations for edge in part.edges)
    assert dropped == [edge for edge, name in enumerate(graph.relations) if name != "Tokens"]
    calls = {graph.relations[edge] for edge in one(relations, "relation", "calls").edges}
    assert {"print", "__add__", "__setattr__", "__getattribute__"} <= calls


def test_hidden_labels_change_and_nothing_else() -> None:
    function = function_of()
    graph, part = function.graph, one(parts_of(function), "variable", "self.total")
    without = remove(graph, part)
    changed = [
        (node, old)
        for node, (old, new) in enumerate(zip(graph.labels, without.labels, strict=True))
        if old != new
    ]
    assert tuple(node for node, _ in changed) == tuple(sorted(part.nodes))
    assert [label for _, label in changed] == ["total"] * 4 + ["self.total"]
    assert len({without.labels[node] for node, _ in changed}) == 1
    assert_same_edges(graph, without, range(graph.num_edges))


def test_dropped_edges_go_and_all_others_stay() -> None:
    function = function_of()
    graph, part = function.graph, one(parts_of(function), "relation", "Symbol")
    without = remove(graph, part)
    assert "Symbol" not in without.relations
    assert without.labels == graph.labels
    assert_same_edges(graph, without, [edge for edge in range(graph.num_edges) if edge not in part.edges])


def assert_same_edges(graph: Hypergraph, other: Hypergraph, kept: range | list[int]) -> None:
    edges = list(graph)
    assert list(other) == [edges[index] for index in kept]


def test_hidden_labels_are_unknown_to_every_vocabulary() -> None:
    from hyperheat.tensors import Vocabulary

    function = function_of()
    without = remove(function.graph, one(parts_of(function), "token", "print"))
    hidden = set(without.labels) - set(function.graph.labels)
    assert [Vocabulary.build([function.graph]).label_ids(label) for label in hidden] == [(0,)]


def test_near_parts_come_first() -> None:
    lines = "".join(f"    v{i} = {i} + v{i - 1}\n" for i in range(1, 40))
    function = function_of(f"def f(v0):\n{lines}    return v39\n")
    parts = [part for part in parts_of(function, "20 + v19") if part.kind != "relation"]
    order = {part.text: index for index, part in enumerate(parts) if part.kind == "variable"}
    assert order["v19"] < order["v20"] < order["v25"] < order["v35"]
    assert order["v18"] < order["v10"] < order["v5"]


@pytest.mark.parametrize(
    "source", ["def f(): pass\n", "def f():\n    yield\n", "async def f(*, a): await a\n"]
)
def test_small_functions_have_parts_too(source: str) -> None:
    function = function_of(source)
    for part in list_parts(function, Span(0, 3)):
        without = remove(function.graph, part)
        assert without.num_nodes == function.graph.num_nodes
        assert np.array_equal(without.label, function.graph.label) == (not part.nodes)
