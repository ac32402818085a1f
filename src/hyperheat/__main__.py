"""The command line: `hyperheat`, or `python -m hyperheat`."""

import gc
import os
import sys

_OBJECTS = 20_000
"""How many new objects are waited for before garbage is looked for; nearly all of what a start makes is kept."""
_SCANS = ("check", "fix", "calibrate", "demo", "explain", "lsp")


def main() -> None:
    """Run the command line, and beside loading it begin what nearly every scan needs."""
    gc.set_threshold(_OBJECTS)
    _open_streams()
    try:
        if len(sys.argv) > 1 and sys.argv[1] in _SCANS:
            from hyperheat.check.preload import start_early

            start_early()
        from hyperheat.cli import main

        main()
    except KeyboardInterrupt:
        sys.exit(130)


def _open_streams() -> None:
    """Open what was closed of the standard streams, so that no other file gets its number and what is written to it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # which takes the lowest number that is free
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 it stays open


if __name__ == "__main__":
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not sys.flags.safe_path and sys.path[0] != home:
        del sys.path[0]  # the current folder, where the code may be that is to be read and not to be run
    main()
