"""How every command refuses: one sentence on stderr, exit code 2."""

import sys
from typing import NoReturn

__all__ = ["fail"]


def fail(problem: Exception | str) -> NoReturn:
    """Say what is wrong and end."""
    sys.stderr.write(f"{problem}\n")
    raise SystemExit(2)
