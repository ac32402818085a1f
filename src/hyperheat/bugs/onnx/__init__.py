"""A trained detector without torch: an ONNX file, its inputs planned in numpy, and onnxruntime to run it.

The names load on first use, so that reading a calibration needs no numpy.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperheat.bugs.onnx.scorer import SampleScores, Scorer

__all__ = ["SampleScores", "Scorer"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hyperheat.bugs.onnx import scorer

    return getattr(scorer, name)
