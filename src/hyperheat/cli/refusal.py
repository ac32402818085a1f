"""How every command refuses: one sentence on stderr, exit code 2."""

import sys
from typing import NoReturn

__all__ = ["fail"]


def fail(problem: Exception | str) -> NoReturn:
    """Say what is wrong on one line, with nothing in it that a terminal would obey, and end."""
    from hyperheat.report.safe import visible

    sys.stderr.write(f"{visible(str(problem))}\n")
    raise SystemExit(2)
