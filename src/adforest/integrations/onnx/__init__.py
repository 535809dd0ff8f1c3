"""A model as one standard ONNX graph, with label and probabilities as outputs (``pip install 'adforest[onnx]'``)."""

from adforest.integrations.onnx.export import to_onnx

__all__ = ["to_onnx"]
