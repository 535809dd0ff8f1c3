"""The calls of the Open Inference Protocol (KServe v2) in JSON, so that its clients can ask for predictions.

Columns come as tensors: one for each, by name, of one value a record; or, for a model whose columns have no names, one
of records by columns. Predictions are answered as "predict", probabilities as "predict_proba".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from adforest.base import get_fitted
from adforest.service import examples
from adforest.service.bodies import check_shape, parse_json, table_of
from adforest.service.predictions import Counts, Predicted, check_answer, predict
from adforest.service.receiving import computed, read_content
from adforest.service.requests import RequestError
from adforest.service.served_model import Answering, names_of
from adforest.service.served_models import ServedModels

DATATYPES = ("BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64")
TEXT = "BYTES"
OUTPUTS = ("predict", "predict_proba")


class OpenInference:
    """The calls of the protocol."""

    def __init__(self, models: ServedModels, counts: Counts, is_ending: Callable[[], bool]) -> None:
        self._models, self._counts, self._is_ending = models, counts, is_ending

    def add_to(self, app: FastAPI) -> None:
        """Add the calls to an application."""
        examples.add_routes(
            app,
            ("GET", "/v2", self.server),
            ("GET", "/v2/health/live", self.live),
            ("GET", "/v2/health/ready", self.server_ready),
            ("GET", "/v2/models/{model}", self.metadata),
            ("GET", "/v2/models/{model}/ready", self.ready),
            ("GET", "/v2/models/{model}/versions/{version}", self.metadata),
            ("GET", "/v2/models/{model}/versions/{version}/ready", self.ready),
            ("POST", "/v2/models/{model}/infer", self.infer),
            ("POST", "/v2/models/{model}/versions/{version}/infer", self.infer),
        )

    async def server(self) -> Response:
        """Return name and version of the server."""
        from adforest import __version__

        return JSONResponse({"name": "adforest", "version": __version__, "extensions": []})

    async def live(self) -> Response:
        """Return whether the service is alive."""
        return JSONResponse({"live": True})

    async def server_ready(self) -> Response:
        """Return whether the service can process requests: 503 once it is about to end."""
        is_ready = not self._is_ending()
        return JSONResponse({"ready": is_ready}, status_code=200 if is_ready else 503)

    async def ready(self, model: str, version: str = "") -> Response:
        """Return whether a model can predict."""
        self._answering(model, version)
        return JSONResponse({"name": model, "ready": True})

    async def metadata(self, model: str, version: str = "") -> Response:
        """Return the columns and the outputs of a model."""
        answering = self._answering(model, version)
        known = answering.model
        names = names_of(known)
        if names is None:
            inputs = [{"name": "input", "datatype": "FP64", "shape": [-1, known.n_features_in_]}]
        else:
            kinds = get_fitted(known).encoder.kinds
            inputs = [
                {"name": name, "datatype": TEXT if kind == "categories" else "FP64", "shape": [-1]}
                for name, kind in zip(names, kinds, strict=True)
            ]
        classes = known.classes_.tolist()
        outputs = [
            {"name": OUTPUTS[0], "datatype": _datatype(classes), "shape": [-1]},
            {"name": OUTPUTS[1], "datatype": "FP64", "shape": [-1, len(classes)], "parameters": {"classes": classes}},
        ]
        about = {"name": model, "versions": [str(answering.version)], "platform": "adforest"}
        return JSONResponse(about | {"inputs": inputs, "outputs": outputs})

    async def infer(self, model: str, request: Request, version: str = "") -> Response:
        """Predict; the response has the id of the request."""
        answering = self._answering(model, version)
        if "inference-header-content-length" in request.headers:
            raise RequestError(415, "the tensors are binary; expected JSON. Send them with binary_data=False.")
        content = await read_content(request)
        given, table, wanted = await computed(len(content), lambda: _read(content))
        check_answer(answering, len(table))
        found = await computed(16 * len(table), lambda: predict(answering, table))
        self._counts.add(model, len(table))
        about = {"model_name": model, "model_version": str(answering.version)}
        if type(given.get("id")) is str:
            about["id"] = given["id"]
        parameters = {"learnt_through": answering.learnt_through}

        def answer() -> Response:
            outputs = [one for one in _outputs(found) if one["name"] in wanted]
            return JSONResponse(about | {"parameters": parameters, "outputs": outputs})

        return await computed(found.probabilities.size, answer)

    def _answering(self, model: str, version: str) -> Answering:
        """Return a model that can predict, or raise 404, also for versions that are not current."""
        answering = self._models.get(model).answering
        if answering is None:
            raise RequestError(409, f"model {model!r} has learnt nothing yet.")
        if version not in ("", str(answering.version)):
            raise RequestError(404, f"model {model!r} is of version {answering.version}, not {version[:80]!r}.")
        return answering


def _read(content: bytes) -> tuple[dict[str, Any], pa.Table, tuple[str, ...]]:
    """Return a body, its tensors as a table, and the names of the requested outputs."""
    given = parse_json(content)
    return given, _table(given.get("inputs")), _wanted(given.get("outputs"))


def _wanted(given: Any) -> tuple[str, ...]:
    """Return the names of the requested outputs."""
    if given is None:
        return OUTPUTS
    if type(given) is not list or not all(type(one) is dict and one.get("name") in OUTPUTS for one in given):
        raise RequestError(422, f"'outputs' are none of {' and '.join(OUTPUTS)}.")
    return tuple(one["name"] for one in given)


def _table(inputs: Any) -> pa.Table:
    """Return tensors as a table."""
    if type(inputs) is not list or not inputs or not all(type(one) is dict for one in inputs):
        raise RequestError(422, "'inputs' is no list of tensors.")
    columns: dict[str, list[Any]] = {}
    for one in inputs:
        name, shape, data = one.get("name"), _shape(one.get("shape")), one.get("data")
        if type(name) is not str or name in columns:
            raise RequestError(422, "a tensor has no name of its own.")
        kind = one.get("datatype")
        if kind not in (*DATATYPES, TEXT):
            raise RequestError(422, f"tensor {name[:80]!r} is of type {str(kind)[:80]!r}; expected BYTES or numbers.")
        flat = _flat(data, math.prod(shape), name, is_text=kind == TEXT)
        if len(shape) == 2 and shape[1] != 1:
            if len(inputs) > 1:
                raise RequestError(422, f"tensor {name[:80]!r} has {shape[1]} columns; expected one a tensor.")
            check_shape(*shape)
            return table_of({"columns": {str(index): flat[index :: shape[1]] for index in range(shape[1])}})
        columns[name] = flat
    return table_of({"columns": columns})


def _shape(given: Any) -> list[int]:
    """Return the shape of a tensor: records, or records and columns."""
    is_list = type(given) is list and len(given) in (1, 2)
    if not is_list or not all(type(n) is int and 0 < n <= 50_000_000 for n in given) or math.prod(given) > 50_000_000:
        raise RequestError(422, f"a tensor is of shape {str(given)[:80]}; expected [records] or [records, columns].")
    found: list[int] = given
    return found


def _flat(data: Any, size: int, name: str, *, is_text: bool) -> list[Any]:
    """Return the values of a tensor in one list; they may be nested."""
    if type(data) is list and data and type(data[0]) is list:
        if not all(type(row) is list for row in data):
            raise RequestError(422, f"the data of tensor {name[:80]!r} are lists and values.")
        data = [value for row in data for value in row]
    allowed = (str, type(None)) if is_text else (int, float, bool, type(None))
    if type(data) is not list or len(data) != size or not all(type(value) in allowed for value in data):
        raise RequestError(422, f"the data of tensor {name[:80]!r} are not {size} values of its type.")
    return data


def _outputs(found: Predicted) -> list[dict[str, Any]]:
    """Return predictions as tensors."""
    n, n_classes = found.probabilities.shape
    kind = _datatype(found.classes)
    return [
        {"name": OUTPUTS[0], "datatype": kind, "shape": [n], "data": found.labels},
        {"name": OUTPUTS[1], "datatype": "FP64", "shape": [n, n_classes], "data": found.probabilities.ravel().tolist()},
    ]


def _datatype(classes: list[Any]) -> str:
    """Return the protocol's word for the type of classes."""
    kinds = {bool: "BOOL", int: "INT64", float: "FP64"}
    return kinds.get(type(classes[0]), TEXT) if classes else TEXT
