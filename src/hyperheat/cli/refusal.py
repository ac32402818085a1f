"""How every command refuses: one sentence on stderr, exit code 2."""

import sys
from typing import NoReturn

__all__ = ["fail"]


def fail(problem: Exception | str) -> NoReturn:
    """Say what is wrong, with nothing in it that a terminal would obey, and end."""
    from hyperheat.report.safe import visible

    sys.stderr.write("".join(f"{visible(line)}\n" for line in str(problem).splitlines()))
    raise SystemExit(2)
