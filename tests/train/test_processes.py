"""Real processes: killed at any moment, and several at once."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from hyperheat.train import read_metrics

PROGRAM = Path(__file__).with_name("line.py")
TENSORS = "checkpoints/step-{:09d}/training.safetensors"


def steps_of(run: Path) -> list[tuple[int, bool]]:
    return [(record["step"], "valid" in record) for record in read_metrics(run / "metrics.jsonl")]


def test_a_run_killed_at_random_points_ends_with_the_same_bits(tmp_path):
    steps = 1500
    arguments = [f"max_steps={steps}", "checkpoint_steps=3", "validate_every=50"]

    def start(run: Path) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, PROGRAM, run, *arguments], stderr=subprocess.DEVNULL)

    assert start(tmp_path / "whole").wait() == 0
    chance = random.Random(7)
    killed = tmp_path / "killed"
    kills = 0
    while kills < 3:
        process = start(killed)
        before = len(list((killed / "checkpoints").glob("step-*"))) and _newest(killed)
        while process.poll() is None and _newest(killed) <= before + chance.randrange(300):
            time.sleep(0.001)
        if process.poll() is not None:
            break
        process.kill()
        process.wait()
        kills += 1
    assert kills == 3
    assert start(killed).wait() == 0
    for file in (TENSORS.format(steps), "best/model.safetensors"):
        whole, resumed = load_file(tmp_path / "whole" / file), load_file(killed / file)
        assert whole.keys() == resumed.keys()
        assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    assert steps_of(killed) == steps_of(tmp_path / "whole")
    assert [step for step, valid in steps_of(killed) if not valid] == list(range(1, steps + 1))


def _newest(run: Path) -> int:
    return max((int(path.name[5:]) for path in (run / "checkpoints").glob("step-*")), default=0)


def test_two_processes_give_the_loss_curve_of_one_with_the_doubled_batch(tmp_path):
    arguments = ["batches_per_step=4", "max_steps=20"]
    subprocess.run([sys.executable, PROGRAM, tmp_path / "one", *arguments], check=True, capture_output=True)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    subprocess.run([*torchrun, PROGRAM, tmp_path / "two", *arguments], check=True, capture_output=True)
    one, two = (read_metrics(tmp_path / name / "metrics.jsonl") for name in ("one", "two"))
    losses = [[record["loss"] for record in records if "loss" in record] for records in (one, two)]
    assert len(losses[0]) == 20
    assert losses[1] == pytest.approx(losses[0], abs=1e-4)
    assert steps_of(tmp_path / "one") == steps_of(tmp_path / "two")
