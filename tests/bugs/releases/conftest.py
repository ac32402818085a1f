"""A package index for each test."""

import pytest
from tests.bugs.releases.local_index import LocalIndex, serve_index


@pytest.fixture
def index():
    with serve_index() as index:
        yield index


@pytest.fixture(params=["html", "json"])
def any_index(request: pytest.FixtureRequest, index: LocalIndex) -> LocalIndex:
    """The index in both forms of its pages."""
    index.form = request.param
    return index


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long a program would have slept."""
    naps: list[float] = []
    monkeypatch.setattr("hyperheat.bugs.releases.registry.time.sleep", naps.append)
    return naps
