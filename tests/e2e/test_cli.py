import json
import subprocess
import sys


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hyperheat", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)


def test_an_unknown_command_is_refused_in_words():
    done = run("benhc")
    assert done.returncode != 0
    assert "benhc" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_version():
    import hyperheat

    assert run("--version").stdout.strip() == hyperheat.__version__


def test_a_closed_pipe_is_not_an_error():
    script = f"{sys.executable} -m hyperheat graph {json.__file__} | head -n 1"
    done = subprocess.run(script, shell=True, capture_output=True, text=True, check=False, timeout=120)
    assert "Traceback" not in done.stderr


def test_a_missing_package_is_said_in_one_sentence():
    lines = ("import sys", "sys.modules['torch'] = None", "from hyperheat.cli import main", "main()")
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines), "bugs", "train", "--data", "data", "--out", "out"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert (
        done.stderr == "hyperheat: this command needs the package 'torch': pip install 'hyperheat[train]'\n"
    )
