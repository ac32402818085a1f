"""One name for one thing: public types and modules whose names occur more than once, and why they may."""

import ast
import re
from collections import defaultdict
from pathlib import Path
from typing import get_args

from hyperheat.cli.options import Tier
from hyperheat.detector.alarms import TIERS
from hyperheat.report import LEVELS

SOURCE = Path(__file__).parents[2] / "src" / "hyperheat"

MODULES: dict[str, str] = {
    "bugs": "a package, and the commands that call it",
    "check": "a package, and the command that calls it",
    "demo": "the command, and the data of the other command of this name",
    "detector": "the package opens with the module that loads what it is named after",
    "graph": "the data type, and the command that shows it",
    "kg": "a package, and the commands that call it",
    "lsp": "a package, and the command that calls it",
    "recipes": "both tasks have them, and their packages are built alike",
    "reproduce": "a package, and the command that calls it",
    "training": "both tasks have it, and their packages are built alike",
}
"""Names of several modules or packages, each with the reason."""

TYPES: dict[str, str] = {}
"""Names of several public classes or type aliases, each with the reason."""

ALIAS = re.compile(r"(?:[A-Z][a-z0-9]+)+")


def repeated_modules() -> dict[str, list[str]]:
    """The paths of modules and packages that have the same name."""
    places = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.parent.name if path.stem == "__init__" else path.stem
        if not name.startswith("__"):
            places[name].append(str(path.relative_to(SOURCE)))
    return {name: found for name, found in places.items() if len(found) > 1}


def type_name(node: ast.stmt) -> str | None:
    """The name of the public class or type alias that a statement defines; type variables are no types of their own."""
    match node:
        case ast.ClassDef(name=name) if not name.startswith("_"):
            return name
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.Subscript() | ast.BinOp() | ast.Name() | ast.Attribute()
        ):
            return name if ALIAS.fullmatch(name) else None
    return None


def repeated_types() -> dict[str, list[str]]:
    """The modules of public classes and aliases, at the top level of a module, that have the same name."""
    places = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if name := type_name(node):
                places[name].append(str(path.relative_to(SOURCE)))
    return {name: found for name, found in places.items() if len(found) > 1}


def test_no_two_modules_share_a_name_without_a_reason():
    found = repeated_modules()
    assert {name: places for name, places in found.items() if name not in MODULES} == {}
    assert set(MODULES) <= set(found), "allowed for no reason any more"


def test_no_two_types_share_a_name_without_a_reason():
    found = repeated_types()
    assert {name: places for name, places in found.items() if name not in TYPES} == {}
    assert set(TYPES) <= set(found), "allowed for no reason any more"


def test_all_parts_know_the_same_tiers():
    # The report and the options do not import the detector, so each names them.
    assert tuple(LEVELS) == (*get_args(Tier), "D") == TIERS  # D is shown on request only
