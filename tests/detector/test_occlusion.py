"""What can be removed from a function, and that nothing else goes with it."""

import numpy as np
import pytest

from hyperheat.detector.occlusion import FAMILIES, FunctionPart, list_parts, remove
from hyperheat.hypergraph import Hypergraph
from hyperheat.pycode import FunctionGraph, extract
from hyperheat.rewrites import Span
from hyperheat.tensors import Vocabulary

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


def test_relations_are_the_edges_of_a_family_at_the_place() -> None:
    function = function_of()
    graph = function.graph
    relations = {part.text: part for part in parts_of(function, "* count") if part.kind == "relation"}
    assert set(relations) < set(FAMILIES)
    assert {graph.relations[edge] for edge in relations["calls"].edges} == {"__mul__"}
    for family, part in relations.items():
        assert len(set(part.edges)) == len(part.edges) > 0
        if family != "calls":
            assert {graph.relations[edge] for edge in part.edges} == {family}


def test_a_place_that_is_everything_has_every_edge_but_the_sequence_of_tokens() -> None:
    function = function_of()
    graph = function.graph
    relations = [part for part in parts_of(function, function.source) if part.kind == "relation"]
    dropped = sorted(edge for part in relations for edge in part.edges)
    assert dropped == [edge for edge, name in enumerate(graph.relations) if name != "Tokens"]


def test_a_call_of_a_function_with_the_name_of_a_relation_is_a_call() -> None:
    function = function_of("def f(a, b):\n    return CtrlF(a) + Symbol(b) + Tokens(a, b)\n")
    graph = function.graph
    calls = one(parts_of(function, "CtrlF(a) + Symbol(b) + Tokens(a, b)"), "relation", "calls")
    assert {"CtrlF", "Symbol", "Tokens", "__add__"} == {graph.relations[edge] for edge in calls.edges}


def test_a_variable_goes_with_its_names_and_its_data_flow() -> None:
    function = function_of()
    graph, part = function.graph, one(parts_of(function), "variable", "self.total")
    without = remove(graph, [part])
    assert hidden_labels(graph, without) == {node: graph.labels[node] for node in part.nodes}
    assert sorted(graph.labels[node] for node in part.nodes) == ["self.total", *["total"] * 4]
    assert {graph.relations[edge] for edge in part.edges} == {"Symbol", "MayRead", "MayWrite"}
    kept = [edge for index, edge in enumerate(graph) if index not in part.edges]
    assert list(without) == kept


def test_a_token_is_taken_out_of_all_edges() -> None:
    function = function_of()
    graph, part = function.graph, one(parts_of(function), "token", "print")
    without = remove(graph, [part])
    assert hidden_labels(graph, without) == dict.fromkeys(part.nodes, "print")  # the token and its symbol
    assert len(part.nodes) == 2
    gone = {*part.nodes}
    rest = [[pair for pair in edge.incidences if pair[1] not in gone] for edge in graph]
    assert [list(edge.incidences) for edge in without] == [pairs for pairs in rest if pairs]


def test_a_token_at_the_place_keeps_its_edges() -> None:
    function = function_of()
    part = one(parts_of(function), "token", "*")
    without = remove(function.graph, [part])
    assert hidden_labels(function.graph, without) == dict.fromkeys(part.nodes, "*")
    assert list(without) == list(function.graph)


def test_several_parts_are_removed_together() -> None:
    function = function_of()
    graph, parts = function.graph, parts_of(function)
    some = [one(parts, "variable", "price"), one(parts, "token", "print"), one(parts, "relation", "calls")]
    together = remove(graph, some)
    assert set(hidden_labels(graph, together)) == {node for part in some for node in part.nodes}
    assert together.num_edges < min(remove(graph, [part]).num_edges for part in some)
    assert remove(graph, []) == graph


def hidden_labels(graph: Hypergraph, without: Hypergraph) -> dict[int, str]:
    """The labels that have changed, all of them to the same one."""
    changed = {
        node: old
        for node, (old, new) in enumerate(zip(graph.labels, without.labels, strict=True))
        if old != new
    }
    assert len({without.labels[node] for node in changed}) <= 1
    return changed


def test_hidden_labels_are_unknown_to_every_vocabulary() -> None:
    function = function_of()
    without = remove(function.graph, [one(parts_of(function), "token", "print")])
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
        without = remove(function.graph, [part])
        assert without.num_nodes == function.graph.num_nodes
        assert np.array_equal(without.label, function.graph.label) == (not part.nodes)
