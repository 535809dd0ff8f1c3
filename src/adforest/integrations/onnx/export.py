"""Export of a model: inputs, vote, label and probabilities; then a check with ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np

from adforest.adaptation import State
from adforest.base import FittedModel
from adforest.classifier import read_model
from adforest.exceptions import InputError
from adforest.forest.types import AnyArray
from adforest.integrations.onnx.comparing import check_answers
from adforest.integrations.onnx.graph import MAX_BYTES, Graph
from adforest.integrations.onnx.inputs import check_names, check_text, inputs_of, matrix_of
from adforest.integrations.onnx.votes import add_votes, forests_of
from adforest.libraries import require


def to_onnx(model: Any, *, missing_text: str = "", output_names: tuple[str, str] = ("label", "probabilities")) -> Any:
    """Return the current model as one ONNX graph.

    The graph holds the complete vote: all forests, their weights, and the contexts of samples. Before it is returned,
    the predictions of ONNX Runtime for the samples in memory, and for simulated ones at the thresholds of all splits,
    are compared with those of the model.

    Parameters
    ----------
    model : AdaptiveDecisionForestClassifier, PaperADFClassifier or Snapshot
    missing_text : str, default=""
        Encodes a missing value in text inputs; in the others it is NaN.
    output_names : tuple of str, default=("label", "probabilities")

    Returns
    -------
    onnx.ModelProto
        Its inputs are one matrix ``X`` of doubles, of shape (N, n_features), if the model learnt arrays of numbers.
        Otherwise there is one input per column, of shape (N, 1): text for text categories, doubles for everything else,
        named as the columns are, or ``x0``, ``x1``, … where they have no names. Dates are seconds since 1970, in UTC
        where they have a time zone, durations are seconds. The outputs are the label, of shape (N,), and float
        probabilities, of shape (N, n_classes), in the order of ``classes_``. Labels are text, int64, bool, or double
        where the classes are floats.

    Raises
    ------
    ValueError
        If names or texts are not valid in a graph, or if it would be larger than the 2 GB that ONNX allows.
    RuntimeError
        If predictions of ONNX Runtime and the model differ.

    Examples
    --------
    >>> import numpy as np, onnxruntime
    >>> from adforest import AdaptiveDecisionForestClassifier
    >>> from adforest.integrations.onnx import to_onnx
    >>> model = AdaptiveDecisionForestClassifier(random_state=0)
    >>> model = model.fit([[1.0, 5.0], [2.0, 6.0], [8.0, 5.5]], ["low", "low", "high"])
    >>> graph = to_onnx(model)
    >>> session = onnxruntime.InferenceSession(graph.SerializeToString())
    >>> label, probabilities = session.run(None, {"X": np.array([[1.5, np.nan]])})
    >>> label.tolist()
    ['low']
    """
    for library in ("onnx", "onnxruntime"):
        require(library, "to_onnx", "onnx")
    known = read_model(model, "to_onnx")
    inputs, outputs = inputs_of(known.encoder), tuple(output_names)
    check_names(inputs, outputs, missing_text)
    labels = _labels(known)
    _check_size(known)
    graph = Graph((*(one.name for one in inputs), *outputs))
    votes = add_votes(graph, matrix_of(graph, inputs, known.encoder, missing_text), known)
    _add_outputs(graph, votes, labels, outputs)
    proto = graph.finish("adforest", f"Adaptive Decision Forest after {known.n_batches} batches")
    check_answers(proto.SerializeToString(), known, inputs, missing_text)
    return proto


def _add_outputs(graph: Graph, votes: str, labels: AnyArray, names: tuple[str, ...]) -> None:
    """Add the class with the most votes, and the votes scaled to a sum of 1; uniform where there are none."""
    n_classes, kind = len(labels), graph.onnx.TensorProto
    best = graph.add("ArgMax", votes, axis=1, keepdims=0)
    scaled, none = graph.divided(votes, graph.total(votes))
    proba = graph.add("Where", none, graph.constant(1 / n_classes), scaled)
    types = {"O": "STRING", "i": "INT64", "u": "UINT64", "b": "BOOL", "f": "DOUBLE"}
    graph.output(graph.add("Gather", graph.constant(labels), best), names[0], types[labels.dtype.kind])
    graph.output(graph.add("Cast", proba, to=kind.FLOAT), names[1], "FLOAT", n_classes)


def _labels(model: FittedModel[State]) -> AnyArray:
    """Return the sorted classes in a type of ONNX: text, int64, bool, double, or uint64 if no other holds them."""
    classes = model.labels.classes
    if classes.dtype.kind in "UO":
        for text in classes.tolist():
            check_text(text, "classes_")
        return classes.astype(object)
    if classes.dtype.kind == "b":
        return classes
    if classes.dtype.kind == "f":
        return classes.astype(np.float64)
    is_too_large = classes.dtype == np.uint64 and int(classes[-1]) > np.iinfo(np.int64).max
    return classes if is_too_large else classes.astype(np.int64)


def _check_size(model: FittedModel[State]) -> None:
    """Raise if the tables of all leaves are larger than a file of ONNX may be."""
    forests, n_classes = forests_of(model.state), len(model.labels.by_arrival)
    n_leaves = sum(model.state.forests[name].forest.n_leaves for name in forests)
    n_bytes = n_leaves * (8 * (n_classes + 1) + 40)
    if n_bytes > MAX_BYTES:
        raise InputError(
            f"the graph would take about {n_bytes / 2**30:.1f} GB for {n_leaves:,} leaves of {len(forests)} forests "
            f"and {n_classes:,} classes, but ONNX holds at most 2 GB. Learn with fewer trees (n_estimators), larger "
            "leaves (min_samples_leaf) or a smaller memory_size."
        )
