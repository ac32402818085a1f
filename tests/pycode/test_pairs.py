"""The graphs of pairs that the baselines read."""

from hyperheat.hypergraph import Hypergraph
from hyperheat.pycode import FunctionGraph, extract
from hyperheat.pycode.pairs import TOKEN_RELATIONS, between_tokens, pairwise, tokens_of

SOURCE = """\
def f(x, c):
    if c:
        x = len(x)
    return x
"""


def function(source: str = SOURCE) -> FunctionGraph:
    return extract(source).functions[0]


def lines(graph: Hypergraph, relation: str) -> list[str]:
    return [line for line in str(graph).splitlines() if line.startswith(f"{relation}(")]


def test_every_relation_has_its_pairs():
    # def0 f1 (2 x3 ,4 c5 )6 :7 INDENT8 if9 c10 :11 INDENT12 x13 =14 len15 (16 x17 )18 DEDENT19 return20 x21 DEDENT22
    graph = pairwise(function())
    assert lines(graph, "Child") == [
        "Child(source: FunctionDef, target: f#1)",
        "Child(source: FunctionDef, target: x#3)",
        "Child(source: FunctionDef, target: c#5)",
        "Child(source: FunctionDef, target: If)",
        "Child(source: FunctionDef, target: Return)",
        "Child(source: If, target: c#10)",
        "Child(source: If, target: Assign)",
        "Child(source: Assign, target: x#13)",
        "Child(source: Assign, target: Call)",
        "Child(source: Call, target: len#15)",
        "Child(source: Call, target: x#17)",
        "Child(source: Return, target: x#21)",
    ]
    assert lines(graph, "Sibling")[-2:] == [
        "Sibling(source: x#13, target: Call)",
        "Sibling(source: len#15, target: x#17)",
    ]
    assert len(lines(graph, "NextToken")) == 22
    assert lines(graph, "ControlFlowNext") == [
        "ControlFlowNext(source: c#10, target: Call)",
        "ControlFlowNext(source: c#10, target: Return)",
        "ControlFlowNext(source: Call, target: Return)",
    ]
    assert lines(graph, "NextMayUse") == [
        "NextMayUse(source: x#17, target: x#13)",
        "NextMayUse(source: x#17, target: x#21)",
    ]
    assert lines(graph, "LastMayWrite") == [
        "LastMayWrite(source: c#10, target: c#5)",
        "LastMayWrite(source: x#13, target: x#3)",
        "LastMayWrite(source: x#17, target: x#3)",
        "LastMayWrite(source: x#21, target: x#3)",
        "LastMayWrite(source: x#21, target: x#13)",
    ]
    assert lines(graph, "AssignedFrom") == ["AssignedFrom(source: x#13, target: Call)"]
    assert lines(graph, "ReturnsFrom") == ["ReturnsFrom(source: FunctionDef, target: Return)"]
    assert lines(graph, "CandidateCall") == ["CandidateCall(source: Call, target: len#32)"]
    assert lines(graph, "MayFormalName") == ["MayFormalName(source: x#17, target: obj)"]
    assert len(lines(graph, "OccurrenceOf")) == 8
    assert len(lines(graph, "MayFinalUseOf")) == 4


def test_all_edges_have_a_source_and_a_target():
    graph = pairwise(function("def f(g):\n    g(g, a=1)\n    yield [y for y in g]\n"))
    assert {tuple(qualifier for qualifier, _ in edge.incidences) for edge in graph} == {("source", "target")}
    assert lines(graph, "YieldsFrom") == ["YieldsFrom(source: FunctionDef, target: Yield)"]


def test_nodes_keep_their_numbers_and_spans():
    whole = function()
    graph = pairwise(whole)
    assert whole.graph.span is not None
    assert graph.span is not None
    count = whole.graph.num_nodes
    assert graph.labels[:count] == whole.graph.labels
    assert graph.labels[count:] == ["len", "obj"]
    assert graph.span[:count].tolist() == whole.graph.span.tolist()
    assert (graph.span[count:] == -1).all()


def test_overlapping_chunks_give_each_pair_once():
    chunked = extract(SOURCE, chunk=8, overlap=4).functions[0]
    assert lines(pairwise(chunked), "NextToken") == lines(pairwise(function()), "NextToken")


def test_functions_named_like_relations_are_calls():
    graph = pairwise(
        function("def f(a, b):\n    Symbol(a)\n    CtrlF(prev=a, succ=b)\n    AstNode(node=a)\n")
    )
    called = [graph.labels[edge.incidences[1][1]] for edge in graph if edge.relation == "CandidateCall"]
    assert called == ["Symbol", "CtrlF", "AstNode"]
    assert len(lines(graph, "OccurrenceOf")) == 10


def test_the_view_of_tokens_maps_syntax_to_operators_and_first_tokens():
    example = function("def f(a, b):\n    if a in b:\n        a += 1\n    return a * 2\n")
    graph = between_tokens(pairwise(example), tokens_of(example))
    assert graph.labels[0] == "def"
    assert {*graph.relations} <= {*TOKEN_RELATIONS}
    assert lines(graph, "ControlFlowNext") == [
        "ControlFlowNext(source: in, target: +=)",
        "ControlFlowNext(source: *, target: return)",
        "ControlFlowNext(source: in, target: *)",
        "ControlFlowNext(source: +=, target: *)",
    ]
    assert lines(graph, "ReturnsFrom") == ["ReturnsFrom(source: def, target: return)"]
    assert lines(graph, "AssignedFrom") == ["AssignedFrom(source: a#15, target: 1)"]
    assert lines(graph, "MayFinalUseOf") == [
        "MayFinalUseOf(source: a#20, target: a#3)",
        "MayFinalUseOf(source: b#12, target: b#5)",
    ]
