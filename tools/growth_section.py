"""The sections on large graphs and large dumps of the page of models that complete statements."""

from typing import Any

from tables import number, table

_COLUMNS = {
    "recipe": "recipe",
    "statements": "statements",
    "entities": "entities",
    "training_ms_per_question": "training ms",
    "training_growth": "growth",
    "encoding_s": "encoding s",
    "answering_ms_per_question": "answering ms",
    "answering_growth": "growth",
    "peak_mb": "peak MB",
}


def growth_section(bounded: list[dict[str, Any]], whole: list[dict[str, Any]]) -> list[str]:
    """What `python -m benchmarks.kg_growth --json` printed for a recipe with bounds, and for one without."""
    rows = [[_cell(key, record[key]) for key in _COLUMNS] for record in (*bounded, *whole)]
    return [
        "How time and memory grow with the graph, on made-up statements: as many qualifiers as in WD50K(100), a fifth as many",
        "entities as statements, of which few are in very many. `heat-large` has [bounds](../knowledge-graphs.md#large-graphs) on what a",
        "batch encodes and scores; `heat` encodes the whole graph for each batch and scores all candidates. Both have one HEAT layer,",
        "width 128 and batches of 1,024 questions.",
        "",
        *table(list(_COLUMNS.values()), rows),
        "",
        "*training ms*, *answering ms*: CPU milliseconds of one core per question. Training includes loading and the update of the",
        "weights; answering is the search for the ten best of all entities, after the graph has been *encoded* once. *growth*: how",
        "many times the row above. *peak MB*: the most memory that the process held, from making the statements to the last answer.",
        "This measures speed; made-up statements say nothing about accuracy.",
    ]


_IMPORT = {
    "statements": "statements",
    "entities": "entities",
    "dump_mb": "dump MB",
    "core_seconds": "core s",
    "statements_per_s": "statements per s",
    "mb_per_s": "MB per s",
    "peak_mb": "peak MB",
}


def import_section(records: list[dict[str, Any]]) -> list[str]:
    """What `python -m benchmarks.kg_import --json` printed, and what that means for a larger dump."""
    small, large = records[0], records[-1]
    more = large["statements"] - small["statements"]
    kilobytes = (large["peak_mb"] - small["peak_mb"]) / more * 1_000
    hours = 100e6 / large["statements_per_s"] / 3_600
    return [
        "`hyperheat kg import` of made-up dumps in the form of Wikidata's, compressed with gzip: reading, the report on duplicates and",
        "leaks, and writing. Beside each statement there is a claim with a literal, which is dropped. The text is streamed; what",
        "stays in memory are the names of entities and, for each statement, some numbers.",
        "",
        *table(list(_IMPORT.values()), [[number(record[key]) for key in _IMPORT] for record in records]),
        "",
        "*core s*: what one core works. *dump MB*: before compression. *peak MB*: the process held at most this.",
        f"From the smaller dump to the larger one, a statement takes at most {kilobytes:.2f} KB; so 100 million statements take at most about",
        f"{100e3 * kilobytes / 1_000:,.0f} GB and {hours:.1f} hours of one core. That is a projection, not a measurement.",
    ]


def _cell(key: str, value: Any) -> str:
    if value is None:
        return ""
    if key.endswith("growth"):
        return f"{value:.1f}x"
    return f"{value:.2f}" if key.endswith("ms_per_question") else number(value)
