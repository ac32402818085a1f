import json
import subprocess
import sys


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hyperheat", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)


def test_bench_layer_gives_the_promised_records():
    done = run(
        *[
            "bench",
            "layer",
            "--workload",
            "code",
            "--dim",
            "128",
            "--layers",
            "1",
            "--repeats",
            "1",
            "--threads",
            "1",
            "--json",
        ]
    )
    assert done.returncode == 0, done.stderr
    records = json.loads(done.stdout)
    assert [(r["workload"], r["dim"], r["layers"], r["pass"]) for r in records] == [
        ("code", 128, 1, "forward"),
        ("code", 128, 1, "forward+backward"),
    ]
    for record in records:
        assert record["ms"] > 0
        assert record["speedup_over_paper"] > 1
        assert 0 < record["share_of_limit"] < 2
        assert record["peak_mb"] is None or record["peak_mb"] < record["paper_peak_mb"]
        assert set(record["others_ms"]) >= {"paper", "paper, lean", "AllSetTransformer"}


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
        [sys.executable, "-c", "\n".join(lines), "bench", "layer"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert (
        done.stderr == "hyperheat: this command needs the package 'torch': pip install 'hyperheat[train]'\n"
    )
