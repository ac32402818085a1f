"""Files that take too much: what was done before is kept, what was given up is remembered, and little is held."""

import json
import resource
from dataclasses import replace
from pathlib import Path

import pytest
from tests.check.caches import open_cache
from tests.hostile.projects import GOOD, hyperheat
from tests.hostile.slow_work import DONE, SlowWork

from hyperheat.check.cache import Cache
from hyperheat.check.discovery import FoundFile
from hyperheat.check.scan import scan_files
from hyperheat.check.scan_work import LIMITS
from hyperheat.check.scanned_files import ScannedFile
from hyperheat.detector.detector import Detector, load_detector
from hyperheat.workers.limits import Limits

LARGE = "".join(f"    t{line} = g(a, b, {line}) + h(b, a) * c\n" for line in range(2_000))
FUNCTIONS = "".join(GOOD.replace("area", f"area{number}") for number in range(20))
FEW_SECONDS = replace(LIMITS, seconds=3)


@pytest.fixture(scope="module")
def detector(exported_detector: Path) -> Detector:
    return load_detector(exported_detector)


@pytest.fixture
def slow(tmp_path: Path) -> FoundFile:
    """A file with many functions."""
    (tmp_path / "slow.py").write_text(FUNCTIONS)
    return FoundFile("slow.py", tmp_path / "slow.py")


def scan(file: FoundFile, detector: Detector, cache: Cache, limits: Limits) -> ScannedFile:
    (scanned,) = scan_files([file], detector, jobs=1, cache=cache, limits=limits)
    return scanned


def test_what_was_done_before_a_limit_struck_is_kept_and_the_rest_is_not_paid_again(
    slow, detector, tmp_path, monkeypatch
):
    monkeypatch.setattr("hyperheat.check.scan.FileWork", SlowWork)
    cache = open_cache(tmp_path / "cache", detector)
    first = scan(slow, detector, cache, FEW_SECONDS)
    assert [function.name for function in first.functions] == ["area0", "area1", "area2"]
    assert [(error.rule, error.line, error.reason) for error in first.errors] == [
        ("HH901", 7, "the function area3: not checked: it took more than 3 s"),
        ("HH901", 9, "16 more functions were not checked"),
    ]
    with monkeypatch.context() as patch:
        patch.setattr("hyperheat.workers.pool.PoolWorker", lambda *_: pytest.fail("a worker started"))
        again = scan(slow, detector, cache, FEW_SECONDS)
        less = scan(slow, detector, cache, replace(FEW_SECONDS, seconds=1))
    assert again.functions == less.functions == first.functions
    assert again.errors == less.errors == first.errors
    more = scan(slow, detector, cache, replace(FEW_SECONDS, seconds=4))
    assert (more.cached, len(more.functions)) == (DONE, 2 * DONE)
    slow.path.write_text(GOOD)
    assert scan(slow, detector, cache, FEW_SECONDS).errors == ()


def test_functions_before_one_that_is_too_large_are_kept(slow, detector, tmp_path):
    slow.path.write_text(GOOD + "def f(a, b, c):\n" + LARGE + "    return a\n")
    cache = open_cache(tmp_path / "cache", detector)
    file = scan(slow, detector, cache, LIMITS)
    assert [function.name for function in file.functions] == ["area"]
    assert [error.rule for error in file.errors] == ["HH901"]


def test_the_sources_of_a_scan_are_not_held(detector, tmp_path):
    files = []
    for number in range(60):
        path = tmp_path / f"m{number}.py"
        path.write_text(GOOD + f"# {'x' * 80}\n" * 11_500)
        files.append(FoundFile(path.name, path))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    scanned = list(scan_files(files, detector, jobs=2))
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 25_000_000
    assert sum(bool(file.functions[0].suspects) for file in scanned) == 60
    data = scanned[7].data()
    assert isinstance(data, bytes)
    assert data.startswith(GOOD.encode())
    files[7].path.write_text(GOOD)
    assert scanned[7].data() is None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--timeout", "0"], "--timeout: expected a number of seconds above 0, got 0"),
        (["--timeout", "nan"], "--timeout: expected a number of seconds above 0, got nan"),
        (["--max-memory", "10MB"], "--max-memory: expected a size from 256MB, such as 500MB, got '10MB'"),
        (["--max-memory", "lots"], "--max-memory: expected a size from 256MB, such as 500MB, got 'lots'"),
        (
            ["--max-file-size", "2GB"],
            "--max-file-size: expected a size from 1 byte to 100MB, such as 500MB, got '2GB'",
        ),
    ],
)
def test_limits_that_make_no_sense_are_refused(tmp_path, exported_detector, words, sentence):
    ran = hyperheat("check", "--model", str(exported_detector), *words, cwd=tmp_path)
    assert (ran.code, ran.err) == (2, f"{sentence}\n")


def test_a_larger_file_is_checked_if_asked_for(tmp_path, exported_detector):
    (tmp_path / "large.py").write_text(GOOD + f"# {'x' * 80}\n" * 20_000)
    words = ("check", "--model", str(exported_detector), "--output-format", "json")
    refused = json.loads(hyperheat(*words, cwd=tmp_path).out)
    assert refused["errors"][0]["reason"].startswith("expected at most 1000000 bytes, got ")
    taken = json.loads(hyperheat(*words, "--max-file-size", "2MB", cwd=tmp_path).out)
    assert (taken["errors"], taken["summary"]["functions"]) == ([], 1)


def test_a_limit_of_the_system_on_memory_is_told_as_what_it_is(tmp_path, exported_detector):
    (tmp_path / "good.py").write_text(GOOD)
    for megabytes in (250, 400, 600):
        limited = ("bash", "-c", f'ulimit -v {megabytes}000 && exec "$@"', "-")
        ran = hyperheat("check", "--model", str(exported_detector), cwd=tmp_path, before=limited)
        assert "Traceback" not in ran.err
        assert "took more than" not in ran.err
    assert hyperheat("check", "--model", str(exported_detector), "--strict", cwd=tmp_path).code in (0, 1)
