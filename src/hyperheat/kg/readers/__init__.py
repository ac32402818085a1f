"""Readers of statements, one file per format; each streams statements, labels and what it drops."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from hyperheat.kg.readers import jf17k, jsonl, parquet, rdf, table, wd50k, wikidata, wikipeople
from hyperheat.kg.readers.stream import Dropped, Item, Label, ReadError, lines, parse_object

__all__ = ["FORMATS", "Dropped", "Item", "Label", "ReadError", "detect", "read"]

FORMATS: dict[str, Callable[[Path], Iterator[Item]]] = {
    "wd50k": wd50k.read,
    "wikipeople": wikipeople.read,
    "jf17k": jf17k.read,
    "table": table.read,
    "jsonl": jsonl.read,
    "parquet": parquet.read,
    "rdf": rdf.read,
    "wikidata": wikidata.read,
}
_BY_EXTENSION = {"parquet": "parquet", **dict.fromkeys(rdf.EXTENSIONS, "rdf")}
_LINES_TO_LOOK_AT = 50


def read(path: Path, format: str | None = None) -> Iterator[Item]:
    """Stream what a file says, in the format that is named or detected."""
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
        raise ReadError(path, None, "expected statements, got an empty file")
    first = head[0][1].strip()
    if first.startswith(("{", "[")):
        return _detect_json(path, head)
    if _is_header(first):
        return "table"
    if "\t" not in first:
        return "wd50k"
    if any(line.count("\t") != 2 for _, line in head):
        return "jf17k"
    raise ReadError(
        path,
        head[0][0],
        "expected a header line (head, relation, tail), --format jf17k where the relation comes first, or "
        f"--format wd50k where the subject does; got three columns that could be either: {first[:60]!r}",
    )


def _is_header(line: str) -> bool:
    names = {name.strip().lower() for name in line.replace("\t", ",").split(",")}
    return "relation" in names and bool(names & {"head", "subject"})


def _detect_json(path: Path, head: list[tuple[int, str]]) -> str:
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
    raise ReadError(path, head[0][0], "expected JSON objects, one a line, got none")
