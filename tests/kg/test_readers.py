"""Readers of text formats: what they read, what they drop, and what they say of broken files."""

import bz2
import gzip
import json
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperheat.kg import Statement, Statements
from hyperheat.kg.readers import FORMATS, Dropped, Label, ReadError, detect, read
from hyperheat.kg.readers.json_lines import write_json_lines

PHD = Statement("Einstein", "educated at", "Zurich", (("degree", "PhD"),))


@pytest.fixture
def write(tmp_path: Path):
    def write(name: str, text: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


GOOD = {
    "wd50k": (
        "train.txt",
        "Q1,P69,Q2,P512,Q3,P812,Q4\n\nQ1,P19,Q5\n",
        [Statement("Q1", "P69", "Q2", (("P512", "Q3"), ("P812", "Q4"))), Statement("Q1", "P19", "Q5")],
    ),
    "wikipeople": (
        "n-ary_train.json",
        '{"P69_h": "Q1", "P69_t": "Q2", "P512": ["Q3", "Q4"], "P580": ["+1896#http://time"], "N": 5}\n'
        '{"P570_h": "Q1", "P570_t": "+1955-04-18T00:00:00Z#0#0#0#11#http://calendar", "N": 2}\n',
        [
            Dropped("literal as qualifier value"),
            Statement("Q1", "P69", "Q2", (("P512", "Q3"), ("P512", "Q4"))),
            Dropped("literal as subject or object"),
        ],
    ),
    "jf17k": (
        "train.txt",
        "award.nomination\ta\tb\tc\td\npeople.marriage\ta\tb\nlonely\ta\n",
        [
            Statement(
                "a", "award.nomination1", "b", (("award.nomination2", "c"), ("award.nomination3", "d"))
            ),
            Statement("a", "people.marriage1", "b"),
            Dropped("fact about one entity"),
        ],
    ),
    "table": (
        "facts.csv",
        'head,relation,tail,q:degree,q:degree,q:in\nEinstein,educated at,"ETH, Zurich",BSc,,1900\na,r,b,,,\n,,,,,\n',
        [
            Statement("Einstein", "educated at", "ETH, Zurich", (("degree", "BSc"), ("in", "1900"))),
            Statement("a", "r", "b"),
        ],
    ),
    "jsonl": (
        "facts.jsonl",
        '{"subject": "a", "relation": "r", "object": "b"}\n'
        '{"subject": "a", "relation": "r", "object": "b", "qualifiers": [["q", "x"], ["q", "y"]]}\n'
        '{"subject": "a", "relation": "r", "object": "b", "qualifiers": {"q": "x", "p": ["y", "z"]}}\n'
        '{"N": 3, "relation": "r", "subject": "a", "object": "b", "q": ["x"]}\n',
        [
            Statement("a", "r", "b"),
            Statement("a", "r", "b", (("q", "x"), ("q", "y"))),
            Statement("a", "r", "b", (("q", "x"), ("p", "y"), ("p", "z"))),
            Statement("a", "r", "b", (("q", "x"),)),
        ],
    ),
}


@pytest.mark.parametrize("format", GOOD)
def test_every_format_is_detected_and_read(format, write):
    name, text, expected = GOOD[format]
    path = write(name, text)
    assert detect(path) == format
    assert list(read(path)) == expected


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_compressed_files_are_unpacked_on_the_way(suffix, compress, write):
    name, text, expected = GOOD["wd50k"]
    assert list(read(write(name + suffix, compress(text.encode())))) == expected


def test_test_files_of_jf17k_start_with_the_instance(write):
    path = write("test.txt", "instance0\tr\ta\tb\tc\ninstance1\tr\ta\tb\n")
    assert list(read(path)) == [Statement("a", "r1", "b", (("r2", "c"),)), Statement("a", "r1", "b")]


def test_tabs_headers_and_other_spellings(write):
    path = write(
        "facts.tsv", "\ufeffsubject\trelation\tobject\tq:degree\r\nEinstein\teducated at\tZurich\tPhD\r\n"
    )
    assert list(read(path)) == [PHD]
    triples = write("triples.tsv", "a\tr\tb\nc\tr\td\n")
    assert list(read(triples, "wd50k")) == [Statement("a", "r", "b"), Statement("c", "r", "d")]
    with pytest.raises(
        ReadError,
        match=r"triples.tsv:1: cannot tell which column is the relation: 'a\\tr\\tb'; add a header",
    ):
        detect(triples)


def test_tabs_in_place_of_commas_are_not_read_as_jf17k(write):
    # b is an object and a subject, so the second column can only hold relations
    path = write("facts.txt", "a\tr\tb\tq\tx\nb\tr\tc\n")
    assert detect(path) == "wd50k"
    assert list(read(path)) == [Statement("a", "r", "b", (("q", "x"),)), Statement("b", "r", "c")]


def test_jf17k_without_lines_of_even_length_is_detected_by_its_entities(write):
    path = write("facts.txt", "r\ta\tb\tc\td\nr\tb\ta\n")
    assert detect(path) == "jf17k"
    assert list(read(path))[1] == Statement("b", "r1", "a")


def test_tabs_that_fit_two_formats_are_refused(write):
    with pytest.raises(
        ReadError, match=r"facts\.txt:1: cannot tell which column is the relation: .*--format"
    ):
        detect(write("facts.txt", "a\tr\tb\tq\tx\nc\tr\td\n"))


@pytest.mark.parametrize(
    "header", ["subject,predicate,object", "h,r,t", "S,P,O", '"head","relation","tail"', "tail,property,head"]
)
def test_no_header_becomes_a_statement(header, write):
    cells = {"h": "a", "s": "a", "r": "likes", "p": "likes", "t": "b", "o": "b"}
    row = ",".join(cells[name.strip('"')[0].lower()] for name in header.split(","))
    path = write("facts.csv", f"{header}\n{row}\n")
    assert detect(path) == "table"
    assert list(read(path)) == [Statement("a", "likes", "b")]


def test_a_header_that_lacks_a_column_is_no_statement_either(write):
    path = write("facts.csv", "subject,predicate,value\na,likes,b\n")
    with pytest.raises(ReadError, match=r"facts\.csv:1: expected one column object or tail"):
        list(read(path))


def test_what_is_written_is_read_back(tmp_path):
    statements = [
        PHD,
        Statement("größe, \t", '"', "变量"),
        Statement("a", "r", "a", (("r", "a"), ("r", "a"))),
    ]
    write_json_lines(statements, tmp_path / "train.jsonl")
    assert list(read(tmp_path / "train.jsonl")) == statements


BROKEN = {
    "odd number of tokens": (
        "wd50k",
        "Q1,P69,Q2\nQ1,P69,Q2,P512\n",
        r":2: expected subject, relation.*got 4 tokens",
    ),
    "too few tokens": ("wd50k", "Q1\n", r":1: .* got 1 tokens: 'Q1'"),
    "empty token": ("wd50k", "Q1,P69,\n", r":1: token 3 is empty; expected an entity"),
    "relation as entity": (
        "wd50k",
        "Q1,P69,Q2\nQ1,P19,P69\n",
        r":2: expected an entity, got 'P69', which is a relation on line 1",
    ),
    "entity as relation": (
        "wd50k",
        "Q1,P69,Q2\nQ3,Q1,Q2\n",
        r":2: expected a relation, got 'Q1', which is an entity",
    ),
    "not UTF-8": ("wd50k", b"Q1,P1,Q2\n\xff,P1,Q2\n", r":2: not UTF-8 text"),
    "no main pair": (
        "wikipeople",
        '{"P69_h": "Q1", "N": 2}\n',
        r":1: expected one pair of keys such as P69_h",
    ),
    "number as name": ("wikipeople", '{"P69_h": "Q1", "P69_t": 3}\n', r":1: expected a name as P69_t, got 3"),
    "number as value": (
        "wikipeople",
        '{"P69_h": "Q1", "P69_t": "Q2", "P5": [3]}\n',
        r":1: expected a name as P5, got 3",
    ),
    "broken JSON": ("wikipeople", '{"P69_h": \n', r":1: expected a JSON object, got"),
    "list for object": ("jsonl", "[1]\n", r":1: expected a JSON object, got '\[1\]'"),
    "deep JSON": ("jsonl", "[" * 100_000 + "\n", r":1: expected a JSON object"),
    "half a surrogate pair": (
        "jsonl",
        '{"subject": "\\ud800", "relation": "r", "object": "b"}\n',
        r":1: expected a JSON object",
    ),
    "empty entity": (
        "jf17k",
        "r\ta\tb\nr\ta\t\tb\n",
        r":2: expected a relation and its entities between tabs",
    ),
    "relation alone": ("jf17k", "r\n", r":1: expected a relation and its entities between tabs"),
    "instance missing": (
        "jf17k",
        "instance0\tr\ta\tb\nr\ta\tb\n",
        r":2: expected the number of an instance first",
    ),
    "instance appears": ("jf17k", "r\ta\tb\ninstance0\tr\ta\tb\n", r":2: expected a relation first"),
    "no tail": (
        "table",
        "head,relation\na,r\n",
        r":1: expected one column object or tail or o or t for the object",
    ),
    "two tails": ("table", "head,relation,tail,object\na,r,b,c\n", r":1: expected one column object or tail"),
    "unknown column": (
        "table",
        "head,relation,tail,year\na,r,b,1\n",
        r":1: .*columns such as q:degree, got 'year'",
    ),
    "too many cells": ("table", "head,relation,tail\na,r,b\n\na,r,b,c\n", r":4: expected 3 cells, .* got 4"),
    "empty subject": (
        "table",
        "head,relation,tail\n,r,b\n",
        r":2: expected a subject, a relation and an object",
    ),
    "open quote": ("table", 'head,relation,tail\na,r,"b\n', r":2: unexpected end of data"),
    "empty table": ("table", "", r":1: .*got the columns \[\]"),
    "missing subject": ("jsonl", '{"relation": "r"}\n', r":1: expected subject, relation and object, got"),
    "empty object": (
        "jsonl",
        '{"subject": "a", "relation": "r", "object": " "}\n',
        r":1: expected a name as object",
    ),
    "unknown key": (
        "jsonl",
        '{"subject": "a", "relation": "r", "object": "b", "x": 1}\n',
        r":1: unknown keys \['x'\]",
    ),
    "odd qualifier": (
        "jsonl",
        '{"subject": "a", "relation": "r", "object": "b", "qualifiers": [["q"]]}\n',
        r":1: qualifiers: expected pairs of relation and value, got \['q'\]",
    ),
    "text as qualifiers": (
        "jsonl",
        '{"subject": "a", "relation": "r", "object": "b", "qualifiers": "q"}\n',
        r":1: qualifiers: expected a list or an object, got 'q'",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_are_refused_with_file_and_line(case, write):
    format, text, message = BROKEN[case]
    with pytest.raises(ReadError, match=r"broken\.txt" + message):
        list(read(write("broken.txt", text), format))


def test_a_cut_archive_is_refused(write):
    whole = gzip.compress(b"Q1,P1,Q2\n" * 1000)
    with pytest.raises(ReadError, match=r"cut\.txt\.gz:\d+: cannot unpack the file"):
        list(read(write("cut.txt.gz", whole[:-20]), "wd50k"))
    with pytest.raises(ReadError, match=r"no\.txt\.gz:1: cannot unpack the file"):
        list(read(write("no.txt.gz", b"Q1,P1,Q2\n"), "wd50k"))
    with pytest.raises(ReadError, match=r"no\.txt\.bz2:1: cannot unpack the file"):
        list(read(write("no.txt.bz2", b"Q1,P1,Q2\n"), "wd50k"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("\n \n", "the file is empty"),
        ('{"a": 1}\n', r":1: expected a statement or an entity of Wikidata, got keys \['a'\]"),
        ("[\n", ":1: no JSON objects found"),
    ],
)
def test_what_no_format_has_is_said_so(text, message, write):
    with pytest.raises(ReadError, match=message):
        detect(write("x.json", text))


def test_unknown_formats_are_refused(write):
    with pytest.raises(ValueError, match=r"format: expected one of wd50k, .*, got 'xml'"):
        read(write("x.txt", "a,b,c"), "xml")


def _entity(claims, **more):
    return json.dumps({"id": "Q937", "type": "item", "claims": claims, **more})


def _snak(value, kind="wikibase-entityid", snaktype="value"):
    return {"snaktype": snaktype, "datavalue": {"type": kind, "value": value}}


def test_wikidata_dumps_are_streamed(write):
    claims = {
        "P69": [
            {
                "mainsnak": _snak({"id": "Q11942"}),
                "rank": "preferred",
                "qualifiers": {
                    "P512": [_snak({"entity-type": "item", "numeric-id": 3})],
                    "P580": [_snak("+1896", "time")],
                    "P812": [_snak({"id": "Q413"}), _snak({"id": "Q395"})],
                    "P184": [{"snaktype": "somevalue"}],
                },
                "qualifiers-order": ["P812", "P512", "P580", "P184"],
            },
            {"mainsnak": _snak({"id": "Q1"}), "rank": "deprecated"},
        ],
        "P40": [{"mainsnak": {"snaktype": "novalue"}}, {"mainsnak": {"snaktype": "somevalue"}}],
        "P569": [{"mainsnak": _snak("+1879", "time")}],
    }
    einstein = _entity(claims, labels={"en": {"value": "Albert Einstein"}, "de": {"value": "A. E."}})
    bare = '{"id": "P69", "type": "property", "labels": [], "claims": []}'
    path = write("dump.json.bz2", bz2.compress(f"[\n{einstein},\n{bare}\n]\n".encode()))
    assert detect(path) == "wikidata"
    assert list(read(path)) == [
        Label("Q937", "Albert Einstein"),
        Dropped("literal as qualifier value"),
        Dropped("somevalue as qualifier value"),
        Statement("Q937", "P69", "Q11942", (("P812", "Q413"), ("P812", "Q395"), ("P512", "Q3"))),
        Dropped("deprecated"),
        Dropped("novalue as object"),
        Dropped("somevalue as object"),
        Dropped("literal as object"),
    ]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("listed", [False, True])
def test_documents_of_wikidata_are_read_whole(indent, listed, write):
    claims = {"P69": [{"mainsnak": _snak({"id": "Q11942"})}]}
    found = {"Q937": json.loads(_entity(claims)), "Q0": {"id": "Q0", "missing": ""}}
    entities = list(found.values()) if listed else found
    path = write("Q937.json", json.dumps({"entities": entities, "success": 1}, indent=indent))
    assert detect(path) == "wikidata"
    assert list(read(path)) == [Statement("Q937", "P69", "Q11942"), Dropped("missing entity")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"entities": 1}', "expected entities of Wikidata under the key 'entities'"),
        ('{"entities": [1]}', "expected an entity of Wikidata, got '1'"),
        ('{\n"entities": {', "expected a JSON object"),
    ],
)
def test_broken_documents_of_wikidata_are_refused(text, message, write):
    with pytest.raises(ReadError, match=rf"Q1\.json:1: {message}"):
        list(read(write("Q1.json", text)))


def test_documents_of_wikidata_have_a_limit(write, monkeypatch):
    monkeypatch.setattr("hyperheat.kg.readers.wikidata.MAX_LINE", 40)
    path = write("Q1.json", json.dumps({"entities": {f"Q{i}": {"id": f"Q{i}"} for i in range(9)}}, indent=1))
    with pytest.raises(ReadError, match="the document is longer than 40 characters; use a dump instead"):
        list(read(path))


@pytest.mark.parametrize(
    "broken",
    [
        '{"type": "item"}',
        _entity({"P69": [{}]}),
        _entity({"P69": [1]}),
        _entity({"P69": [{"mainsnak": {"snaktype": "value"}}]}),
        _entity({"P69": [{"mainsnak": _snak({"entity-type": "lexeme", "numeric-id": 1})}]}),
        _entity({"P69": [{"mainsnak": _snak({"id": "Q1"}), "qualifiers-order": ["P1"]}]}),
        _entity([1]),
        '{"id": 1, "type": "item"}',
        '{"id": "Q1", "type": "item", "labels": {"en": {"value": 1}}}',
        _entity({"P69": [{"mainsnak": _snak({"id": ["Q1"]})}]}),
        '{"id": "Q1", "type": "item", "claims": {',
    ],
)
def test_broken_entities_of_wikidata_are_refused_with_their_line(broken, write):
    with pytest.raises(ReadError, match=r"dump\.json:2: expected "):
        list(read(write("dump.json", f"[\n{broken},\n"), "wikidata"))


pieces = st.sampled_from(
    [*(text for _, text, _ in GOOD.values()), ",", "\t", "\n", '"', "{", "}", "[", "null", "Q1", ""]
)
values = st.recursive(
    st.none() | st.integers(0, 3) | st.sampled_from(["Q1", "value", "wikibase-entityid", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["id", "type", "snaktype", "datavalue", "value", "mainsnak", "qualifiers", "P1", "en"]
            ),
            inner,
        )
    ),
    max_leaves=12,
)


@given(st.sampled_from(sorted(GOOD)), st.lists(pieces | st.text(max_size=5), max_size=6).map("".join))
def test_no_text_breaks_a_reader(format, text):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "facts.txt"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        with suppress(ReadError):
            Statements.build(item for item in read(path, format) if isinstance(item, Statement))
        with suppress(ReadError):
            detect(path)


@given(values, values, values)
def test_no_entity_breaks_the_reader_of_wikidata(claims, claim, snak):
    entity = {"id": "Q1", "claims": {"P1": [claim, {"mainsnak": snak, "qualifiers": claims}], "P2": claims}}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "dump.json"
        path.write_text(json.dumps(entity))
        with suppress(ReadError):
            Statements.build(item for item in read(path, "wikidata") if isinstance(item, Statement))


def test_every_format_is_tested():
    assert set(GOOD) | {"parquet", "rdf", "wikidata"} == set(FORMATS)
