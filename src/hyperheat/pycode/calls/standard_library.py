"""The signatures of the builtins and of the standard library, from a table of stubs.

The table is one compressed text made by `tools/make_signatures.py`: for each module a line `#: dotted.name`,
then stubs in Python's own syntax (`def join(a, *p) -> str: ...`). A module's stubs are parsed when they are first
asked for; nothing is imported. In the stubs `Self` is the receiver, `Item` its items (or those of a function's
first argument), `Key` and `Value` the keys and values of a mapping.
"""

import ast
import gzip
from functools import cache
from importlib.resources import files

from hyperheat.pycode.calls.definitions import ModuleDefinitions, define

__all__ = ["TABLE", "sections", "stdlib_module"]

TABLE = "stdlib_signatures.pyi.gz"


@cache
def stdlib_module(name: str) -> ModuleDefinitions | None:
    """What a module of the standard library defines, or None if there is no such module in the table."""
    text = sections().get(name)
    if text is None:
        return None
    is_package = any(other.startswith(f"{name}.") for other in sections())
    return define(ast.parse(text), name=name, is_package=is_package, is_library=True)


@cache
def sections() -> dict[str, str]:
    """The stubs of each module, as text."""
    text = gzip.decompress(files("hyperheat.pycode.calls").joinpath(TABLE).read_bytes()).decode()
    parts = (section.partition("\n") for section in text.split("#: ")[1:])
    return {name: stubs for name, _, stubs in parts}
