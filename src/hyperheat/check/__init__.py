"""Scanning Python files for bugs: which files, with which settings, and which findings are shown.

Nothing here imports torch. Of the files that are analysed nothing is imported or run.

    import hyperheat
    hyperheat.check("def first_or(items, default):\\n    for item in items:\\n        return items\\n    return default\\n")
    # -> [Finding(rule="HH101", line=3, ...)]
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperheat.report.finding import Finding


class _CallableModule(ModuleType):
    """This package has the name of the function `hyperheat.check`, so it is both."""

    def __call__(self, source: str, *, path: str = "<source>") -> "list[Finding]":
        from hyperheat.check.text import check_text

        return check_text(source, path=path)


sys.modules[__name__].__class__ = _CallableModule
