"""`hyperheat explore`: what it refuses before it starts, and what it says when packages are missing."""

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from hyperheat.cli.explore import explore


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        (("a.py",), {"kg": "demo"}, "--kg cannot be used together with paths or --model"),
        ((), {"kg": "demo", "model": Path("x")}, "--kg cannot be used together with paths or --model"),
        ((), {"data": "x"}, "--data requires --kg"),
        ((), {"port": 65_536}, "--port: expected a port from 0 (any free one) to 65535, got 65536"),
        ((), {"port": -1}, "--port: expected a port from 0 (any free one) to 65535, got -1"),
        (("no_such_file.py",), {}, "no_such_file.py"),
        ((), {"kg": "no_such_model"}, "no_such_model"),
    ],
)
def test_errors_are_one_sentence_and_exit_with_2(words, options, message, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as stop:
        explore(*words, **options)
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_port_in_use_is_named(capsys: pytest.CaptureFixture[str]):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SystemExit):
            explore(port=port)
    assert capsys.readouterr().err == f"--port: cannot listen on port {port}: it is in use\n"


@pytest.mark.parametrize(
    ("missing", "words", "extra"),
    [("starlette", ["."], "web"), ("uvicorn", ["."], "web"), ("torch", ["--kg", "demo"], "train")],
)
def test_a_missing_package_is_said_in_one_sentence(
    missing: str, words: list[str], extra: str, tmp_path: Path
):
    script = (
        f"import sys\nsys.modules[{missing!r}] = None\nsys.argv[1:] = {['explore', *words]!r}\n"
        "from hyperheat.cli import main\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False, timeout=120
    )
    assert done.returncode == 2
    assert re.fullmatch(rf".*'?{missing}'?.*pip install 'hyperheat\[{extra}\]'\n", done.stderr)


def test_looking_at_code_does_not_load_torch():
    script = (
        "import sys\nimport hyperheat.cli.explore, hyperheat.web.code_site, hyperheat.web.serving, hyperheat.web.desk\n"
        "sys.stdout.write(','.join(name for name in ('torch', 'pyarrow') if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == ""
