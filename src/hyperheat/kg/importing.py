"""`kg import`: a data set in one form, with a report of what was kept, dropped, repeated and leaked."""

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from hyperheat.files import whole_file
from hyperheat.kg.datasets import Dataset
from hyperheat.kg.keys import number_statements
from hyperheat.kg.leaks import find_leaks
from hyperheat.kg.readers import jsonl
from hyperheat.kg.statements import Statements, concatenate

__all__ = ["report", "save"]


def save(dataset: Dataset, folder: Path) -> dict[str, Any]:
    """Write `train.jsonl` and the other splits, `labels.tsv` and `report.json`; return the report.

    The folder is itself a data set that `datasets.load` reads.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for split, statements in dataset.splits.items():
        path = folder / f"{split}.jsonl"
        if statements:
            jsonl.write(statements, path)
        else:
            path.unlink(missing_ok=True)  # of an earlier import into the same folder
    with whole_file(folder / "labels.tsv") as temporary, temporary.open("w", encoding="utf-8") as file:
        for name, label in sorted(dataset.labels.items()):
            if text := " ".join(label.split()):
                file.write(f"{name}\t{text}\n")
    result = report(dataset)
    with whole_file(folder / "report.json") as temporary:
        temporary.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return result


def report(dataset: Dataset) -> dict[str, Any]:
    """What a data set holds: counts, drops by reason, duplicates, labels, and leaks into valid and test."""
    entities, relations = dataset.train.entities, dataset.train.relations
    named = dataset.labels.keys()
    return {
        "source": dataset.source,
        "format": dataset.format,
        "dataset": dataset.identify(),
        "entities": len(entities),
        "relations": len(relations),
        "also_relations": len(set(entities) & set(relations)),
        "labelled_entities": len(named & set(entities)),
        "labelled_relations": len(named & set(relations)),
        "labels_of_unknown_ids": len(named - set(entities) - set(relations)),
        "splits": {
            split: _describe(statements, dataset.dropped.get(split, Counter()))
            for split, statements in dataset.splits.items()
            if statements
        },
        "leaks": _leaks(dataset),
        "unseen_entities": {
            split: _unseen(training, statements) for split, training, statements in _evaluations(dataset)
        },
    }


def _describe(statements: Statements, dropped: Counter[str]) -> dict[str, Any]:
    return {
        "statements": len(statements),
        "with_qualifiers": int((statements.num_qualifiers > 0).sum()),
        "duplicates": len(statements) - len(np.unique(number_statements(statements))),
        "dropped": dict(sorted(dropped.items())),
        "sha256": statements.digest(),
    }


def _leaks(dataset: Dataset) -> dict[str, dict[str, int]]:
    return {
        split: asdict(find_leaks(training, statements))
        for split, training, statements in _evaluations(dataset)
    }


def _evaluations(dataset: Dataset) -> list[tuple[str, Statements, Statements]]:
    """The splits to evaluate on, each with what may be trained on before: valid after train, test after both."""
    before_test = concatenate([dataset.train, dataset.valid])
    rows = [("valid", dataset.train, dataset.valid), ("test", before_test, dataset.test)]
    return [row for row in rows if row[2]]


def _unseen(training: Statements, checked: Statements) -> int:
    """How many entities of the checked statements no training statement holds."""
    return len(np.setdiff1d(checked.memberships()[1], training.memberships()[1]))
