"""The line that tells how far a scan is."""

import io
from pathlib import Path

from hyperheat.check.discover import FoundFile
from hyperheat.check.records import ScannedFile
from hyperheat.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(stream: io.StringIO, times: list[float], *, quiet: bool = False) -> str:
    """What is written when files are done at these times."""
    clock = iter([0.0, *times])
    file = ScannedFile(file=FoundFile("a.py", Path("a.py")), source=None)
    with Progress(9, quiet=quiet, stream=stream, clock=lambda: next(clock)) as progress:
        for _ in times:
            progress.tell(file)
    return stream.getvalue()


def test_a_short_scan_shows_nothing():
    assert run(Terminal(), [0.1, 0.2, 0.49]) == ""


def test_a_long_scan_shows_one_line_a_few_times_a_second_and_takes_it_away():
    assert run(Terminal(), [0.1, 0.6, 0.61, 0.65, 0.71]) == (
        "\rChecking: 2 of 9 files, 0 functions\x1b[K\rChecking: 5 of 9 files, 0 functions\x1b[K\r\x1b[K"
    )


def test_nothing_elsewhere_or_if_asked_for(monkeypatch):
    assert run(io.StringIO(), [1.0, 2.0]) == ""
    assert run(Terminal(), [1.0, 2.0], quiet=True) == ""
    monkeypatch.setenv("TERM", "dumb")
    assert run(Terminal(), [1.0, 2.0]) == ""
