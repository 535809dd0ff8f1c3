"""Builder of a graph: operators and constants get names that differ from those of inputs and outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from adforest.forest.types import AnyArray
from adforest.libraries import require

OPSET, ML_OPSET = 18, 5  # TreeEnsemble, which takes doubles and sets of categories, is new in 5
ML = "ai.onnx.ml"
MAX_BYTES = 2**31 - 2**20  # limit of protobuf, less some for names


class Graph:
    """Collects the nodes of an ONNX graph.

    Parameters
    ----------
    reserved : tuple of str
        Names that inputs and outputs have.
    """

    def __init__(self, reserved: tuple[str, ...]) -> None:
        self.onnx = require("onnx", "to_onnx", "onnx")
        require("onnx.numpy_helper", "to_onnx", "onnx")
        self._taken = set(reserved)
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def input(self, name: str, dtype: str, width: int) -> str:
        """Add an input of shape (N, width); the type is one of those of `onnx.TensorProto`, such as DOUBLE."""
        self._inputs.append(self._value(name, dtype, ["N", width]))
        return name

    def output(self, value: str, name: str, dtype: str, *width: int) -> None:
        """Make a value an output of that name, of shape (N, width) or (N,)."""
        self._nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))
        self._outputs.append(self._value(name, dtype, ["N", *width]))

    def constant(self, array: AnyArray | float) -> str:
        """Add a constant."""
        name = self._fresh("constant")
        self._constants.append(self.tensor(np.asarray(array), name))
        return name

    def tensor(self, array: AnyArray, name: str = "") -> Any:
        """Return an array as a tensor of ONNX; objects are text."""
        return self.onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add an operator with one output, and return the output's name."""
        name = self._fresh(operator)
        self._nodes.append(
            self.onnx.helper.make_node(operator, list(inputs), [name], name=name, domain=domain, **attributes)
        )
        return name

    def mean(self, value: str, axis: int) -> str:
        """Return the mean over an axis, which is dropped."""
        return self.add("ReduceMean", value, self.constant(np.array([axis])), keepdims=0)

    def total(self, value: str) -> str:
        """Return the sum of each row, of shape (N, 1)."""
        return self.add("ReduceSum", value, self.constant(np.array([1])), keepdims=1)

    def divided(self, value: str, total: str) -> tuple[str, str]:
        """Return rows divided by their totals, as they are where that is 0, and whether it is."""
        is_empty = self.add("Equal", total, self.constant(0.0))
        return self.add("Div", value, self.add("Where", is_empty, self.constant(1.0), total)), is_empty

    def columns(self, value: str, start: int, stop: int) -> str:
        """Return some columns of a matrix."""
        return self.add("Slice", value, *(self.constant(np.array([bound])) for bound in (start, stop, 1)))

    def finish(self, name: str, doc: str) -> Any:
        """Return the graph as a checked ModelProto."""
        from adforest import __version__

        helper = self.onnx.helper
        graph = helper.make_graph(self._nodes, name, self._inputs, self._outputs, self._constants, doc_string=doc)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(ML, ML_OPSET)]
        model = helper.make_model(
            graph,
            opset_imports=opsets,
            ir_version=helper.find_min_ir_version_for(opsets),
            producer_name="adforest",
            producer_version=__version__,
        )
        self.onnx.checker.check_model(model)
        return model

    def _fresh(self, stem: str) -> str:
        """Return an unused name."""
        number = len(self._nodes) + len(self._constants)
        name = f"{stem}_{number}"
        while name in self._taken:
            name = f"_{name}"
        self._taken.add(name)
        return name

    def _value(self, name: str, dtype: str, shape: list[str | int]) -> Any:
        return self.onnx.helper.make_tensor_value_info(name, getattr(self.onnx.TensorProto, dtype), shape)
