import json

import pytest

from experiments.specs.run_spec import MethodSpec, RunSpec, StreamSpec

RUN = RunSpec(StreamSpec.of("house", "34", n_samples=900), MethodSpec.of("ADF-R", window_size=5, renewal=0), 3)


def test_order_of_settings_does_not_matter():
    other = RunSpec(StreamSpec.of("house", "34", n_samples=900), MethodSpec.of("ADF-R", renewal=0, window_size=5), 3)
    assert RUN == other
    assert hash(RUN) == hash(other)
    assert RUN.text == other.text


def test_description_is_plain_data():
    assert json.loads(RUN.text) == RUN.describe()
    assert RUN.describe()["method"] == {"name": "ADF-R", "settings": {"renewal": 0, "window_size": 5}}
    assert str(RUN) == "ADF-R (renewal=0, window_size=5) on house (34), seed 3"


@pytest.mark.parametrize(
    "other",
    [
        RunSpec(StreamSpec.of("house", "28", n_samples=900), RUN.method, 3),
        RunSpec(StreamSpec.of("house", "34", n_samples=901), RUN.method, 3),
        RunSpec(RUN.stream, MethodSpec("ADF-R"), 3),
        RunSpec(RUN.stream, RUN.method, 4),
    ],
)
def test_any_difference_makes_another_run(other):
    assert other != RUN
    assert other.text != RUN.text
