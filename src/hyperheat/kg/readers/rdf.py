"""RDF 1.2 and RDF-star: Turtle, TriG, N-Triples, N-Quads, RDF/XML and JSON-LD. Needs pyoxigraph.

A triple is a statement; the triples about its reifier, `<< :s :p :o >> :q :v` or `:s :p :o {| :q :v |}`, are its
qualifiers. With several reifiers it is several statements. Wikidata's statement nodes (`p:`, `ps:`, `pq:`) are read as
well; its direct triples (`wdt:`) count only where there are none. Its addresses are shortened to `Q937` and `P69`.

Dropped and counted: literals, triples that are reified but never asserted, deprecated claims, and other triples about
Wikidata's statement nodes. Labels (`rdfs:label`) are kept if they are English or have no language. The file is held in
memory, since qualifiers may be anywhere in it.
"""

import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyperheat.extras import require
from hyperheat.kg.readers.items import Dropped, Item, Label, ReadError, open_bytes
from hyperheat.kg.statements import Statement

__all__ = ["RDF_EXTENSIONS", "read_rdf"]

RDF_EXTENSIONS = ("ttl", "trig", "nt", "nq", "rdf", "jsonld", "n3")
_REIFIES = "http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies"
_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
_RANK, _DEPRECATED = (f"http://wikiba.se/ontology#{name}" for name in ("rank", "DeprecatedRank"))
_WIKIDATA = "http://www.wikidata.org/"
_STATEMENT = f"{_WIKIDATA}entity/statement/"
_CLAIM = f"{_WIKIDATA}prop/"
_OBJECT, _QUALIFIER, _DIRECT = (f"{_CLAIM}{part}/" for part in ("statement", "qualifier", "direct"))

_Pair = tuple[str, Any]  # a predicate and a term of pyoxigraph
Triple = tuple[str, str, str]


@dataclass(slots=True)
class _Graph:
    """The triples of a file by their subject, and the reifiers of reified ones."""

    about: dict[str, list[_Pair]] = field(default_factory=lambda: defaultdict(list))
    reifiers: dict[Triple, list[str]] = field(default_factory=lambda: defaultdict(list))


def read_rdf(path: Path) -> Iterator[Item]:
    """Yield the statements and labels of a file, and what was dropped."""
    graph = _parse(path)
    inner = {node for nodes in graph.reifiers.values() for node in nodes}
    inner |= {node for node in graph.about if node.startswith(_STATEMENT)}
    has_claims = any(node.startswith(_STATEMENT) for node in inner)
    asserted = set()
    for subject, pairs in graph.about.items():
        if subject in inner:
            continue
        for predicate, term in pairs:
            if predicate.startswith(_DIRECT) and has_claims:
                yield Dropped("direct copy of a claim")
            elif predicate.startswith(_CLAIM) and _name(term).startswith(_STATEMENT):
                yield from _claim(graph, subject, _name(term))
            elif _is_name(term):
                triple = (subject, predicate, _name(term))
                asserted.add(triple)
                yield from _reified(graph, triple)
            else:
                yield _label_or_dropped(subject, predicate, term)
    for triple in graph.reifiers:
        if triple not in asserted:
            yield Dropped("reified but not asserted")


def _parse(path: Path) -> _Graph:
    pyoxigraph = require("pyoxigraph", extra="train")
    name = path.name.removesuffix(".gz").removesuffix(".bz2")
    rdf_format = pyoxigraph.RdfFormat.from_extension(name.rpartition(".")[2])
    if rdf_format is None:
        raise ReadError(
            path, None, f"expected an extension such as {', '.join(RDF_EXTENSIONS)}, got {name!r}"
        )
    graph = _Graph()
    try:
        with open_bytes(path) as file:
            for quad in pyoxigraph.parse(file, rdf_format):
                subject, predicate, term = _name(quad.subject), quad.predicate.value, quad.object
                if predicate == _REIFIES and isinstance(term, pyoxigraph.Triple):
                    triple = (_name(term.subject), term.predicate.value, _name(term.object))
                    graph.reifiers[triple].append(subject)
                else:
                    graph.about[subject].append((predicate, term))
    except (SyntaxError, ValueError, EOFError, OSError, MemoryError, zlib.error) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        raise ReadError(path, line, f"expected {rdf_format.name}, got: {error}") from None
    return graph


def _reified(graph: _Graph, triple: Triple) -> Iterator[Item]:
    """The statement of an asserted triple, or one for each of its reifiers."""
    subject, predicate, obj = triple
    for pairs in [graph.about.get(node, []) for node in graph.reifiers.get(triple, ())] or [[]]:
        kept = tuple((_short(name), _short(_name(term))) for name, term in pairs if _is_name(term))
        for _ in range(len(pairs) - len(kept)):
            yield Dropped("literal as qualifier value")
        yield Statement(_short(subject), _short(predicate), _short(obj), kept)


def _claim(graph: _Graph, subject: str, node: str) -> Iterator[Item]:
    """The statement of one of Wikidata's statement nodes."""
    pairs = graph.about.get(node, [])
    if any(predicate == _RANK and _name(term) == _DEPRECATED for predicate, term in pairs):
        yield Dropped("deprecated")
        return
    main = None
    qualifiers = []
    for predicate, term in pairs:
        space = predicate[: predicate.rfind("/") + 1]
        if space not in (_OBJECT, _QUALIFIER):
            yield Dropped("bookkeeping of a claim")
        elif space == _OBJECT:
            main = (_short(predicate), term)
        elif _is_entity(term):
            qualifiers.append((_short(predicate), _short(_name(term))))
        else:
            yield Dropped(f"{_kind(term)} as qualifier value")
    if main is None:
        yield Dropped("claim without a value")
    elif _is_entity(main[1]):
        yield Statement(_short(subject), main[0], _short(_name(main[1])), tuple(qualifiers))
    else:
        yield Dropped(f"{_kind(main[1])} as object")


def _label_or_dropped(subject: str, predicate: str, term: Any) -> Item:
    if predicate != _LABEL:
        return Dropped("literal as object")
    if getattr(term, "language", None) not in (None, "en"):
        return Dropped("label in another language")
    return Label(_short(subject), term.value)


def _is_name(term: Any) -> bool:
    return type(term).__name__ in ("NamedNode", "BlankNode")


def _is_entity(term: Any) -> bool:
    return type(term).__name__ == "NamedNode" and term.value.startswith(f"{_WIKIDATA}entity/")


def _kind(term: Any) -> str:
    """What a claim has in place of an entity: in Wikidata a blank node is an unknown value."""
    return "somevalue" if type(term).__name__ == "BlankNode" else "literal"


def _name(term: Any) -> str:
    """The address of a node, or the whole text of a blank node, a literal or a triple."""
    return term.value if type(term).__name__ == "NamedNode" else str(term)


def _short(name: str) -> str:
    """`Q937` and `P69` for the addresses of Wikidata, any other name as it is."""
    if name.startswith((f"{_WIKIDATA}entity/", _CLAIM)):
        return name.rpartition("/")[2]
    return name
