"""How every command refuses: one sentence on stderr, exit code 2."""

import sys
from typing import NoReturn

__all__ = ["fail"]


def fail(problem: Exception | str) -> NoReturn:
    """Say what is wrong on one line, with nothing in it that a terminal or a build service would obey, and end."""
    from hyperheat.cli.outputs import put
    from hyperheat.report.safe import visible_line

    put(f"{visible_line(str(problem))}\n", sys.stderr)
    raise SystemExit(2)
