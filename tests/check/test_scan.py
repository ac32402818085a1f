"""Scans: the same report for any number of workers and any state of the cache, and losses that stay single."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.check.caches import open_cache, sign

from hyperheat.check.cache import Cache
from hyperheat.check.discovery import Selection, discover
from hyperheat.check.filters import make_report
from hyperheat.check.scan import scan_files, scan_source
from hyperheat.check.scanned_files import ScannedFile, Sources
from hyperheat.check.settings import Settings
from hyperheat.detector.detector import Detector, load_detector
from hyperheat.detector.manifest import CALIBRATION, FILES, describe_file
from hyperheat.report.formats import FORMATS
from hyperheat.workers.outcomes import WorkersError

HERE = Path(__file__).parent
SOURCES = {
    "shop/cart.py": "def total(prices, rate):\n    s = 0\n    for p in prices:\n        s += p * rate\n    return s\n",
    "shop/stock.py": "class Stock:\n    def take(self, item, count):\n        if count > self.left[item]:\n"
    "            raise ValueError(item)\n        self.left[item] -= count\n        return count\n",
    "shop/area.py": "def area(w, h):\n    return multiply(w, h)\n\n\n"
    "def fits(w, h, box):\n    return w <= box and h <= box\n",
    "shop/broken.py": "def f(:\n",
    "shop/empty.py": "",
}


@pytest.fixture(scope="module")
def detector(exported_detector: Path) -> Detector:
    return load_detector(exported_detector)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in SOURCES.items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "project"


def scan_project(root: Path, detector: Detector, *, jobs: int = 1, cached: bool = True) -> list[ScannedFile]:
    found = discover(["."], root=root, selection=Selection())
    cache = Cache.open(detector, root / "cache") if cached else None
    return list(scan_files(found.files, detector, jobs=jobs, cache=cache))


def report(files: list[ScannedFile], detector: Detector) -> str:
    return FORMATS["json"](make_report(files, Settings(), detector, show_all=True), Sources(files))


def test_the_report_depends_neither_on_workers_nor_on_the_cache(project, detector):
    first = report(scan_project(project, detector, cached=False), detector)
    assert first.count('"rule": "HH') > 3
    assert '"path": "shop/broken.py"' in first
    assert report(scan_project(project, detector, jobs=3), detector) == first
    warm = scan_project(project, detector, jobs=2)
    assert report(warm, detector) == first
    assert [file.cached for file in warm] == [2, 0, 1, 0, 1]
    alone = scan_source(SOURCES["shop/area.py"], detector, path="shop/area.py")
    assert alone.functions == warm[0].functions


def test_only_the_function_that_changed_is_scored_again(project, detector):
    scan_project(project, detector)
    path = project / "shop" / "area.py"
    path.write_text("\n\n" + SOURCES["shop/area.py"].replace("multiply(w, h)", "multiply(h, w)"))
    (changed, *_) = again = scan_project(project, detector)
    assert (changed.path, changed.cached) == ("shop/area.py", 1)
    assert report(again, detector) == report(scan_project(project, detector, cached=False), detector)


FORGERIES = (
    {},
    {"functions": 3, "known": [], "errors": None, "comments": ""},
    {"functions": [["f", 1, "absent"]], "known": {}, "errors": [], "comments": []},
    {"functions": [["f", 1, "a"]], "known": {"a": {"lines": "many"}}, "errors": [], "comments": []},
    {"functions": [], "known": {}, "errors": [["HH101", "no such error", -1]], "comments": [{}]},
)


def test_entries_that_were_forged_are_made_again(project, detector):
    cold = report(scan_project(project, detector), detector)
    cache = open_cache(project / "cache", detector)
    entries = sorted(path for path in cache.entries.glob("*.json") if path.name != "model.json")
    for path, forgery in zip(entries, FORGERIES, strict=True):
        sha256 = json.loads(path.read_bytes().partition(b"\n")[2])["sha256"]
        content = json.dumps({"sha256": sha256, "record": forgery}).encode()
        path.write_bytes(sign(cache, path, content))
    assert report(scan_project(project, detector), detector) == cold
    assert report(warm := scan_project(project, detector), detector) == cold
    assert sum(file.cached for file in warm) == 4


def test_known_results_start_no_worker(project, detector, monkeypatch):
    cold = report(scan_project(project, detector), detector)
    monkeypatch.setattr("hyperheat.workers.pool.PoolWorker", lambda *_: pytest.fail("a worker started"))
    assert report(scan_project(project, detector), detector) == cold


def test_a_scan_of_known_files_does_not_load_numpy(project, detector):
    scan_project(project, detector)
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from tests.check.test_scan import report, scan_project\n"
        "from hyperheat.detector.detector import load_detector\n"
        f"detector = load_detector(Path({str(detector.folder)!r}))\n"
        f"report(scan_project(Path({str(project)!r}), detector), detector)\n"
        "heavy = ('numpy', 'torch', 'pyarrow', 'hyperheat.pycode')\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=HERE.parents[1])
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_scanning_needs_neither_torch_nor_safetensors_nor_pyarrow(detector):
    script = (
        "import sys\n"
        "for name in ('torch', 'pyarrow', 'safetensors'): sys.modules[name] = None\n"
        "from pathlib import Path\n"
        "from hyperheat.detector.detector import load_detector\n"
        "from hyperheat.check.scan import scan_source\n"
        f"detector = load_detector(Path({str(detector.folder)!r}))\n"
        "print(len(scan_source('def f(a, b): return g(a, b)', detector).functions))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_files_come_in_order_and_are_told_as_they_are_done(project, detector):
    told: list[str] = []
    files = discover(["."], root=project, selection=Selection()).files
    done = scan_files(files, detector, jobs=2, progress=lambda file: told.append(file.path))
    assert [file.path for file in done] == sorted(told) == sorted(f"{name}" for name in SOURCES)


def test_the_functions_of_a_file_are_told_while_a_worker_is_at_it(project, detector):
    (project / "large.py").write_text("".join(f"def f{n}(a, b):\n    return a + b\n" for n in range(30)))
    told: list[tuple[str, int, int]] = []
    files = discover(["large.py"], root=project, selection=Selection()).files
    cache = open_cache(project / "cache", detector)
    list(
        scan_files(
            files,
            detector,
            jobs=1,
            cache=cache,
            part=lambda file, done, listed: told.append((file.shown, done, listed)),
            progress=lambda file: told.append((file.path, -1, -1)),
        )
    )
    assert told == [*(("large.py", done, 30) for done in range(31)), ("large.py", -1, -1)]
    told.clear()
    (project / "large.py").write_text((project / "large.py").read_text().replace("def f7(a", "def f7(c, a"))
    list(
        scan_files(
            files,
            detector,
            jobs=1,
            cache=cache,
            part=lambda file, done, listed: told.append((file.shown, done, listed)),
        )
    )
    assert told == [("large.py", 29, 30), ("large.py", 30, 30)], "29 are known from before"


def test_files_that_vanish_or_grow_cost_only_themselves(project, detector):
    files = discover(["."], root=project, selection=Selection()).files
    (project / "shop" / "area.py").unlink()
    (project / "shop" / "cart.py").write_bytes(b"#" * 1_000_001)
    area, _, cart, _, stock = scan_files(files, detector, jobs=1)
    assert [error.reason for error in area.errors] == ["cannot be read: no such file or directory"]
    assert [error.reason for error in cart.errors] == ["expected at most 1000000 bytes, got 1000001"]
    assert [function.name for function in stock.functions] == ["Stock.take"]


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="the workers are found there")
def test_a_worker_that_is_killed_costs_at_most_one_file(project, detector):
    killed: list[int] = []

    def kill(_: ScannedFile) -> None:
        if not killed:
            killed.extend(_workers())
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    files = discover(["."], root=project, selection=Selection()).files
    done = list(scan_files(files, detector, jobs=1, progress=kill))
    assert killed
    reason = "not checked: its worker process ended by signal 9"
    lost = [file.path for file in done if reason in [error.reason for error in file.errors]]
    assert len(lost) <= 1  # none, if the worker was already known to be dead when its next job came
    whole = scan_files(files, detector, jobs=1)
    assert [f for f in done if f.path not in lost] == [f for f in whole if f.path not in lost]


def test_a_damaged_model_ends_the_scan(project, exported_detector, tmp_path):
    folder = shutil.copytree(exported_detector, tmp_path / "copy")
    with (folder / "model.safetensors").open("ab") as file:
        file.write(b"x")
    with pytest.raises(WorkersError, match=r"model.safetensors: expected \d+ bytes as in the manifest"):
        scan_project(project, load_detector(folder), cached=False)


def test_a_model_that_changes_between_two_scans_is_never_mixed_with_the_old_one(
    project, exported_detector, tmp_path
):
    folder = shutil.copytree(exported_detector, tmp_path / "copy")
    before = load_detector(folder)
    first = scan_project(project, before, cached=False)
    vocab = folder / "vocab.json"
    vocab.write_bytes(vocab.read_bytes().replace(b"total", b"latot"))
    assert scan_project(project, before, cached=False) == first
    describe = {name: describe_file(folder / name) for name in (*FILES, CALIBRATION)}
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"files": describe}))
    assert scan_project(project, load_detector(folder), cached=False)
    with pytest.raises(WorkersError, match="the detector was replaced during the scan"):
        scan_project(project, before, cached=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "manifest.json").unlink(), "there is no manifest.json in this folder"),
        (lambda folder: (folder / "manifest.json").write_text("[" * 50_000), "not a manifest"),
        (lambda folder: (folder / "calibration.json").write_text("{}"), "calibration.json: expected"),
    ],
)
def test_a_folder_that_is_no_detector_is_refused(exported_detector, tmp_path, change, message):
    folder = shutil.copytree(exported_detector, tmp_path / "copy")
    change(folder)
    with pytest.raises(ValueError, match=message):
        load_detector(folder)
    with pytest.raises(ValueError, match=r"manifest\.json: cannot be read: Not a directory"):
        load_detector(folder / "vocab.json")


def _workers() -> list[int]:
    """The processes that work for this one: children of its fork server."""
    found = []
    for path in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":\t", 1) for line in path.read_text().splitlines() if ":\t" in line)
            parent = (path.parents[1] / fields["PPid"] / "status").read_text()
        except (OSError, KeyError):
            continue
        if f"PPid:\t{os.getpid()}\n" in parent:
            found.append(int(path.parent.name))
    return found
