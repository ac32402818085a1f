"""Files made to do harm: each gives the right error, or none, and the results of the others are what they are alone."""

import time
from functools import partial
from pathlib import Path

import pytest
from tests.check.hostile.files import NAMES, write_strange_files
from tests.check.hostile.sources import SOURCES

from hyperheat.check.analysis import analyse
from hyperheat.check.discovery import FoundFile, Selection, discover
from hyperheat.check.scan import scan_files
from hyperheat.check.scan_work import load_scorer, score_alone
from hyperheat.check.scanned_files import ScannedFile
from hyperheat.detector.detector import Detector, load_detector

GOOD = "def area(width, height):\n    return multiply(width, height)\n"
MAX_SECONDS = 12


@pytest.fixture(scope="module")
def detector(exported_detector: Path) -> Detector:
    return load_detector(exported_detector)


def write_sources(folder: Path) -> list[FoundFile]:
    """All sources as files, and an ordinary file first and last."""
    files = []
    contents = [
        ("good", GOOD.encode()),
        *((name, SOURCES[name].content) for name in SOURCES),
        ("end", GOOD.encode()),
    ]
    for number, (name, content) in enumerate(contents):
        path = folder / f"{number}.py"
        path.write_bytes(content)
        files.append(FoundFile(name, path))
    return files


def test_there_are_many():
    assert len(SOURCES) + len(NAMES) > 160


def test_every_source_gives_its_error_or_none(detector, tmp_path):
    good, *files, end = scan_files(write_sources(tmp_path), detector, jobs=2)
    assert good.functions
    assert end.functions[0].suspects[0].finding.fix == good.functions[0].suspects[0].finding.fix
    wrong = {
        file.path: [error.reason for error in file.errors]
        for file in files
        if {error.rule for error in file.errors} != ({SOURCES[file.path].rule} - {None})
    }
    assert wrong == {}
    lost = [file.path for file in files for error in file.errors if "worker process" in error.reason]
    assert lost == []
    assert all(error.reason.isprintable() for file in files for error in file.errors)


def test_every_source_takes_a_few_seconds_at_most(detector):
    scorer = load_scorer(detector)
    seconds = {}
    for name, source in SOURCES.items():
        start = time.process_time()  # what else runs on the machine does not count
        analyse(source.content, (), partial(score_alone, scorer), detector.calibration)
        seconds[name] = time.process_time() - start
    assert {name: spent for name, spent in seconds.items() if spent > MAX_SECONDS} == {}


def test_strange_files_and_names_cost_only_themselves(detector, tmp_path):
    reasons = write_strange_files(tmp_path)
    for name in NAMES:
        (tmp_path / name).write_text(GOOD)
    found = discover(["."], root=tmp_path, selection=Selection())
    assert {error.path for error in found.errors} == set(reasons)
    for error in found.errors:
        assert reasons[error.path] in error.reason
    done: list[ScannedFile] = list(scan_files(found.files, detector, jobs=2))
    assert sorted(file.path for file in done) == sorted(NAMES)
    assert len({file.functions[0].suspects[0].finding.fix for file in done}) == 1


def test_named_pipes_and_devices_are_not_waited_for(detector, tmp_path):
    write_strange_files(tmp_path)
    names = ("pipe.py", "zero.py", "loop.py", "folder.py")
    files = [FoundFile(name, tmp_path / name) for name in names]
    done = list(scan_files(files, detector, jobs=1))
    assert [file.errors[0].rule for file in done] == ["HH901"] * len(names)
