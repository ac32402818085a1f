"""One name for one thing: public classes and modules whose names occur more than once, and why they may."""

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "hyperheat"

MODULES: dict[str, str] = {
    "graph": "the data type, and the command named after it",
    "heat": "the network, and the heat map of a report: both are called so by their users",
    "jsonl": "the file format, of graphs and of reports",
    "recipes": "of detectors and of statement models",
    "training": "of detectors and of statement models",
}
"""Names of several modules, each with the reason."""

CLASSES: dict[str, str] = {}
"""Names of several public classes, each with the reason."""


def repeated_modules() -> dict[str, list[str]]:
    """The paths of modules that have the same file name."""
    places = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        if not path.stem.startswith("__"):
            places[path.stem].append(str(path.relative_to(SOURCE)))
    return {name: found for name, found in places.items() if len(found) > 1}


def repeated_classes() -> dict[str, list[str]]:
    """The modules of public classes, at the top level of a module, that have the same name."""
    places = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(SOURCE)))
    return {name: found for name, found in places.items() if len(found) > 1}


def test_no_two_modules_share_a_name_without_a_reason():
    found = repeated_modules()
    assert {name: places for name, places in found.items() if name not in MODULES} == {}
    assert set(MODULES) <= set(found), "allowed for no reason any more"


def test_no_two_classes_share_a_name_without_a_reason():
    found = repeated_classes()
    assert {name: places for name, places in found.items() if name not in CLASSES} == {}
    assert set(CLASSES) <= set(found), "allowed for no reason any more"
