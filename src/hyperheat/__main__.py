"""The command line: `hyperheat`, or `python -m hyperheat`."""

import os
import sys

_SCANS = ("check", "fix", "calibrate", "demo", "explain")


def main() -> None:
    """Run the command line, and beside loading it begin what nearly every scan needs."""
    try:
        if len(sys.argv) > 1 and sys.argv[1] in _SCANS:
            from hyperheat.check.workers import start_early

            start_early()
        from hyperheat.cli import main

        main()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not sys.flags.safe_path and sys.path[0] != home:
        del sys.path[0]  # the current folder, where the code may be that is to be read and not to be run
    main()
