"""Options and fixtures shared by all tests."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small tensors, and several test processes at a time
settings.register_profile("hyperheat", deadline=None)  # a busy machine fails no test
settings.load_profile("hyperheat")
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as in the background of a shell: commands would inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write golden files and generated pages anew instead of checking",
    )


@pytest.fixture(scope="session", autouse=True)
def _cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep results of scans out of the user's own folder, those of commands that tests start too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HYPERHEAT_CACHE", str(tmp_path_factory.mktemp("user") / "cache"))
        yield


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether to write golden files instead of comparing with them."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def exported_detector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny detector with random weights and a calibration, exported for scanning."""
    from tests.detector.tiny_detector import export_tiny_detector

    return export_tiny_detector(tmp_path_factory.mktemp("detector") / "tiny")
