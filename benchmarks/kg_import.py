"""How fast a dump of Wikidata's form is imported, and how much memory that takes."""

import gzip
import json as json_module
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command import Positive, fail, print_records, run
from benchmarks.kg_growth import skewed_statements
from hyperheat.kg import Statements

__all__ = ["dump_lines", "main", "measure_import", "write_dump"]

_LANGUAGES = ("de", "en", "fr")


def dump_lines(statements: Statements) -> Iterator[str]:
    """The lines of a dump that holds these statements, by subject; each of them has a literal beside it."""
    yield "[\n"
    entity, claims = None, {}
    order = statements.subject.argsort(kind="stable")
    for s in statements[order]:
        if s.subject != entity:
            if entity is not None:
                yield _entity(entity, claims) + ",\n"
            entity, claims = s.subject, {}
        claims.setdefault(s.relation, []).extend(
            [_claim(s.relation, s.object, s.qualifiers), _literal(s.relation)]
        )
    if entity is not None:
        yield _entity(entity, claims) + "\n"
    yield "]\n"


def _entity(name: str, claims: dict[str, list[dict[str, Any]]]) -> str:
    labels = {language: {"language": language, "value": f"{name} in {language}"} for language in _LANGUAGES}
    head = {"type": "item", "id": name, "labels": labels, "descriptions": {}, "aliases": {}}
    return json_module.dumps({**head, "claims": claims, "sitelinks": {}}, separators=(",", ":"))


def _claim(relation: str, value: str, qualifiers: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    told: dict[str, list[dict[str, Any]]] = {}
    for name, entity in qualifiers:
        told.setdefault(name, []).append({**_snak(name, entity), "hash": "0" * 40})
    claim = {"mainsnak": _snak(relation, value), "type": "statement", "id": f"{value}$0", "rank": "normal"}
    return claim if not told else {**claim, "qualifiers": told, "qualifiers-order": list(told)}


def _snak(relation: str, entity: str) -> dict[str, Any]:
    value = {"entity-type": "item", "numeric-id": int(entity[1:]), "id": entity}
    data = {"value": value, "type": "wikibase-entityid"}
    return {"snaktype": "value", "property": relation, "datavalue": data, "datatype": "wikibase-item"}


def _literal(relation: str) -> dict[str, Any]:
    data = {"value": "2006", "type": "string"}
    snak = {"snaktype": "value", "property": relation, "datavalue": data, "datatype": "external-id"}
    return {"mainsnak": snak, "type": "statement", "id": "literal$0", "rank": "normal"}


def _even_subjects(statements: Statements) -> Statements:
    """The same with subjects drawn evenly: items are the object of any number of statements, but the subject of few."""
    drawn = np.random.default_rng(0).integers(0, len(statements.entities), len(statements))
    return replace(statements, subject=drawn)


def write_dump(count: int, path: Path) -> int:
    """Write a dump of so many statements, and return its size before compression."""
    size = 0
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as file:
        for line in dump_lines(_even_subjects(skewed_statements(count))):
            size += file.write(line)
    return size


def measure_import(count: int, folder: Path) -> dict[str, Any]:
    """Write a dump of so many statements to a folder, and import it, each in a process of its own.

    The most memory that Linux reports of a process counts what its parent held when it was started, so this one stays small.
    """
    dump = folder / "dump.json.gz"
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        size = pool.submit(write_dump, count, dump).result()
    command = [sys.executable, "-m", "hyperheat", "kg", "import", str(dump), "--to", str(folder / "imported")]
    start = time.monotonic()
    report = folder / "report.json"
    with report.open("wb") as file:
        process = subprocess.Popen([*command, "--json"], stdout=file)
        _, status, usage = os.wait4(process.pid, 0)  # which alone tells the memory of a single process
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise ValueError(f"{count:,} statements: the import ended with exit code {process.returncode}")
    found = json_module.loads(report.read_text())
    seconds = usage.ru_utime + usage.ru_stime
    return {
        "statements": found["splits"]["train"]["statements"],
        "entities": found["entities"],
        "dump_mb": round(size / 1e6),
        "seconds": round(time.monotonic() - start, 1),
        "core_seconds": round(seconds, 1),
        "statements_per_s": round(count / seconds),
        "mb_per_s": round(size / 1e6 / seconds, 1),
        "peak_mb": round(usage.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)),
    }


def main(*, statements: list[Positive] | None = None, json: bool = False) -> None:
    """Write dumps of made-up statements in Wikidata's form, and import them with `hyperheat kg import`.

    As many claims again have literals, which the import drops. Rates are per second that a core works, from reading the
    compressed dump to the last line of the report. Memory is the most that the import ever held.

    Parameters
    ----------
    statements
        Other numbers of statements than a million and ten millions.
    json
        Print a list of records.
    """
    columns = {
        "statements": "statements",
        "entities": "entities",
        "dump_mb": "dump MB",
        "core_seconds": "core s",
        "statements_per_s": "per second",
        "mb_per_s": "MB/s",
        "peak_mb": "peak MB",
    }

    def records() -> Iterator[dict[str, Any]]:
        for count in statements or [1_000_000, 10_000_000]:
            with tempfile.TemporaryDirectory() as folder:
                yield measure_import(count, Path(folder))

    try:
        print_records(records(), columns, as_json=json)
    except (ValueError, OSError) as error:
        fail(error)


if __name__ == "__main__":
    run(main)
