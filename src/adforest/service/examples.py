"""The calls in the OpenAPI document: bodies with examples, and responses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from fastapi.responses import JSONResponse, Response

from adforest.service.bodies import ARROW, CSV, JSON, PARQUET

FLAT = {"area": 70, "rooms": 3, "district": "north"}
OBJECT: dict[str, Any] = {"type": "object"}
BINARY: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
FILE = {"application/octet-stream": BINARY}
ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
REFUSALS = {
    "400": "The body cannot be read.",
    "404": "There is no such model, record or batch.",
    "405": "There is no such call.",
    "406": "Explanations are JSON.",
    "408": "The body did not arrive in time.",
    "409": "It contradicts an earlier request.",
    "410": "The record is over.",
    "413": "The body is too large.",
    "415": "The body is of no type that is read.",
    "422": "The request makes no sense.",
    "429": "Too many requests or records are pending; Retry-After says when to ask again.",
    "503": "The service is about to end.",
    "507": "There is no room on the disk.",
}


def _json(example: Any, **properties: Any) -> dict[str, Any]:
    return {JSON: {"schema": OBJECT | ({"properties": properties} if properties else {}), "example": example}}


def _tables(*columns: str) -> dict[str, Any]:
    """Return the description of a body that is a table."""
    row = FLAT | {"rent": "mid"}
    lines = ",".join(columns), ",".join(str(row[name]) for name in columns)
    text = {CSV: {"schema": {"type": "string"}, "example": "\n".join(lines) + "\n"}}
    return text | dict.fromkeys((*PARQUET, *ARROW), BINARY)


BODIES: dict[str, dict[str, Any]] = {
    "put_model": _json({"target": "rent", "parameters": {"n_estimators": 50}, "batch_size": 500}),
    "predict": _json(
        {"records": [FLAT], "record_ids": ["a1"]}, record_ids={"type": "array", "items": {"type": "string"}}
    )
    | _tables(*FLAT),
    "set_label": _json({"label": "mid"}, revise={"type": "boolean"}),
    "set_labels": _json({"labels": {"a1": "mid", "a2": "low"}}, revise={"type": "boolean"}),
    "add_batch": _json({"records": [FLAT | {"rent": "mid"}]}) | _tables(*FLAT, "rent"),
    "roll_back": _json({"model_version": 6}, model_version={"type": "integer"}),
    "put_challenger": _json({"parameters": {"max_depth": 8}}),
    "infer": _json(
        {
            "id": "1",
            "inputs": [
                {"name": "area", "shape": [1], "datatype": "FP64", "data": [70]},
                {"name": "rooms", "shape": [1], "datatype": "FP64", "data": [3]},
                {"name": "district", "shape": [1], "datatype": "BYTES", "data": ["north"]},
            ],
        }
    ),
}
VERSION = {"model_version": 7, "learnt_through": 41}
RECORD = {"record_id": "a1", "state": "labelled", "label": "mid", "active": True, "task": None}
TASK = {"number": 7, "kind": "batch", "state": "learnt", "n_records": 500, "batch": 7, "report": {"n_samples": 500}}
ADDED = TASK | {"status": "/v1/models/rents/batches/7"}
CHANGED = ADDED | {"n_records": 0, "report": {}}
MODEL = {"name": "rents", "target": "rent", "batch_size": 500, "classes": ["low", "mid"], "batches": 7} | VERSION
TENSOR = {"name": "predict", "datatype": "BYTES", "shape": [1]}
ANSWERS: dict[str, Any] = {
    "list_models": {"models": ["rents"]},
    "put_model": MODEL,
    "model": MODEL,
    "predict": {"predictions": ["mid"], "probabilities": [{"low": 0.1, "mid": 0.9}]} | VERSION,
    "set_label": {"state": "labelled", "outcome": "created"},
    "set_labels": {"created": 2, "same": 0, "revised": 0},
    "record": RECORD,
    "withdraw": RECORD | {"state": "withdrawn", "label": None},
    "activate": RECORD,
    "add_batch": ADDED,
    "batch": TASK,
    "versions": {"versions": [{"model_version": 7, "batches": 7, "is_current": True}]},
    "roll_back": CHANGED | {"kind": "rollback"},
    "history": {"batches": [{"batch": 7, "n_samples": 500, "accuracy_vote": 0.9, "drift": "none"}]},
    "drift": {"drift": "none", "batches": [{"batch": 5, "drift": "temporary"}]},
    "challenger": {"parameters": {"max_depth": 8}, "since": 5, "batches": 2, "verdict": "open"},
    "put_challenger": CHANGED | {"kind": "challenge"},
    "delete_challenger": CHANGED | {"kind": "drop_challenger"},
    "promote": CHANGED | {"kind": "promote"},
    "server": {"name": "adforest", "version": "0.1.0", "extensions": []},
    "live": {"live": True},
    "server_ready": {"ready": True},
    "ready": {"name": "rents", "ready": True},
    "metadata": {"name": "rents", "versions": ["7"], "platform": "adforest", "inputs": [], "outputs": [TENSOR]},
    "infer": {"model_name": "rents", "model_version": "7", "id": "1", "outputs": [TENSOR | {"data": ["mid"]}]},
}
PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "predict": [
        {"name": "record_id", "in": "query", "schema": {"type": "string"}, "description": "A column of record ids."},
        {"name": "activate", "in": "query", "schema": {"type": "string", "enum": ["true", "false"]}},
    ],
    "add_batch": [{"name": "Idempotency-Key", "in": "header", "schema": {"type": "string", "maxLength": 200}}],
}


def add_routes(app: FastAPI, *calls: tuple[str, str, Callable[..., Any]]) -> None:
    """Add calls to an application, with their documentation."""
    for method, path, action in calls:
        _add_route(app, method, path, action)


def _add_route(app: FastAPI, method: str, path: str, action: Callable[..., Any]) -> None:
    name = action.__name__
    extra: dict[str, Any] = {"responses": {code: _refusal(words) for code, words in REFUSALS.items()}}
    done = {"description": "Done.", "content": _json(ANSWERS[name]) if name in ANSWERS else FILE}
    extra["responses"] |= dict.fromkeys(("200", "201", "202"), done)
    extra["responses"]["204"] = {"description": "Removed."}
    if name in BODIES:
        extra["requestBody"] = {"required": True, "content": BODIES[name]}
    if name in PARAMETERS:
        extra["parameters"] = PARAMETERS[name]
    app.add_api_route(
        path,
        action,
        methods=[method],
        response_class=JSONResponse if name in ANSWERS else Response,
        response_model=None,
        openapi_extra=extra,
    )


def _refusal(words: str) -> dict[str, Any]:
    return {"description": words, "content": {JSON: {"schema": ERROR}}}
