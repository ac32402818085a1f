"""The commands of the checker as users run them, with a small model: files that mean harm, signals, pipes."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.check.hostile.files import NAMES, write_strange_files
from tests.check.hostile.sources import SOURCES

GOOD = "def area(width, height):\n    return width * width + height\n"
PAYLOAD = (
    "def f(a, b):\n"
    "    '''\x1b[31m \x9b2J \u202e ##vso[task] ##[error]x <script>alert(1)</script> ]]> &amp;'''\n"
    "    return a + '\x1b]0;owned\x07 ::error::x %0A::warning::y' if a < b else b  # hyperheat: ignore[HH201]\n"
)
FORMATS = ("text", "json", "jsonl", "sarif", "github", "junit", "html")
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_COMMAND = re.compile(r"::(error|warning|notice) file=[^:]*,title=HH\d{3} [a-z-]+::[^\n]*")


def hyperheat(
    *words: str, cwd: Path, program: Sequence[str] = (sys.executable, "-m", "hyperheat"), **options
) -> subprocess.CompletedProcess[bytes]:
    command = [*program, *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, check=False, timeout=300, **options)


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory, exported_detector: Path):
    """A folder of files that mean harm beside a good one, and its report in every format."""
    folder, out = tmp_path_factory.mktemp("h"), tmp_path_factory.mktemp("out")
    write_strange_files(folder)
    for name in NAMES:
        (folder / name).write_text(PAYLOAD)
    chosen = [source for source in SOURCES.values() if len(source.content) < 20_000][::8]
    for number, source in enumerate(chosen):
        (folder / f"source{number}.py").write_bytes(source.content)
    (folder / "good.py").write_text(GOOD)
    outputs = [word for name in FORMATS for word in ("-o", f"{name}:{out / name}")]
    words = ("--model", str(exported_detector), "--show-all", *outputs)
    return folder, out, hyperheat("check", *words, cwd=folder), chosen


def test_no_file_stops_the_others(scanned, exported_detector: Path, tmp_path: Path):
    _, out, done, chosen = scanned
    assert done.returncode in (0, 1), done.stderr
    assert b"Traceback" not in done.stderr
    report = json.loads((out / "json").read_text())
    rules = {error["path"]: error["rule"] for error in report["errors"]}
    for number, source in enumerate(chosen):
        assert source.rule is None or f"source{number}.py" in rules
    (tmp_path / "good.py").write_text(GOOD)
    alone = hyperheat(
        "check", "--model", str(exported_detector), "--show-all", "--output-format", "json", cwd=tmp_path
    )
    assert json.loads(alone.stdout)["findings"] == [f for f in report["findings"] if f["path"] == "good.py"]


@pytest.mark.parametrize("name", FORMATS)
def test_no_output_carries_anything_that_is_obeyed(scanned, name: str):
    _, out, done, _ = scanned
    for data in ((out / name).read_bytes(), done.stdout, done.stderr):
        text = data.decode()
        assert not _FORBIDDEN.search(text)
        assert not re.search(r"##(\w*)\[", text)
        for line in text.splitlines():
            if line.lstrip().startswith("::"):
                assert data == (out / "github").read_bytes()
                assert _COMMAND.fullmatch(line)


def test_comments_that_are_not_needed_are_told_without_harm(scanned):
    lines = scanned[2].stderr.decode().splitlines()
    told = [line for line in lines if line.endswith("unused suppression: no HH201 here.")]
    assert len(told) == len(NAMES)
    assert any(line.startswith("\\x3a:error file=x") for line in told)


def test_the_formats_can_be_read_back(scanned):
    _, out, _, _ = scanned
    assert "<script" not in (out / "html").read_text()
    findings = len(json.loads((out / "json").read_text())["findings"])
    assert findings > len(NAMES)
    assert len(json.loads((out / "sarif").read_text())["runs"][0]["results"]) == findings
    lines = [json.loads(line) for line in (out / "jsonl").read_text().splitlines()]
    assert sum("confidence" in json.dumps(line) for line in lines) >= findings
    assert len(ET.parse(out / "junit").getroot().findall(".//failure")) == findings


def test_results_are_the_same_warm_and_for_any_number_of_processes(scanned, exported_detector: Path):
    folder, out, _, _ = scanned
    words = ("check", "--model", str(exported_detector), "--show-all", "--output-format", "json")
    warm = hyperheat(*words, "--strict", cwd=folder)
    assert warm.returncode == 3
    assert warm.stdout == (out / "json").read_bytes()
    many = hyperheat(*words, "-j", "3", "--no-cache", cwd=folder)
    assert many.stdout == warm.stdout


def test_ctrl_c_leaves_what_there_is(exported_detector: Path, tmp_path: Path):
    cache = tmp_path / "cache"
    for number in range(40):
        (tmp_path / f"m{number:02}.py").write_text(
            "".join(GOOD.replace("area", f"area{number}_{i}") for i in range(25))
        )
    words = ["check", "--model", str(exported_detector), "--show-all", "--output-format", "json", "-j", "1"]
    words += ["--cache-dir", str(cache)]
    process = subprocess.Popen(
        [sys.executable, "-m", "hyperheat", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    while process.poll() is None and len(list(cache.glob("*/*.json"))) < 3:  # one of them is about the model
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    report = json.loads(out)
    assert 0 < report["summary"]["files"] < 40
    assert f"{40 - report['summary']['files']} of 40 files were not checked" in report["summary"]["notes"][0]
    assert b"Traceback" not in err


def test_a_reader_that_has_seen_enough_is_no_problem(scanned, exported_detector: Path):
    folder, _, _, _ = scanned
    words = ["check", "--model", str(exported_detector), "--show-all", "--output-format", "sarif", "--quiet"]
    process = subprocess.Popen(
        [sys.executable, "-m", "hyperheat", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) in (0, 1)
    process.stderr.close()


def test_fix_and_explain_with_a_model(exported_detector: Path, tmp_path: Path):
    (tmp_path / "good.py").write_text(GOOD)
    words = ["fix", "--model", str(exported_detector), "--tier", "C"]
    assert hyperheat(*words, cwd=tmp_path).returncode == 0  # none of the repairs is safe
    words.append("--unsafe-fixes")
    shown = hyperheat(*words, cwd=tmp_path)
    assert shown.returncode == 1, shown.stderr
    assert shown.stdout.startswith(b"--- a/good.py\n+++ b/good.py\n@@ -1,2 +1,2 @@\n")
    written = hyperheat(*words, "--write", "--allow-dirty", cwd=tmp_path)
    assert written.returncode == 0, written.stderr
    assert (tmp_path / "good.py").read_text() != GOOD
    told = hyperheat("explain", "good.py:2", "--model", str(exported_detector), cwd=tmp_path)
    assert told.stdout.startswith(b"good.py:2 in area, lines 1 to 2\n")


def test_nothing_is_imported_from_the_folder_that_is_checked(tmp_path: Path):
    ours = {"numpy", "cyclopts", "rich", "tests"}
    for name in ours | sys.stdlib_module_names:
        (tmp_path / f"{name}.py").write_text(f"open('ran-{name}', 'w').close()\n")
    (tmp_path / "good.py").write_text(GOOD)
    program = str(Path(sys.executable).with_name("hyperheat"))
    assert hyperheat("check", cwd=tmp_path, program=[program]).returncode in (0, 1)
    assert list(tmp_path.glob("ran-*")) == []
    for name in sys.stdlib_module_names:  # which Python itself may import for `-m`, before anything of ours
        (tmp_path / f"{name}.py").unlink()
    assert hyperheat("check", cwd=tmp_path).returncode in (0, 1)
    assert list(tmp_path.glob("ran-*")) == []


def test_nothing_is_left_outside_of_the_cache(tmp_path: Path):
    """No library that is used may leave anything of its own."""
    home, code = tmp_path / "home", tmp_path / "code"
    home.mkdir()
    code.mkdir()
    (code / "good.py").write_text(GOOD)
    ours = ("XDG_", "HYPERHEAT_")
    unset = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = hyperheat("check", cwd=code, env={**unset, "HOME": str(home)})
    assert done.returncode in (0, 1), done.stderr
    assert [str(path.relative_to(home)) for path in home.glob("*/*")] == [".cache/hyperheat"]
    assert [path.name for path in code.iterdir()] == ["good.py"]


def test_help_answers_at_once():
    script = (
        "import sys, time\nsys.argv[1:] = ['check', '--help']\nfrom hyperheat.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'torch', 'numpy', 'pyarrow', 'hyperheat.report'} & set(sys.modules)\n"
        "sys.stderr.write(f'{sorted(heavy)} {time.process_time()}')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    heavy, _, seconds = done.stderr.rpartition(" ")
    assert heavy == "[]"
    assert float(seconds) < 0.6  # half of it or less where nothing else runs
