"""A trained detector as an ONNX graph."""
