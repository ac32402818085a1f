"""A trained detector without torch: an ONNX file, its inputs planned in numpy, and onnxruntime to run it."""

from hyperheat.bugs.onnx.scorer import SampleScores, Scorer

__all__ = ["SampleScores", "Scorer"]
