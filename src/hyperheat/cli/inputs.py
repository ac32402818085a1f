"""What a command is to check: files and folders, or standard input (`-`)."""

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperheat.check.checker import Checker, Scan

__all__ = ["ScanInput", "parse_input"]

_STDIN = "-"
_NAMELESS = "<stdin>"


@dataclass(frozen=True, kw_only=True)
class ScanInput:
    """The paths whose project has the settings, and the name of standard input if that is checked."""

    paths: tuple[str, ...]
    stdin: str | None = None

    def scan(self, checker: "Checker") -> "Scan":
        """Scan it."""
        if self.stdin is None:
            return checker.scan_paths(self.paths)
        return checker.scan_data(sys.stdin.buffer.read(checker.most_bytes(self.stdin) + 1), self.stdin)


def parse_input(paths: tuple[str, ...], stdin_filename: str | None) -> ScanInput:
    """Read the paths of a command; raises ValueError in one sentence if they do not go together."""
    others = [path for path in paths if path != _STDIN]
    if stdin_filename is not None:
        if others:
            raise ValueError(f"--stdin-filename cannot be used together with paths, such as {others[0]!r}")
        return ScanInput(paths=(stdin_filename,), stdin=stdin_filename)
    if _STDIN in paths:
        if others:
            raise ValueError(f"- (standard input) cannot be used together with paths, such as {others[0]!r}")
        return ScanInput(paths=(".",), stdin=_NAMELESS)
    return ScanInput(paths=paths or (".",))
