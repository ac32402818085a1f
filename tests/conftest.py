"""Options and fixtures shared by all tests."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small tensors, and several test processes at a time


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write golden files and generated pages anew instead of checking",
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether to write golden files instead of comparing with them."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def exported_detector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny detector with random weights and a calibration, exported for scanning."""
    from tests.detectors import export_tiny_detector

    return export_tiny_detector(tmp_path_factory.mktemp("detector") / "tiny")
