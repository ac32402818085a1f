"""`hyperheat kg calibrate`: make the probabilities of a model say how often it is right."""

import sys
from pathlib import Path
from typing import Literal

from hyperheat.cli.refusal import fail
from hyperheat.kg.calibration import calibrate as choose
from hyperheat.kg.calibration import save_calibration
from hyperheat.kg.datasets import load
from hyperheat.kg.evaluation import Protocol
from hyperheat.kg.leaks import has_equal_triple
from hyperheat.kg.statements import concatenate

__all__ = ["calibrate"]


def calibrate(
    *,
    model: Path,
    data: str,
    train_on: Literal["train", "train+valid"] = "train+valid",
    on: Literal["valid", "test"] = "test",
    limit: int = 1_000,
) -> None:
    """Choose the temperature of a model's probabilities on held-out statements, and write it into its folder.

    Parameters
    ----------
    model
        The folder of a trained model, such as best/ of a run; it gets calibration.json.
    data
        The statements that it was trained on and those held out: a folder, or the name of a published data set.
    train_on
        The splits that the model knows.
    on
        The held-out split.
    limit
        At most so many statements of the split, evenly spaced.
    """
    from hyperheat.kg.neural.folder import load_model
    from hyperheat.kg.neural.scorer import scorer_for

    try:
        Protocol(train_on=train_on, evaluate_on=on)
        if limit < 1:
            raise ValueError(f"--limit: expected at least 1, got {limit}")
        trained, dataset = load_model(model), load(data)
        training = dataset.train if train_on == "train" else concatenate([dataset.train, dataset.valid])
        held_out = dataset.splits[on]
        held_out = held_out[~has_equal_triple(training, held_out)]
        calibration = choose(
            scorer_for(trained, training),
            held_out.spaced(limit),
            known=dataset.every(),
            candidates=training.main_entities(),
        )
        save_calibration(calibration, model)
    except (ValueError, OSError) as error:
        fail(error)
    sys.stdout.write(
        f"temperature {calibration.temperature:.2f}, chosen on {calibration.questions:,} questions of {on}: "
        f"calibration error {calibration.error:.3f}, with temperature 1 {calibration.error_before:.3f}\n"
    )
