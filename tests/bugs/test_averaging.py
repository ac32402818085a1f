"""Detectors averaged into one."""

import pytest
import torch
from tests.detector.test_network import detector

from hyperheat.bugs.averaging import average_detectors
from hyperheat.bugs.trained_detector import load_trained, save_trained
from hyperheat.cli.bugs import average


@pytest.fixture
def folders(tmp_path):
    """Two detectors with different weights."""
    paths = [tmp_path / "one", tmp_path / "other"]
    for seed, path in enumerate(paths):
        made = detector()
        torch.manual_seed(seed)
        with torch.no_grad():
            for parameter in made.model.parameters():
                parameter.add_(torch.randn_like(parameter))
        save_trained(made, path)
    return paths


@pytest.mark.parametrize(("shares", "first"), [((), 0.5), ((3.0, 1.0), 0.75)])
def test_every_weight_is_the_mean(folders, tmp_path, capsys, shares, first):
    average(model=tuple(folders), out=tmp_path / "mean", share=shares)
    assert capsys.readouterr().out == f"{tmp_path / 'mean'}: the mean of 2 models\n"
    one, other, mean = (load_trained(path).model.state_dict() for path in (*folders, tmp_path / "mean"))
    assert any(not torch.equal(one[name], other[name]) for name in one)
    for name, tensor in mean.items():
        torch.testing.assert_close(tensor, first * one[name] + (1 - first) * other[name])


def test_detectors_that_do_not_fit_are_refused(folders, tmp_path):
    save_trained(detector(dim=64, ff=256), tmp_path / "wide")
    with pytest.raises(
        ValueError, match=r"wide: expected a detector like .*one, got another network or vocabulary"
    ):
        average_detectors([folders[0], tmp_path / "wide"])
    with pytest.raises(ValueError, match="model: expected at least two detectors, got 1"):
        average_detectors(folders[:1])
    for shares in ((1.0,), (1.0, 0.0)):
        with pytest.raises(ValueError, match=r"share: expected 2 numbers above 0, got \[1.0"):
            average_detectors(folders, shares)
