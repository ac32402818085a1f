"""What a data set holds: counts, dropped items, duplicates, and what training data gives away about other splits."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hyperheat.files import whole_file, write_whole_text
from hyperheat.kg.datasets import StatementDataset
from hyperheat.kg.readers.json_lines import write_json_lines
from hyperheat.kg.statements import Statements, concatenate, expand, number_statements, number_triples

__all__ = ["Leaks", "audit", "find_leaks", "has_equal_triple", "save_dataset"]


def save_dataset(dataset: StatementDataset, folder: Path) -> dict[str, Any]:
    """Write `train.jsonl` and the other splits, `labels.tsv` and `report.json`; return the report.

    `read_dataset` reads the folder again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for split, statements in dataset.splits.items():
        path = folder / f"{split}.jsonl"
        if statements:
            write_json_lines(statements, path)
        else:
            path.unlink(missing_ok=True)  # of an earlier import into the same folder
    with whole_file(folder / "labels.tsv") as temporary, temporary.open("w", encoding="utf-8") as file:
        for name, label in sorted(dataset.labels.items()):
            if text := " ".join(label.split()):
                file.write(f"{name}\t{text}\n")
    report = audit(dataset)
    write_whole_text(folder / "report.json", json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    return report


def audit(dataset: StatementDataset) -> dict[str, Any]:
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


def _leaks(dataset: StatementDataset) -> dict[str, dict[str, int]]:
    return {
        split: asdict(find_leaks(training, statements))
        for split, training, statements in _evaluations(dataset)
    }


def _evaluations(dataset: StatementDataset) -> list[tuple[str, Statements, Statements]]:
    """The splits to evaluate on, each with what may be trained on before: valid after train, test after both."""
    before_test = concatenate([dataset.train, dataset.valid])
    rows = [("valid", dataset.train, dataset.valid), ("test", before_test, dataset.test)]
    return [row for row in rows if row[2]]


def _unseen(training: Statements, checked: Statements) -> int:
    """How many entities of the checked statements no training statement holds."""
    return len(np.setdiff1d(checked.memberships()[1], training.memberships()[1]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaks:
    """How many of the checked statements have in the training data ..."""

    statements: int
    """checked in all"""
    equal_statements: int
    """an equal statement, qualifiers included"""
    equal_triples: int
    """a statement with the same subject, relation and object"""
    main_pairs: int
    """a statement that holds their subject and object, in whatever roles"""
    entity_sets: int
    """a statement with another main triple that holds all their entities, in whatever roles"""


def find_leaks(training: Statements, checked: Statements) -> Leaks:
    """Count the leaks from training statements into the checked ones; both share their tables."""
    pairs = np.stack([checked.subject, checked.object], axis=1)
    owner = np.repeat(np.arange(len(checked)), 2)
    return Leaks(
        statements=len(checked),
        equal_statements=int(_is_seen(number_statements, training, checked).sum()),
        equal_triples=int(has_equal_triple(training, checked).sum()),
        main_pairs=len(np.unique(_holders(training, owner, pairs.reshape(-1))[0])),
        entity_sets=_entity_sets(training, checked),
    )


def has_equal_triple(training: Statements, checked: Statements) -> np.ndarray:
    """Which of the checked statements have a main triple of the training data: a mask."""
    return _is_seen(number_triples, training, checked)


def _is_seen(
    number: Callable[[Statements], np.ndarray], training: Statements, checked: Statements
) -> np.ndarray:
    numbers = number(concatenate([training, checked]))
    return np.isin(numbers[len(training) :], numbers[: len(training)])


def _entity_sets(training: Statements, checked: Statements) -> int:
    found, holder = _holders(training, *checked.memberships())
    triples = number_triples(concatenate([training, checked]))
    other = triples[len(training) + found] != triples[holder]
    return len(np.unique(found[other]))


def _holders(training: Statements, owner: np.ndarray, entity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (set, statement of training that holds it); set i has the entities where owner is i."""
    num_entities = len(training.entities)
    held_by, held = training.memberships()
    codes = np.unique(held.astype(np.int64) * len(training) + held_by)  # sorted by entity, then by statement
    bounds = np.searchsorted(codes, np.arange(num_entities + 1) * len(training))
    degree = np.diff(bounds)

    order = np.lexsort((degree[entity], owner))  # of each set, the rarest entity first
    owner, entity = owner[order], entity[order]
    place = np.arange(len(owner)) - np.searchsorted(owner, owner)
    first = place == 0
    chosen, places = expand(bounds[entity[first]], degree[entity[first]])
    found, holder = owner[first][chosen], codes[places] % max(len(training), 1)
    member = np.full(owner.max(initial=-1) + 1, -1)
    for k in range(1, place.max(initial=0) + 1):
        at_k = place == k
        member[:] = -1
        member[owner[at_k]] = entity[at_k]
        larger = np.flatnonzero(member[found] >= 0)  # the smaller sets are found whole already
        wanted = member[found[larger]].astype(np.int64) * len(training) + holder[larger]
        lacking = larger[~_is_in(wanted, codes)]
        found, holder = np.delete(found, lacking), np.delete(holder, lacking)
    return found, holder


def _is_in(values: np.ndarray, ordered: np.ndarray) -> np.ndarray:
    places = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return ordered[places] == values
