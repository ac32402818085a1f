import json
import math
import os
import signal
import time
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file
from tests.train.line import LineJob

from hyperheat.train import TrainingError, TrainSettings, fit, read_metrics

SETTINGS = TrainSettings(
    max_steps=12, lr=0.05, batches_per_step=2, validate_every=4, log_every=1, threads=1, checkpoint_steps=5
)


class Stop(Exception):
    """Stands for a crash."""


class CrashingJob(LineJob):
    """Fails when the given batch of the run is computed."""

    crash_at = 0

    def loss(self, tensors):
        self.crash_at -= 1
        if self.crash_at == 0:
            raise Stop
        return super().loss(tensors)


def crashing(at: int) -> CrashingJob:
    job = CrashingJob()
    job.crash_at = at
    return job


def weights_of(run, step=12):
    return load_file(run / "checkpoints" / f"step-{step:09d}" / "model.safetensors")


def assert_same(one, other):
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


def without_clock(run):
    return [
        {k: v for k, v in record.items() if k not in ("seconds", "core_seconds")}
        for record in read_metrics(run / "metrics.jsonl")
    ]


def test_a_step_divides_the_summed_gradient_by_the_weight(tmp_path):
    job = LineJob(samples=5, size=3, dropout=0.0)  # batches of 3 and 2 samples: one step sees all
    prediction = job.model(job.x)[:, 0]
    loss = ((prediction - job.y) ** 2).mean()
    gradient = torch.autograd.grad(loss, list(job.model.parameters()))
    norm = math.sqrt(sum(float((part**2).sum()) for part in gradient))
    absolute = float((prediction - job.y).detach().abs().mean())
    fit(job, replace(SETTINGS, max_steps=1), tmp_path)
    first = read_metrics(tmp_path / "metrics.jsonl")[0]
    assert first["loss"] == pytest.approx(loss.item(), rel=1e-5)
    assert first["norm"] == pytest.approx(norm, rel=1e-5)
    assert first["absolute"] == pytest.approx(absolute, rel=1e-5)
    assert (first["step"], first["epoch"], first["samples"], first["lr"]) == (1, 1, 5, 0.05)


def test_the_log_holds_means_over_the_steps_between_its_lines(tmp_path):
    fit(LineJob(), replace(SETTINGS, max_steps=6), tmp_path / "all")
    fit(LineJob(), replace(SETTINGS, max_steps=6, log_every=3), tmp_path / "some")
    steps = [record for record in read_metrics(tmp_path / "all" / "metrics.jsonl") if "loss" in record]
    means = [record for record in read_metrics(tmp_path / "some" / "metrics.jsonl") if "loss" in record]
    assert [record["samples"] for record in steps] == [8, 16, 22, 30, 38, 44]
    expected = (8 * steps[3]["loss"] + 8 * steps[4]["loss"] + 6 * steps[5]["loss"]) / 22
    assert [record["step"] for record in means] == [3, 6]
    assert means[1]["loss"] == pytest.approx(expected)


@pytest.mark.parametrize("at", [1, 9, 14, 24])
def test_a_crashed_run_resumes_to_the_same_bits(tmp_path, at):
    settings = replace(SETTINGS, ema=0.9, log_every=3)
    fit(LineJob(), settings, tmp_path / "whole")
    with pytest.raises(Stop):
        fit(crashing(at), settings, tmp_path / "halves")
    outcome = fit(LineJob(), settings, tmp_path / "halves", resume=True)
    assert outcome.step == 12
    for file in ("checkpoints/step-000000012/training.safetensors", "best/model.safetensors"):
        assert_same(load_file(tmp_path / "whole" / file), load_file(tmp_path / "halves" / file))
    assert without_clock(tmp_path / "whole") == without_clock(tmp_path / "halves")
    assert [path.name for path in (tmp_path / "halves" / "checkpoints").iterdir()] == ["step-000000012"]


def test_a_seed_repeats_the_run_and_another_changes_it(tmp_path):
    for name, seed in [("one", 0), ("two", 0), ("other", 1)]:
        fit(LineJob(), replace(SETTINGS, seed=seed), tmp_path / name)
    assert_same(weights_of(tmp_path / "one"), weights_of(tmp_path / "two"))
    assert not torch.equal(
        weights_of(tmp_path / "one")["0.weight"], weights_of(tmp_path / "other")["0.weight"]
    )


@pytest.mark.parametrize(
    ("limit", "step"),
    [
        ({"max_samples": 31}, 5),
        ({"max_epochs": 1}, 3),
        ({"max_minutes": 1e-9}, 1),
        ({"max_core_minutes": 1e-9}, 1),
        ({"max_steps": 7}, 7),
    ],
)
def test_the_first_budget_ends_the_run(tmp_path, limit, step):
    outcome = fit(LineJob(), replace(SETTINGS, **limit), tmp_path)
    assert (outcome.ended_by, outcome.step) == (next(iter(limit)), step)


def test_processor_time_is_logged_and_goes_on_in_a_resumed_run(tmp_path):
    fit(LineJob(), replace(SETTINGS, max_steps=4), tmp_path)
    before = [record["core_seconds"] for record in read_metrics(tmp_path / "metrics.jsonl")]
    time.sleep(0.05)  # which costs no processor time
    fit(LineJob(), SETTINGS, tmp_path, resume=True)
    records = read_metrics(tmp_path / "metrics.jsonl")
    after = [record["core_seconds"] for record in records]
    assert after == sorted(after)
    assert 0 < before[-1] <= after[len(before)]
    assert after[-1] < before[-1] + time.process_time()


def test_patience_ends_the_run_and_the_best_model_is_kept(tmp_path):
    job = LineJob(validations=[3.0, 2.0, math.nan, 2.5])
    settings = replace(SETTINGS, max_steps=100, validate_every=2, patience=2)
    outcome = fit(job, settings, tmp_path)
    assert (outcome.ended_by, outcome.step, outcome.best, outcome.best_step) == ("patience", 8, 2.0, 4)
    fit(LineJob(), replace(SETTINGS, max_steps=4), tmp_path / "four")
    assert_same(load_file(tmp_path / "best" / "model.safetensors"), weights_of(tmp_path / "four", 4))
    again = fit(LineJob(validations=[]), settings, tmp_path, resume=True)
    assert again == outcome


def test_the_largest_value_is_best_in_mode_max(tmp_path):
    outcome = fit(LineJob(validations=[1.0, 3.0, 2.0]), replace(SETTINGS, mode="max"), tmp_path)
    assert (outcome.best, outcome.best_step) == (3.0, 8)


def test_a_finished_run_may_go_on_with_a_larger_budget(tmp_path):
    fit(LineJob(), SETTINGS, tmp_path / "once")
    fit(LineJob(), replace(SETTINGS, max_steps=8), tmp_path / "twice")
    fit(LineJob(), SETTINGS, tmp_path / "twice", resume=True)
    assert_same(weights_of(tmp_path / "once"), weights_of(tmp_path / "twice"))


def test_a_signal_ends_the_run_after_the_step(tmp_path, capsys):
    class Signalled(LineJob):
        def loss(self, tensors):
            if torch.equal(tensors[1], self.y[self.batches(1)[0]]):  # the first batch of the fourth step
                os.kill(os.getpid(), signal.SIGTERM)
            return super().loss(tensors)

    outcome = fit(Signalled(), SETTINGS, tmp_path / "halves")
    assert (outcome.ended_by, outcome.step) == ("signal", 4)
    assert "to continue, run the same command with --resume" in capsys.readouterr().err
    fit(LineJob(), SETTINGS, tmp_path / "halves", resume=True)
    fit(LineJob(), SETTINGS, tmp_path / "whole")
    assert_same(weights_of(tmp_path / "whole"), weights_of(tmp_path / "halves"))
    assert without_clock(tmp_path / "whole") == without_clock(tmp_path / "halves")


def test_a_loss_that_is_not_finite_ends_the_run_and_keeps_the_checkpoint(tmp_path):
    class Diverging(LineJob):
        def loss(self, tensors):
            loss, logged = super().loss(tensors)
            return loss * (math.nan if self.calls() > 13 else 1.0), logged

        count = 0

        def calls(self):
            self.count += 1
            return self.count

    with pytest.raises(TrainingError, match=r"step 7: the loss is nan; the last .*step-000000005"):
        fit(Diverging(), SETTINGS, tmp_path)
    assert weights_of(tmp_path, 5)


def test_a_batch_that_does_not_fit_is_named(tmp_path):
    class Large(LineJob):
        def loss(self, tensors):
            torch.empty(2**60)
            return super().loss(tensors)

    with pytest.raises(TrainingError, match="step 1: out of memory on a batch of up to 4 samples"):
        fit(Large(), SETTINGS, tmp_path)


def test_a_folder_in_use_and_other_settings_are_refused(tmp_path):
    settings = replace(SETTINGS, max_steps=2)
    fit(LineJob(), settings, tmp_path)
    with pytest.raises(ValueError, match="the folder is not empty; resume the run in it"):
        fit(LineJob(), settings, tmp_path)
    with pytest.raises(
        ValueError, match=r"train\.lr: the run .* started with 0\.05 and cannot be resumed with 0\.1"
    ):
        fit(LineJob(), replace(settings, lr=0.1), tmp_path, resume=True)
    with pytest.raises(
        ValueError, match=r"job\.samples: the run .* started with 22 and cannot be resumed with 23"
    ):
        fit(LineJob(samples=23), settings, tmp_path, resume=True)
    (tmp_path / "settings.json").unlink()
    with pytest.raises(
        ValueError, match=r"no settings\.json here, so this is not the folder of a training run"
    ):
        fit(LineJob(), settings, tmp_path, resume=True)


@pytest.mark.parametrize("name", ["training.json", "training.safetensors"])
@pytest.mark.parametrize("damage", [b"", b"\x00garbage", b'{"state": {"step": "x"}, "scale": {}}'])
def test_a_corrupt_checkpoint_is_named(tmp_path, name, damage):
    fit(LineJob(), replace(SETTINGS, max_steps=2), tmp_path)
    (tmp_path / "checkpoints" / "step-000000002" / name).write_bytes(damage)
    with pytest.raises(ValueError, match=f"step-000000002/{name}: not the"):
        fit(LineJob(), SETTINGS, tmp_path, resume=True)


def test_what_a_killed_process_left_is_cleared_away(tmp_path):
    fit(LineJob(), replace(SETTINGS, max_steps=2), tmp_path)
    (tmp_path / "checkpoints" / ".step-000000005.tmp").mkdir()
    (tmp_path / "checkpoints" / "step-000000001").mkdir()
    with (tmp_path / "metrics.jsonl").open("a") as log:
        log.write('{"step": 3, "loss": 1.0}\n{"step": 4, "lo')
    fit(LineJob(), replace(SETTINGS, max_steps=3), tmp_path, resume=True)
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["step-000000003"]
    assert [record["step"] for record in read_metrics(tmp_path / "metrics.jsonl")] == [1, 2, 2, 3, 3]


def test_an_unknown_watch_and_an_empty_epoch_are_refused(tmp_path):
    with pytest.raises(ValueError, match="watch: expected one of loss, got 'joint'"):
        fit(LineJob(), replace(SETTINGS, watch="joint"), tmp_path / "a")
    with pytest.raises(ValueError, match=r"batches\(0\): expected at least one batch, got none"):
        fit(LineJob(samples=0), SETTINGS, tmp_path / "b")


def test_the_settings_are_kept_beside_the_run(tmp_path):
    fit(LineJob(), replace(SETTINGS, max_steps=1), tmp_path)
    kept = json.loads((tmp_path / "settings.json").read_text())
    assert kept["job"] == {"samples": 22, "size": 4}
    assert kept["train"]["lr"] == 0.05
