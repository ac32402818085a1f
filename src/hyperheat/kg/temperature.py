"""The temperature of a model, which makes its probabilities say how often such answers are right.

    p(c) = softmax(score / T)_c

T is chosen from a grid to make held-out answers most likely, among the candidates without the other known answers to the
same question. The error is the expected calibration error: best answers are sorted into ten groups by their probability, and
the mean probability of each group is compared with the share of right answers in it. Ranks do not depend on T.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from hyperheat.configuration import from_dict
from hyperheat.files import parse_json, write_whole_text
from hyperheat.kg.known_answers import OtherAnswers
from hyperheat.kg.questions import Questions
from hyperheat.kg.ranking import DIRECTIONS, ScoreFunction
from hyperheat.kg.statements import Statements

__all__ = ["Temperature", "choose_temperature", "read_temperature", "save_temperature"]

_FILE = "calibration.json"
_TEMPERATURES = np.append(np.geomspace(0.2, 5, 24), 1.0)
_GROUPS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Temperature:
    """A chosen temperature, the number of questions behind it, and the calibration error with T = 1 and with it."""

    temperature: float
    questions: int
    error_before: float
    error: float

    def __post_init__(self) -> None:
        if not 0 < self.temperature < np.inf:
            raise ValueError(f"temperature: expected a number above 0, got {self.temperature}")


def choose_temperature(
    scorer: ScoreFunction,
    held_out: Statements,
    *,
    known: Statements,
    candidates: np.ndarray,
    batch_size: int = 64,
) -> Temperature:
    """Choose the temperature on statements that the scorer was not made from, in both directions."""
    if not held_out:
        raise ValueError("there are no held-out statements to calibrate on")
    losses, sure, right = [], [], []
    for blank in DIRECTIONS.values():
        others = OtherAnswers.find(held_out, known, blank, "qualifiers")
        for start in range(0, len(held_out), batch_size):
            rows = np.arange(start, min(start + batch_size, len(held_out)))
            questions = Questions(held_out[rows], np.full(len(rows), blank))
            scores = np.where(candidates, scorer(questions), -np.inf).astype(float)
            own = scores[np.arange(len(rows)), others.own[rows]]
            scores[others.of(rows)] = -np.inf
            best = scores.max(1)
            spread = [np.exp((scores - best[:, None]) / t).sum(1) for t in _TEMPERATURES]
            losses.append([np.log(s) - (own - best) / t for s, t in zip(spread, _TEMPERATURES, strict=True)])
            sure.append(1 / np.array(spread))
            right.append(own == best)
    loss = np.concatenate(losses, axis=1)
    loss = np.where(np.isfinite(loss), loss, 0).mean(1)  # an answer that is no candidate has no finite loss
    chosen = int(loss.argmin())
    confidence, is_right = np.concatenate(sure, axis=1), np.concatenate(right)
    return Temperature(
        temperature=float(_TEMPERATURES[chosen]),
        questions=len(is_right),
        error_before=_error(confidence[-1], is_right),
        error=_error(confidence[chosen], is_right),
    )


def save_temperature(temperature: Temperature, folder: Path) -> None:
    """Write it into the folder of a model."""
    write_whole_text(folder / _FILE, json.dumps(asdict(temperature), indent=1) + "\n")


def read_temperature(folder: Path) -> Temperature | None:
    """The temperature of the model in a folder, None if it was not calibrated."""
    path = folder / _FILE
    if not path.exists():
        return None
    try:
        return from_dict(Temperature, parse_json(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ValueError(f"{path}: not a calibration: {error}") from error


def _error(confidence: np.ndarray, is_right: np.ndarray) -> float:
    order = np.argsort(confidence, kind="stable")
    groups = [group for group in np.array_split(order, _GROUPS) if len(group)]
    gaps = [len(group) * abs(confidence[group].mean() - is_right[group].mean()) for group in groups]
    return float(sum(gaps) / len(order))
