"""`hyperheat bugs export`: a trained detector as a folder to give away."""

import sys
from pathlib import Path
from typing import Literal

__all__ = ["export"]


def export(
    *,
    model: Path,
    out: Path,
    data: Path | None = None,
    licence: str = "MIT",
    precision: Literal["float32", "float16"] = "float32",
) -> None:
    """Write a trained detector with a model card, for `hyperheat check --model`.

    HEAT and all its variants can be exported; the encoders of other papers are refused.

    Parameters
    ----------
    model
        The folder of a model, such as best/ of a run.
    out
        The folder that gets the files; an earlier export in it is replaced.
    data
        The folder of samples that the model was trained on, whose counts go into the model card.
    licence
        The licence of the weights, for the model card.
    precision
        How weights are stored; float16 halves the file and moves log-probabilities by about 0.001.
    """
    from hyperheat.bugs.export import export_detector, facts_of_corpus
    from hyperheat.bugs.folder import load_trained
    from hyperheat.detector.manifest import WEIGHTS

    try:
        facts = facts_of_corpus(data) if data is not None else {}
        detector = load_trained(model)
        export_detector(detector, out, facts=facts, licence=licence, precision=precision)
    except (ValueError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(2) from None
    size = (out / WEIGHTS).stat().st_size
    sys.stdout.write(f"{out}: {detector.parameters:,} parameters, {WEIGHTS} of {size / 1e6:.1f} MB\n")
