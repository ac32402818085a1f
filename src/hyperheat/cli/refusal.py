"""How every command fails: one sentence on stderr, exit code 2."""

import sys
from typing import NoReturn

__all__ = ["fail"]


def fail(problem: Exception | str) -> NoReturn:
    """Print the problem on one line, without anything that a terminal or a build service would execute, and exit."""
    from hyperheat.cli.outputs import put
    from hyperheat.visible_text import visible_line

    put(f"{visible_line(str(problem))}\n", sys.stderr)
    raise SystemExit(2)
