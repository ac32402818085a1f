"""onnxruntime, told to send nothing: it reports its use to its makers unless the environment forbids that."""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # it looks when it is imported

import onnxruntime

__all__ = ["onnxruntime"]
