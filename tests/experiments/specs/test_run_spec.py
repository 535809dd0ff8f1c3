import json

import pytest

from experiments.specs.run_spec import MethodSpec, RunSpec, StreamSpec

PART = RunSpec(StreamSpec.of("house", "34", n_records=900), MethodSpec.of("ADF-R", window_size=5, renewal=0), 3)


def test_order_of_settings_does_not_matter():
    other = RunSpec(StreamSpec.of("house", "34", n_records=900), MethodSpec.of("ADF-R", renewal=0, window_size=5), 3)
    assert PART == other
    assert hash(PART) == hash(other)
    assert PART.text == other.text


def test_description_is_plain_data():
    assert json.loads(PART.text) == PART.describe()
    assert PART.describe()["method"] == {"name": "ADF-R", "settings": {"renewal": 0, "window_size": 5}}
    assert str(PART) == "ADF-R (renewal=0, window_size=5) on house (34), seed 3"


@pytest.mark.parametrize(
    "other",
    [
        RunSpec(StreamSpec.of("house", "28", n_records=900), PART.method, 3),
        RunSpec(StreamSpec.of("house", "34", n_records=901), PART.method, 3),
        RunSpec(PART.stream, MethodSpec("ADF-R"), 3),
        RunSpec(PART.stream, PART.method, 4),
    ],
)
def test_any_difference_makes_another_part(other):
    assert other != PART
    assert other.text != PART.text
