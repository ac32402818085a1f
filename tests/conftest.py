"""Options and fixtures shared by all tests."""

import os

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
