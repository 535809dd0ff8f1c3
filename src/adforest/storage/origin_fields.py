"""Source of the batches, in a model file; files of models without it have no such part."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from adforest.exceptions import ModelFileError
from adforest.origins import DIGEST_BYTES, Origins
from adforest.storage.fields import Array, IntegerField, PartReader, PartWriter

PART = "origins"
DIGESTS = Array("digests", np.uint8, ("n_digests", DIGEST_BYTES))
SIZES = Array("sizes", np.int64, ("n_sizes", 3), low=0, takes_none=True)
EPOCH = IntegerField("epoch")
POSITION = IntegerField("position", absent=0)


def write_origins(origins: Origins, out: PartWriter) -> None:
    """Write the source of the batches, if there is any."""
    if origins == Origins():
        return
    part = out.part(PART)
    part.values["target"] = origins.target
    part.values["reading"] = {name: value if _is_text(value) else list(value) for name, value in origins.reading}
    digests = np.frombuffer(b"".join(origins.digests), dtype=np.uint8)
    DIGESTS.write(digests.reshape(len(origins.digests), DIGEST_BYTES), part)
    SIZES.write(np.array(origins.sizes, dtype=np.int64) if origins.sizes else None, part)
    if origins.stream is not None:
        part.values["stream"] = origins.stream
        EPOCH.write(origins.epoch, part)
    if origins.position:
        POSITION.write(origins.position, part)
    if origins.rule_counts:
        part.values["rule_counts"] = [[rule, dict(counts)] for rule, counts in origins.rule_counts]
    if origins.alerts:
        part.values["alerts"] = list(origins.alerts)


def read_origins(document: PartReader) -> Origins:
    """Return the source of the batches; nothing if the file has no such part."""
    if PART not in document:
        return Origins()
    part = document.part(PART)
    target, reading = part.value("target"), part.value("reading")
    if not (target is None or _is_text(target)):
        raise part.wrong("target", target, "text")
    if type(reading) is not dict or not all(_is_text(value) or _are_texts(value) for value in reading.values()):
        raise part.wrong("reading", reading, "an object of texts and lists of text")
    digests, sizes = DIGESTS.read(part, {}), SIZES.read(part, {})
    sizes = [] if sizes is None else sizes.tolist()
    stream = part.value("stream") if "stream" in part else None
    if not (stream is None or _is_text(stream)):
        raise part.wrong("stream", stream, "text")
    epoch = 0 if stream is None else EPOCH.read(part, {})
    position = POSITION.read(part, {})
    counts = part.items("rule_counts") if "rule_counts" in part else []
    if not all(map(_is_rule_count, counts)):
        raise part.wrong("rule_counts", counts, "pairs of a rule and an object of integers")
    alerts = part.items("alerts") if "alerts" in part else []
    if not _are_alerts(alerts):
        raise part.wrong("alerts", alerts, "a list of JSON objects with an id and a message")
    part.finish()
    if len(digests) > Origins.MAX_DIGESTS:
        raise ModelFileError(f"origins.digests are {len(digests)}, expected {Origins.MAX_DIGESTS} at most")
    if len(sizes) != len(digests):
        raise ModelFileError(f"origins.sizes are {len(sizes)}, expected {len(digests)}, one a digest")
    pairs = tuple((name, value if _is_text(value) else tuple(value)) for name, value in reading.items())
    rule_counts = tuple((rule, tuple(found.items())) for rule, found in counts)
    return Origins(
        target,
        pairs,
        tuple(map(np.ndarray.tobytes, digests)),
        tuple(map(tuple, sizes)),
        stream,
        epoch,
        rule_counts,
        tuple(alerts),
        position,
    )


def _is_rule_count(value: Any) -> bool:
    """Return whether a JSON value is a rule with its findings and their counts."""
    if type(value) is not list or len(value) != 2 or not _is_text(value[0]) or type(value[1]) is not dict:
        return False
    return all(type(n) is int and 0 < n < 2**53 for n in value[1].values())


def _are_alerts(value: list[Any]) -> bool:
    """Return whether a JSON list is one of alerts, each of them the text of a JSON object."""
    if not _are_texts(value):
        return False
    try:
        found = [json.loads(one) for one in value]
    except (ValueError, RecursionError):
        return False
    return all(type(one) is dict and _is_text(one.get("id")) and _is_text(one.get("message")) for one in found)


def _is_text(value: Any) -> bool:
    """Return whether a JSON value is text."""
    return type(value) is str


def _are_texts(value: Any) -> bool:
    """Return whether a JSON value is a list of text."""
    return type(value) is list and all(map(_is_text, value))
