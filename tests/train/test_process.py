"""Real processes: killed at any moment, and several at once."""

import platform
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tests.train.line import train

from hyperheat.train import read_metrics

PROGRAM = Path(__file__).with_name("line.py")


def steps_of(run: Path) -> list[tuple[int, bool]]:
    return [(record["step"], "valid" in record) for record in read_metrics(run / "metrics.jsonl")]


def newest(run: Path) -> int:
    """The step of the newest checkpoint."""
    return max((int(path.name.removeprefix("step-")) for path in run.glob("checkpoints/step-*")), default=0)


def test_a_run_killed_at_random_points_ends_with_the_same_bits(tmp_path):
    arguments = ["max_steps=300", "checkpoint_steps=3", "validate_every=20"]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    train(whole, *arguments)
    chance = random.Random(7)
    for _ in range(3):
        goal = newest(killed) + chance.randrange(1, 40)
        process = subprocess.Popen([sys.executable, PROGRAM, killed, *arguments], stderr=subprocess.DEVNULL)
        while process.poll() is None and newest(killed) < goal:
            time.sleep(chance.random() * 0.005)
        process.kill()
        assert process.wait() == -signal.SIGKILL
    train(killed, *arguments)
    for file in ("checkpoints/step-000000300/training.safetensors", "best/model.safetensors"):
        expected, got = load_file(whole / file), load_file(killed / file)
        assert expected.keys() == got.keys()
        assert all(torch.equal(expected[name], got[name]) for name in expected)
    assert steps_of(killed) == steps_of(whole)
    assert [step for step, valid in steps_of(killed) if not valid] == list(range(1, 301))


def test_two_processes_give_the_loss_curve_of_one_with_the_doubled_batch(tmp_path):
    arguments = ["batches_per_step=4", "max_steps=20"]
    train(tmp_path / "one", *arguments)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    subprocess.run([*torchrun, PROGRAM, tmp_path / "two", *arguments], check=True, capture_output=True)
    one, two = (read_metrics(tmp_path / name / "metrics.jsonl") for name in ("one", "two"))
    losses = [[record["loss"] for record in records if "loss" in record] for records in (one, two)]
    assert len(losses[0]) == 20
    assert losses[1] == pytest.approx(losses[0], abs=1e-4)
    assert steps_of(tmp_path / "one") == steps_of(tmp_path / "two")


ROOT = Path(__file__).parents[2]
FREE_MEMORY = """
import numpy as np
from benchmarks.timing import _status_kb
from hyperheat.train.process import freed_memory_kept

before = _status_kb("VmRSS")
with freed_memory_kept():
    np.ones(25_000_000)  # is freed at once
    print(_status_kb("VmRSS") - before)
print(_status_kb("VmRSS") - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries have no such option")
def test_freed_memory_is_kept_until_the_end():
    run = subprocess.run(
        [sys.executable, "-c", FREE_MEMORY], cwd=ROOT, capture_output=True, text=True, check=True
    )
    kept, after = map(int, run.stdout.split())
    assert kept > 150_000 > after + 100_000


PRODUCTS = """
import torch
from benchmarks.timing import _status_kb
from hyperheat.train.process import forget_products

torch.set_num_threads(1)
forget_products()
x, w = torch.randn(600, 128).bfloat16(), torch.randn(384, 128).bfloat16()
x @ w.T
for rows in range(100, 600):
    if rows == 300:
        before = _status_kb("VmRSS")
    x[:rows] @ w.T
    x[:rows].T @ x[:rows]
print(_status_kb("VmRSS") - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_products_of_new_shapes_take_no_memory_for_good():
    run = subprocess.run(
        [sys.executable, "-c", PRODUCTS], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert int(run.stdout) < 60_000
