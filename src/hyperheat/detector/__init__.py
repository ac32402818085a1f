"""Running a trained detector, without torch: samples, scores, the model folder and its calibration.

    detector = load_detector()                # the one that comes with the package, or that in a folder
    scorer = Scorer.load(detector.folder)
    scorer.score([sample])

The names load on first use, so that reading a calibration needs no numpy.
"""

from typing import TYPE_CHECKING

from hyperheat.lazy_names import lazy_names

if TYPE_CHECKING:
    from hyperheat.detector.calibration import Calibration
    from hyperheat.detector.detector import Detector, load_detector
    from hyperheat.detector.sample import Sample, make_sample
    from hyperheat.detector.scorer import SampleScores, Scorer

_HOMES = {
    "Calibration": "calibration",
    "Detector": "detector",
    "Sample": "sample",
    "SampleScores": "scorer",
    "Scorer": "scorer",
    "load_detector": "detector",
    "make_sample": "sample",
}

__all__ = ["Calibration", "Detector", "Sample", "SampleScores", "Scorer", "load_detector", "make_sample"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _HOMES, __all__)
