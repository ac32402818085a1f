"""Readers of statements: from a file in some format to a stream of statements, labels and notes of what was dropped.

A reader is a function `read_format(path: Path) -> Iterator[Item]`. To add one:

1. Write it in a new file here, or beside a related format. Read lines with `items.lines` or bytes with `items.open_bytes`,
   which unpack gzip and bzip2 and guard against oversized input. Yield `Statement` and `Label`; yield `Dropped(reason)` for
   what a statement cannot hold, and raise `ReadError(path, line, problem)` for what breaks the format.
2. List it in `FORMATS` below, and in `Format` in `hyperheat/cli/kg.py`, under the name for `--format`.
3. If files can be recognised, teach `detect` their extension or their first lines.
4. Add a case to `tests/kg/test_readers.py`, and a broken file to `BROKEN` in `tests/kg/test_refusals.py`.
5. Add a row to the table in `docs/knowledge-graphs.md`, and the format to the list in `README.md`.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from hyperheat.kg.readers.items import Dropped, Item, Label, ReadError, lines, parse_object
from hyperheat.kg.readers.json_lines import read_json_lines
from hyperheat.kg.readers.published import is_instance, read_jf17k, read_wd50k, read_wikipeople
from hyperheat.kg.readers.rdf import RDF_EXTENSIONS, read_rdf
from hyperheat.kg.readers.tables import is_header, read_csv, read_parquet
from hyperheat.kg.readers.wikidata import opens_document, read_wikidata

__all__ = ["FORMATS", "Dropped", "Item", "Label", "ReadError", "detect", "read"]

FORMATS: dict[str, Callable[[Path], Iterator[Item]]] = {
    "wd50k": read_wd50k,
    "wikipeople": read_wikipeople,
    "jf17k": read_jf17k,
    "table": read_csv,
    "jsonl": read_json_lines,
    "parquet": read_parquet,
    "rdf": read_rdf,
    "wikidata": read_wikidata,
}
_BY_EXTENSION = {"parquet": "parquet", **dict.fromkeys(RDF_EXTENSIONS, "rdf")}
_LINES_TO_LOOK_AT = 50


def read(path: Path, format: str | None = None) -> Iterator[Item]:
    """Stream the items of a file, in the given or the detected format."""
    name = format or detect(path)
    if name not in FORMATS:
        raise ValueError(f"format: expected one of {', '.join(FORMATS)}, got {name!r}")
    return FORMATS[name](path)


def detect(path: Path) -> str:
    """The format of a file, by its extension or, for text, by its first lines."""
    extension = path.name.removesuffix(".gz").removesuffix(".bz2").rpartition(".")[2].lower()
    if extension in _BY_EXTENSION:
        return _BY_EXTENSION[extension]
    head = list(islice(lines(path), _LINES_TO_LOOK_AT))
    if not head:
        raise ReadError(path, None, "the file is empty")
    first = head[0][1].strip()
    if first.startswith(("{", "[")):
        return _detect_json(path, head)
    if is_header(first):
        return "table"
    return _detect_tabs(path, head) if "\t" in first else "wd50k"


def _detect_tabs(path: Path, head: list[tuple[int, str]]) -> str:
    """The format of lines with tabs: the subject comes first in WD50K, the relation in JF17K.

    A name is an entity or a relation, not both. If that does not decide between the two, the file is refused.
    """
    rows = [[token.strip() for token in line.split("\t")] for _, line in head]
    if any(len(row) % 2 == 0 for row in rows) or is_instance(rows[0][0]):
        return "jf17k"
    at_odd_places, at_even_places, first, later = (
        {token for row in rows for token in row[places]}
        for places in (slice(1, None, 2), slice(0, None, 2), slice(0, 1), slice(1, None))
    )
    may_be_wd50k = at_odd_places.isdisjoint(at_even_places)
    if may_be_wd50k != first.isdisjoint(later):
        return "wd50k" if may_be_wd50k else "jf17k"
    number, line = head[0]
    raise ReadError(
        path,
        number,
        f"cannot tell which column is the relation: {line[:60]!r}; add a header line (head, relation, tail), or "
        "use --format jf17k if the relation comes first and --format wd50k if the subject does",
    )


def _detect_json(path: Path, head: list[tuple[int, str]]) -> str:
    if opens_document(head[0][1]):
        return "wikidata"
    for number, line in head:
        text = line.strip().rstrip(",")
        if text == "[":
            continue
        keys = parse_object(path, number, text).keys()
        if "subject" in keys:
            return "jsonl"
        if any(key.endswith("_h") for key in keys):
            return "wikipeople"
        if {"id", "type"} <= keys:
            return "wikidata"
        raise ReadError(
            path, number, f"expected a statement or an entity of Wikidata, got keys {sorted(keys)[:8]}"
        )
    raise ReadError(path, head[0][0], "no JSON objects found; expected one on each line")
