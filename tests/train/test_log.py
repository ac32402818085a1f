import json
import sys

import pytest
from tests.train.line import LineJob

from hyperheat.train import TrainSettings, draw_curves, fit, read_metrics


def write_log(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_curves_are_drawn_from_logs(tmp_path):
    log = write_log(
        tmp_path / "metrics.jsonl",
        {"step": 1, "samples": 4, "loss": 2.0},
        {"step": 2, "samples": 8, "loss": 1.0},
        {"step": 2, "samples": 8, "valid": {"joint": 0.5}},
    )
    draw_curves({"heat": log}, "valid.joint", tmp_path / "joint.png")
    assert (tmp_path / "joint.png").read_bytes().startswith(b"\x89PNG")
    draw_curves({"heat": log, "gnn": log}, "loss", tmp_path / "loss.svg")
    assert "gnn" in (tmp_path / "loss.svg").read_text()
    with pytest.raises(
        ValueError, match=r"expected records with 'lss', got loss, samples, step, valid\.joint"
    ):
        draw_curves({"heat": log}, "lss", tmp_path / "none.png")
    assert not (tmp_path / "none.png").exists()


def test_a_damaged_log_names_the_line_and_an_unfinished_one_is_read(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1}\n{"step": 2, "lo')
    assert read_metrics(path) == [{"step": 1}]
    path.write_text('{"step": 1}\nnonsense\n')
    with pytest.raises(
        ValueError, match=r"metrics\.jsonl: line 2: expected a record with a step, got 'nonsense'"
    ):
        read_metrics(path)


def test_tensorboard_gets_the_numbers_or_is_missed_in_one_sentence(tmp_path, monkeypatch):
    settings = TrainSettings(max_steps=2, log_every=1, tensorboard=True)
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ImportError, match="tensorboard=true needs the package: pip install tensorboard"):
        fit(LineJob(), settings, tmp_path / "without")
    board = Board()
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", board)
    fit(LineJob(), settings, tmp_path / "with")
    assert board.purged_from == 1
    assert [step for name, step in board.scalars if name == "loss"] == [1, 2]
    assert [step for name, step in board.scalars if name == "valid/loss"] == [2]


class Board:
    """Stands for the module and its writer."""

    def SummaryWriter(self, folder: str, purge_step: int) -> "Board":
        self.purged_from, self.scalars = purge_step, []
        return self

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.scalars.append((name, step))

    def close(self) -> None:
        pass
