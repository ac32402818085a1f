"""One report by hand in every format, against files that were read by people."""

from pathlib import Path

import pytest
from tests.report.reports import REPORT, SOURCES

from hyperheat.report.formats import FORMATS
from hyperheat.report.text import render, summarise

GOLDEN = Path(__file__).parents[1] / "golden" / "report"


def check(name: str, actual: str, *, update: bool) -> None:
    path = GOLDEN / name
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(actual.encode("utf-8"))
    else:
        assert actual.splitlines() == path.read_bytes().decode("utf-8").splitlines()


@pytest.mark.parametrize("name", FORMATS)
def test_format(name: str, update_golden: bool):
    check(f"report.{name}", FORMATS[name](REPORT, SOURCES), update=update_golden)


def test_colours(update_golden: bool):
    actual = render(REPORT, SOURCES, colour=True) + summarise(REPORT, colour=True)
    check("colours.text", actual, update=update_golden)
