"""The progress display, on terminals, in logs, and on streams that cannot be written."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hyperheat.progress import Progress, duration

ESCAPE = "\x1b"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Full(io.StringIO):
    """A terminal whose disk is full."""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def run(stream: io.StringIO, times: list[float], *, every: float | None = 10.0, quiet: bool = False) -> str:
    """What is written when one of nine files with two functions each is done at each of these times."""
    clock = Clock()
    with Progress(
        "Checking",
        total=9,
        unit="files",
        counted="functions",
        every=every,
        quiet=quiet,
        stream=stream,
        clock=clock,
    ) as progress:
        for clock.now in times:
            progress.advance(2)
    return stream.getvalue()


def test_short_work_draws_nothing():
    assert run(Terminal(), [0.1, 0.2, 0.49]) == ""


def test_long_work_draws_a_bar_a_few_times_a_second_and_removes_it():
    text = run(Terminal(), [0.1, 0.6, 0.61, 0.65, 0.75])
    assert "Checking" in text
    assert "2 of 9 files, 4 functions, 6.7 functions/s, 2 s left" in text
    assert "5 of 9 files, 10 functions" in text
    assert "3 of 9" not in text
    assert "4 of 9" not in text
    assert "\u2501" in text
    assert text.endswith(f"{ESCAPE}[2K")


def test_the_cursor_is_never_hidden():
    assert f"{ESCAPE}[?25l" not in run(Terminal(), [1.0, 2.0])


def test_a_log_gets_a_plain_line_now_and_then_and_the_last_state():
    assert run(io.StringIO(), [1.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 18.0]) == (
        "Checking: 2 of 9 files, 4 functions, 0.4 functions/s, 35 s left\n"
        "Checking: 9 of 9 files, 18 functions, 1.0 functions/s, 0 s left\n"
    )


def test_without_a_total_there_is_no_time_left():
    clock, stream = Clock(), io.StringIO()
    with Progress("valid", unit="functions", stream=stream, clock=clock) as progress:
        clock.now = 20.0
        progress.advance()
    assert stream.getvalue() == "valid: 1 functions, 0.1 functions/s\n"


def test_nothing_is_shown_if_not_asked_for(monkeypatch):
    assert run(io.StringIO(), [1.0, 20.0], every=None) == ""
    assert run(io.StringIO(), [1.0, 20.0], quiet=True) == ""
    assert run(Terminal(), [1.0, 20.0], quiet=True) == ""
    monkeypatch.setenv("TERM", "dumb")
    assert run(Terminal(), [1.0, 2.0], every=None) == ""


@pytest.mark.parametrize("drawn", [False, True], ids=["before the bar", "above the bar"])
def test_messages_and_titles_are_shown_as_they_are_but_harmless(drawn):
    clock, stream = Clock(), Terminal()
    with Progress("[red]odd[/red]", total=9, unit="files", stream=stream, clock=clock) as progress:
        clock.now = 1.0 if drawn else 0.1
        progress.advance()
        progress.say("[bold]x[/bold] [/] \x1b[31m\r\n::error::")
    shown = stream.getvalue()
    assert "[bold]x[/bold] [/] \\x1b[31m\\r\\n::error::" in shown
    assert ("[red]odd[/red]" in shown) == drawn
    assert f"{ESCAPE}[31m" not in shown


def test_a_message_in_a_log_is_one_line():
    stream = io.StringIO()
    Progress("x", stream=stream, quiet=True).say("::error::two\nlines")
    assert stream.getvalue() == "\\x3a:error::two\\nlines\n"


def test_work_can_show_its_own_state():
    clock, stream = Clock(), io.StringIO()
    with Progress("training", every=30.0, stream=stream, clock=clock) as progress:
        for clock.now in (1.0, 30.0, 31.0):
            progress.show(clock.now / 100, f"step {clock.now:g}")
    assert stream.getvalue() == "training: step 30\n"


def test_a_stream_that_cannot_be_written_stops_nothing(monkeypatch):
    closed = Terminal()
    closed.close()
    for stream in (Full(), closed):
        clock = Clock()
        with Progress("x", total=2, unit="files", stream=stream, clock=clock) as progress:
            for clock.now in (1.0, 2.0):
                progress.advance()
                progress.say("y")
    monkeypatch.setattr(sys, "stderr", None)
    with Progress("x", total=1, unit="files") as progress:
        progress.advance()
        progress.say("y")


def test_names_that_the_stream_cannot_encode_are_spelled_out():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Progress("x", stream=stream).say("caf\u00e9")
    assert raw.getvalue() == b"caf\\xe9\n"


def test_rich_is_imported_only_when_a_bar_is_drawn():
    script = (
        "import sys\nfrom hyperheat.progress import Progress\n"
        "with Progress('x', total=3, unit='files') as p:\n    p.advance(); p.say('y')\n"
        "sys.exit('rich' in sys.modules)"
    )
    source = Path(__file__).parents[1] / "src"
    environment = {**os.environ, "PYTHONPATH": str(source)}
    assert subprocess.run([sys.executable, "-c", script], env=environment).returncode == 0


def test_durations_are_short():
    assert [duration(seconds) for seconds in (0.2, 59, 200, 7512)] == ["0 s", "59 s", "3:20 min", "2:05 h"]


def test_a_single_large_file_shows_how_many_of_its_functions_are_done():
    clock, stream = Clock(), io.StringIO()
    with Progress(
        "Checking", total=2, unit="files", counted="functions", every=10.0, stream=stream, clock=clock
    ) as progress:
        for done in range(0, 2_001, 500):
            clock.now += 10
            progress.advance_part("large.py", done, 2_000)
        clock.now += 10
        progress.advance(2_000, of="large.py")
    assert stream.getvalue().splitlines() == [
        "Checking: 0 of 2 files, 0 functions, 0.0 functions/s",
        "Checking: 0 of 2 files, 500 functions, 25 functions/s, 2:20 min left",
        "Checking: 0 of 2 files, 1,000 functions, 33 functions/s, 1:30 min left",
        "Checking: 0 of 2 files, 1,500 functions, 38 functions/s, 1:07 min left",
        "Checking: 0 of 2 files, 2,000 functions, 40 functions/s, 50 s left",
        "Checking: 1 of 2 files, 2,000 functions, 33 functions/s, 1:00 min left",
    ]
