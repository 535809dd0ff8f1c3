"""Where batches come from is kept with the model, in bounded room."""

import numpy as np
import pytest

import adforest
from adforest import ModelFileError
from adforest.origins import DIGEST_BYTES, Origins, note_origins, origins_of
from adforest.storage.fields import PartReader, PartWriter
from adforest.storage.origin_fields import read_origins, write_origins
from saved_models import numbers, ours

ALERT = '{"id": "1", "message": "batch 2 brings the new class a"}'
NOTED = Origins("y", (("decimal", ","), ("drop", ("id", "name"))))
NOTED = NOTED.with_batch(b"a" * DIGEST_BYTES, 0, 5, 1).with_batch(bytes(DIGEST_BYTES))
SIZED = NOTED.with_batch(b"b" * DIGEST_BYTES, 120, 7, 3)
STREAMED = Origins("y", stream="one", epoch=7, position=41)
ALERTED = Origins("y", rule_counts=(("new class", ()), ("missing above 0.2", (("a", 2), ("b", 1)))), alerts=(ALERT,))


@pytest.mark.parametrize(
    "origins",
    [NOTED, SIZED, STREAMED, ALERTED, Origins("y"), Origins()],
    ids=["files", "sizes", "stream", "alerts", "no batches", "nothing"],
)
def test_what_is_noted_comes_back(tmp_path, origins):
    model = ours().fit(*numbers(0))
    note_origins(model, origins)
    model.save(tmp_path / "model.adf")
    assert origins_of(adforest.load(tmp_path / "model.adf")) == origins


def test_learning_keeps_it_and_fit_forgets_it():
    model = ours().fit(*numbers(0))
    note_origins(model, NOTED)
    assert origins_of(model.partial_fit(*numbers(1))) == NOTED
    assert origins_of(model.fit(*numbers(0))) == Origins()


def test_the_oldest_batches_are_forgotten():
    digests = tuple(number.to_bytes(DIGEST_BYTES, "big") for number in range(Origins.MAX_DIGESTS + 2))
    n = Origins.MAX_DIGESTS - 1
    origins = Origins(digests=digests[:n], sizes=((1, 2, 3),) * n)
    for digest in digests[n:]:
        origins = origins.with_batch(digest)
    assert origins.digests == digests[2:]
    assert origins.sized()[-4:] == [(digests[n - 1], 1, 2), *((digest, 0, 0) for digest in digests[n:])]


def test_digests_tell_the_batch_that_they_were_learnt_with():
    """Two for the last piece of a file, none for what was passed over."""
    digests = [bytes([number]) * DIGEST_BYTES for number in range(4)]
    origins = Origins().with_batch(digests[0], 0, 7, 5)
    origins = origins.with_batch(digests[1], 0, 7, 6).with_batch(digests[2], 90, 14, 6).with_batch(digests[3])
    assert origins.batch_numbers() == {digests[0]: 5, digests[1]: 6, digests[2]: 6}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": 1}, "origins.target is 1, expected text"),
        ({"reading": [1]}, r"origins.reading is \[1\], expected an object of texts and lists of text"),
        ({"reading": {"drop": [None]}}, "origins.reading is .* expected an object of texts and lists of text"),
        ({"stream": 1, "epoch": 0}, "origins.stream is 1, expected text"),
        ({"stream": "one"}, "origins.epoch"),
        ({"stream": "one", "epoch": -1}, "origins.epoch is -1"),
        ({"epoch": 1}, "origins.epoch is not known"),
        ({"position": -1}, "origins.position is -1"),
        ({"rule_counts": 1}, "origins.rule_counts is 1, expected a list"),
        ({"rule_counts": [["a", {"b": 0}]]}, "origins.rule_counts is .* expected pairs of a rule"),
        ({"rule_counts": [["a"]]}, "origins.rule_counts is .* expected pairs of a rule"),
        ({"rule_counts": [[1, {}]]}, "origins.rule_counts is .* expected pairs of a rule"),
        ({"alerts": [1]}, r"origins.alerts is \[1\], expected a list of JSON objects"),
        ({"alerts": ["[]"]}, "origins.alerts is .* expected a list of JSON objects"),
        ({"alerts": ['{"id": "1"}']}, "origins.alerts is .* expected a list of JSON objects"),
        ({"alerts": ["{"]}, "origins.alerts is .* expected a list of JSON objects"),
        ({"more": 1}, "origins.more is not known"),
        ({"origins.sizes": np.zeros((4, 3), np.int64)}, "origins.sizes are 4, expected 3, one a digest"),
        ({"origins.sizes": np.full((1, 3), -1)}, "origins.sizes"),
        ({"origins.digests": np.zeros((1, 15), np.uint8)}, r"has the shape \(1, 15\)"),
        ({"origins.digests": np.zeros((1, DIGEST_BYTES), np.int8)}, "holds int8"),
        ({"origins.digests": np.zeros((Origins.MAX_DIGESTS + 1, DIGEST_BYTES), np.uint8)}, "expected 65536 at most"),
    ],
)
def test_what_stands_for_no_origins(change, message):
    out = PartWriter({}, {})
    write_origins(SIZED, out)
    for name, value in change.items():
        (out.arrays if name in out.arrays else out.values["origins"])[name] = value
    with pytest.raises(ModelFileError, match=message):
        read_origins(PartReader(out.values, out.arrays))
