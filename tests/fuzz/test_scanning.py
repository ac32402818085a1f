"""Random files of a project: whatever they hold, there is a result or one sentence, and a repair compiles."""

import json
import os
import warnings
from contextlib import suppress
from pathlib import Path

from tests.check.caches import open_cache, sign
from tests.check.notebooks import code, markdown, notebook
from tests.check.scores import CALIBRATION, pseudo_scores
from tests.check.test_cache import DETECTOR, EDITS, SOURCE
from tests.fuzz.mutate import bounded, mutants

from hyperheat.check.analysis import analyse
from hyperheat.check.baseline import BaselineError, Known, read_baseline, write_baseline
from hyperheat.check.cache import Entry
from hyperheat.check.discovery import FoundFile, Selection, discover
from hyperheat.check.filters import make_report
from hyperheat.check.notebook_analysis import analyse_notebook, find_cell_error
from hyperheat.check.records import FileRecord, join_parts
from hyperheat.check.repairs import FixError, plan_repair
from hyperheat.check.scanned_files import Sources, read_record
from hyperheat.check.settings import Settings, SettingsError, find_settings, load_settings
from hyperheat.report.formats import FORMATS

SOURCES = [
    SOURCE.encode(),
    *(SOURCE.replace(*edit).encode() for edit in EDITS[::3]),
    b"def f(a, b):\r\n    return g(a, b) if a < b else b - a\r\n",
    b"# caf\xe9\ndef f(a, b):\n    x = a[1] + b\n    x += a\n    return not x\n",
    "def f(é, ß):\n    s = f'{é!r:>{ß}}' \"ü\"\n    return s if é and ß else -é\n".encode(),
]
NOTEBOOKS = [
    notebook(markdown("x"), code(f"%pwd\n{SOURCE}"), code("y = !ls\n")),
    notebook(code(SOURCE, whole=True), code("def f(:\n"), indent=None, ascii=True),
]
SETTINGS = [
    b"[tool.hyperheat]\nselect = ['HH1', 'HH301']\nignore = ['HH302']\nexclude = ['gen/', '!a']\ntier = 'B'\n",
    b"[tool.hyperheat]\nper-file-ignores = { 'tests/' = ['HH3'] }\nmax-alarms = 0.9\njobs = 2\nstrict = true\n",
    b"[tool.other]\nx = [1, {a.b = 2}]\n[tool.hyperheat]\nbaseline = 'known.json'\ngitignore = false\nfail-on = 'C'\n",
]
IGNORES = [
    b"*.pyc\n/build/\n!keep.py\n**/gen/**\n",
    b"a[!b-d]*\\?[[:alpha:]]\n# x\ndoc/*.txt\nd/\n*\n!*/\n",
    b"x\\ \n",
]


def compiles(data: bytes) -> bool:
    """Whether Python takes bytes as source."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(data, "<source>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def test_a_repair_of_what_compiles_compiles():
    file, repaired = FoundFile("a.py", Path("/a.py")), 0
    for data in mutants(SOURCES):
        with bounded():
            scanned = read_record(
                analyse(data, (), pseudo_scores, CALIBRATION), file, CALIBRATION, source=data
            )
        findings = [suspect.finding for function in scanned.functions for suspect in function.suspects]
        if not findings:
            continue
        assert compiles(data)
        with suppress(FixError):
            repair = plan_repair(file, data, findings)
            assert compiles(repair.repaired), data
            repaired += 1
    assert repaired > 10


def test_a_repair_of_a_notebook_is_a_notebook_and_its_cells_compile():
    file, repaired = FoundFile("a.ipynb", Path("/a.ipynb")), 0
    for data in mutants(NOTEBOOKS):
        with bounded():
            parts = analyse_notebook(data, (), pseudo_scores, CALIBRATION)
            record = join_parts([part for part in parts if part is not None], ())
            scanned = read_record(record, file, CALIBRATION, source=data)
            report = make_report([scanned], Settings(), DETECTOR, show_all=True)
        if not report.findings:
            continue
        for render in FORMATS.values():
            render(report, Sources([scanned]))
        with suppress(FixError):
            repair = plan_repair(file, data, report.findings)
            cells = {finding.cell for finding in repair.done if finding.cell is not None}
            assert find_cell_error(repair.repaired, cells) is None, data
            repaired += 1
    assert repaired > 10


def test_settings(tmp_path: Path):
    path = tmp_path / "pyproject.toml"
    for data in mutants(SETTINGS):
        path.write_bytes(data)
        with bounded(), suppress(SettingsError):
            if find_settings(tmp_path) is not None:
                settings = load_settings(path)
                settings.rules_for(tmp_path / "tests" / "a.py")
                assert settings.baseline is None or settings.baseline.is_relative_to(tmp_path)
                discover(["."], root=tmp_path, selection=Selection(exclude=settings.exclude))
    assert [name.name for name in tmp_path.iterdir()] == ["pyproject.toml"]


def test_ignore_files(tmp_path: Path):
    (tmp_path / ".git").mkdir()
    for name in ("a.py", "d/b.py", "d/gen/c.py", "build/x.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    for data in mutants(IGNORES):
        (tmp_path / ".gitignore").write_bytes(data)
        (tmp_path / "d" / ".gitignore").write_bytes(data[::-1])
        with bounded():
            assert len(discover(["."], root=tmp_path, selection=Selection()).files) <= 4


def test_cache_records(tmp_path: Path):
    path = tmp_path / "a.py"
    path.write_text(SOURCE)
    file, cache = FoundFile("a.py", path), open_cache(tmp_path / "cache", DETECTOR)
    record = analyse(SOURCE.encode(), (), pseudo_scores, CALIBRATION).to_plain()
    comment = {
        "line": 1,
        "column": 1,
        "lines": [1],
        "rules": ["HH101"],
        "expected_to_work": True,
        "problem": None,
    }
    record["comments"], record["errors"] = [comment], [["HH901", "reason", 3]]
    seed = json.dumps({"sha256": "ab", "record": record, "limits": [300, 10, 1]}).encode()
    cache.store(file, Entry("", FileRecord()))
    entry_path, read = cache._path(file), 0
    for data in mutants([seed]):
        entry_path.write_bytes(sign(cache, entry_path, data))
        with bounded():
            entry = cache.load(file)
            if entry is None or not entry.record.is_complete:
                continue
            scanned = read_record(entry.record, file, CALIBRATION, source=SOURCE)
        read += 1
        report = make_report([scanned], Settings(), DETECTOR, show_all=True)
        if read % 10 == 0:
            for render in FORMATS.values():
                render(report, Sources([scanned]))
    assert read > 5


def test_baselines(tmp_path: Path):
    path = tmp_path / "known.json"
    write_baseline(path, {f"{number:032x}": Known(f"{number}.py", "HH101", "f") for number in range(20)})
    for data in mutants([path.read_bytes()]):
        path.write_bytes(data)
        with bounded(), suppress(BaselineError):
            read_baseline(path)
    assert os.listdir(tmp_path) == ["known.json"]
