"""`hyperheat demo`: the checker on a small example that comes with the package."""

import sys
import time
from importlib.resources import files
from pathlib import Path

from hyperheat.cli.outputs import colourful, put

__all__ = ["demo"]

_EXAMPLE = ("planted.py", "clean.py")
_MOST_ALARMS = 5  # per 1,000 functions: of every tier, but not any guess


def demo() -> None:
    """Check a few functions with planted bugs, and a few without, and show findings of all tiers."""
    from hyperheat.check.discovery import FoundFile
    from hyperheat.check.filters import make_report
    from hyperheat.check.scan import scan_files
    from hyperheat.check.scanned_files import Sources
    from hyperheat.check.settings import Settings
    from hyperheat.detector.detector import load_detector
    from hyperheat.report import text
    from hyperheat.report.text import summarise

    start = time.perf_counter()
    detector = load_detector()
    folder = Path(str(files("hyperheat") / "check" / "example"))
    example = [FoundFile(f"example/{name}", folder / name) for name in _EXAMPLE]
    scanned = tuple(scan_files(example, detector, jobs=len(example)))
    report = make_report(
        scanned, Settings(max_alarms=_MOST_ALARMS), detector, seconds=time.perf_counter() - start
    )
    put(text.render(report, Sources(scanned), colour=colourful(sys.stdout)), sys.stdout)
    put(summarise(report, colour=colourful(sys.stderr)), sys.stderr)
