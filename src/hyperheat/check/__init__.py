"""The library behind `hyperheat check`: which files, with which settings, and which findings are shown.

    import hyperheat
    hyperheat.check("def first_or(items, default):\\n    for item in items:\\n        return items\\n    return default\\n")
    # -> [Finding(rule="HH101", line=3, ...)]

    from hyperheat.check import check_paths
    check_paths(["src"]).findings

What happens to a file: `discovery` finds it, `scan` gives it to a worker (`scan_work`) or takes its result from the `cache`,
`analysis` makes its record, `scanned_files` reads it, `old_versions` compares it with what it was before its `changes`,
`filters` choose what is reported (by `settings`, `suppressions`, `baseline` and what rose), and `repairs` change it. Nothing
here imports torch, and no code that is checked is ever imported or run.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from hyperheat.lazy_names import lazy_names

if TYPE_CHECKING:
    from hyperheat.check import cache, checker, settings
    from hyperheat.check.cache import Cache
    from hyperheat.check.checker import Checker, Scan, check_paths, check_text
    from hyperheat.check.settings import Settings
    from hyperheat.report.finding import Finding

__all__ = ["Cache", "Checker", "Scan", "Settings", "check_paths", "check_text"]

_HOMES = {
    "Cache": "cache",
    "Checker": "checker",
    "Scan": "checker",
    "Settings": "settings",
    "check_paths": "checker",
    "check_text": "checker",
}

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _HOMES, __all__)


class CheckPackage(ModuleType):
    """The type of this package, which is also the function `hyperheat.check`."""

    if TYPE_CHECKING:
        Cache = cache.Cache
        Checker = checker.Checker
        Scan = checker.Scan
        Settings = settings.Settings
        check_paths = staticmethod(checker.check_paths)
        check_text = staticmethod(checker.check_text)

    def __call__(self, source: str, *, path: str = "<source>") -> "list[Finding]":
        from hyperheat.check.checker import check_text

        return check_text(source, path=path)


sys.modules[__name__].__class__ = CheckPackage
