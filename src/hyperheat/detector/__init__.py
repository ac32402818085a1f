"""Running a trained detector, without torch: samples, scores, the model folder and its calibration.

The names load on first use, so that reading a calibration needs no numpy.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperheat.detector.scorer import SampleScores, Scorer

__all__ = ["SampleScores", "Scorer"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hyperheat.detector import scorer

    return getattr(scorer, name)
