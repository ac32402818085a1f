"""RDF: reified triples, Wikidata's statement nodes, labels, drops and errors."""

from pathlib import Path

import pytest

from hyperheat.kg import Statement
from hyperheat.kg.readers import Dropped, Label, ReadError, detect, read

pytest.importorskip("pyoxigraph", reason="RDF needs pyoxigraph")

EX = "http://example.org/"


@pytest.fixture
def write(tmp_path: Path):
    def write(text: str, name: str = "facts.ttl") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def _read(path: Path) -> list:
    """The items with the example's addresses cut off."""
    items = []
    for item in read(path):
        if isinstance(item, Statement):
            pairs = tuple((q.removeprefix(EX), v.removeprefix(EX)) for q, v in item.qualifiers)
            subject, relation, obj = (
                part.removeprefix(EX) for part in (item.subject, item.relation, item.object)
            )
            item = Statement(subject, relation, obj, pairs)
        items.append(item)
    return items


def test_qualifiers_are_what_is_said_of_reifiers(write):
    path = write(
        f"@prefix : <{EX}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        ":a :p :b {| :q :c ; :since 1896 |} .\n"
        ":a :p :d ~ :first {| :q :x |} ~ :second {| :q :y |} .\n"
        ":a :p :z .\n<< :a :p :z >> :q :w .\n"
        ":a :p :plain ; :born 1879 ; rdfs:label 'A'@en, 'Ah'@de .\n"
    )
    assert detect(path) == "rdf"
    assert _read(path) == [
        Dropped("literal as qualifier value"),
        Statement("a", "p", "b", (("q", "c"),)),
        Statement("a", "p", "d", (("q", "x"),)),
        Statement("a", "p", "d", (("q", "y"),)),
        Statement("a", "p", "z", (("q", "w"),)),
        Statement("a", "p", "plain"),
        Dropped("literal as object"),
        Label(f"{EX}a", "A"),
        Dropped("label in another language"),
    ]


def test_a_triple_that_nobody_asserts_is_no_statement(write):
    path = write(f"@prefix : <{EX}> .\n<< :a :p :z >> :q :w .\n:a :p :b .\n")
    assert _read(path) == [Statement("a", "p", "b"), Dropped("reified but not asserted")]


def test_quads_with_reifying_triples(write):
    reifies = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>"
    path = write(
        f"<{EX}a> <{EX}p> <{EX}b> <{EX}graph> .\n_:r {reifies} <<( <{EX}a> <{EX}p> <{EX}b> )>> .\n"
        f"_:r <{EX}q> <{EX}c> .\n",
        "facts.nq",
    )
    assert _read(path) == [Statement("a", "p", "b", (("q", "c"),))]


WIKIDATA = """\
@prefix wd: <http://www.wikidata.org/entity/> . @prefix wds: <http://www.wikidata.org/entity/statement/> .
@prefix p: <http://www.wikidata.org/prop/> . @prefix ps: <http://www.wikidata.org/prop/statement/> .
@prefix pq: <http://www.wikidata.org/prop/qualifier/> . @prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix pqv: <http://www.wikidata.org/prop/qualifier/value/> . @prefix wikibase: <http://wikiba.se/ontology#> .
"""


def test_statement_nodes_of_wikidata(write):
    path = write(
        f"{WIKIDATA}wd:Q937 wdt:P69 wd:Q11942 ; p:P69 wds:one, wds:two, wds:three, wds:four .\n"
        "wds:one ps:P69 wd:Q11942 ; pq:P512 wd:Q3 ; pq:P580 '1896' .\n"
        "wds:one pqv:P580 <http://x/v> ; wikibase:rank wikibase:NormalRank .\n"
        "wds:two ps:P69 wd:Q1 ; wikibase:rank wikibase:DeprecatedRank .\n"
        "wds:three ps:P69 [] .\nwds:four pq:P512 wd:Q3 .\n"
    )
    assert list(read(path)) == [
        Dropped("direct copy of a claim"),
        Dropped("literal as qualifier value"),
        Dropped("bookkeeping of a claim"),
        Dropped("bookkeeping of a claim"),
        Statement("Q937", "P69", "Q11942", (("P512", "Q3"),)),
        Dropped("deprecated"),
        Dropped("somevalue as object"),
        Dropped("claim without a value"),
    ]


def test_reifiers_and_statement_nodes_of_which_nothing_is_said(write):
    assert _read(write(f"@prefix : <{EX}> .\n:a :p :b ~ :r .\n:c :p :d .\n")) == [
        Statement("a", "p", "b"),
        Statement("c", "p", "d"),
    ]
    path = write(f"{WIKIDATA}wd:Q1 p:P69 wds:one .\nwd:Q2 p:P69 wds:two .\n")
    assert list(read(path)) == [Dropped("claim without a value")] * 2


def test_direct_triples_count_where_there_are_no_statement_nodes(write):
    assert list(read(write(f"{WIKIDATA}wd:Q937 wdt:P69 wd:Q11942 .\n"))) == [
        Statement("Q937", "P69", "Q11942")
    ]


def test_errors_name_file_and_line(write):
    with pytest.raises(ReadError, match=r"facts\.ttl:3: expected Turtle, got: "):
        list(read(write(f"@prefix : <{EX}> .\n:a :p :b .\n:a :p .\n")))
    with pytest.raises(ReadError, match=r"facts\.csv: expected an extension such as ttl, .* got 'facts.csv'"):
        list(read(write(":a :p :b .\n", "facts.csv"), "rdf"))
