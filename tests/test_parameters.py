"""Rules for parameters: what they accept, and what the error says."""

import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from adforest.adaptation import READINGS
from adforest.base import BatchClassifier
from adforest.growers import GROWERS
from adforest.parameters import (
    ARRAY_LIKE,
    FLAG,
    RANDOM_STATE,
    Amount,
    BaseForest,
    Integer,
    OneOf,
    Perturbation,
    check_parameters,
)
from experiments import rivals

RULES = [
    (Integer(), [0, -3, np.int8(2)], [1.0, "1", None, True, np.bool_(True)]),
    (Integer(2), [2, np.int64(9)], [1, np.int8(-4), 2.5]),
    (Amount(0), [0, 0.0, 7, np.float32(1.5), float("inf")], [-1e-9, "0", None, True, float("nan")]),
    (Amount(0, 1), [0, 1, 0.5], [1.0000001, -0.1]),
    (Amount(0, 1, is_low_excluded=True), [1, 1e-300], [0, 0.0, 2]),
    (OneOf("a", None), ["a", None, np.str_("a")], ["b", 0, ["a"], np.array(["a", "b"])]),
    (ARRAY_LIKE, [[], (1, 2), np.zeros(3), range(2)], ["from", b"", {}, 3, None]),
    (RANDOM_STATE, [None, 0, np.random.RandomState(1)], ["seed", -1, 1.5, np.random.default_rng(0)]),
    (FLAG, [True, False, np.bool_(True)], [1, 0, "yes", None]),
]


@pytest.mark.parametrize(("rule", "good", "bad"), RULES)
def test_rules_accept_what_they_say(rule, good, bad):
    assert [value for value in good if not rule.accepts(value)] == []
    assert [value for value in bad if rule.accepts(value)] == []


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (Integer(), "an int"),
        (Integer(3), "an int of at least 3"),
        (Amount(0), "a number of at least 0"),
        (Amount(0, 1), "a number from 0 up to 1"),
        (Amount(0, 1, is_low_excluded=True), "a number above 0 up to 1"),
        (OneOf("a", None), "'a' or None"),
    ],
)
def test_rules_say_what_they_accept(rule, text):
    assert str(rule) == text


def test_the_error_says_what_arrived_what_was_expected_and_what_to_do():
    model = AdaptiveDecisionForestClassifier(memory_size=-3)
    with pytest.raises(ValueError) as error:
        check_parameters(model, model._rules)
    assert str(error.value) == (
        "memory_size of AdaptiveDecisionForestClassifier is -3; expected an int of at least 0, or a text such as "
        "'200MB' or '1.5GiB', or None. "
        "Set it with set_params(memory_size=...)."
    )


CLASSIFIERS = [AdaptiveDecisionForestClassifier, PaperADFClassifier] + [
    kind for kind in vars(rivals).values() if isinstance(kind, type) and issubclass(kind, BatchClassifier)
]


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_every_parameter_of_every_classifier_has_rules_that_accept_its_default(kind):
    model = kind()
    check_parameters(model, model._rules)
    for name in model.get_params():
        wrong = kind(**{name: object()})
        with pytest.raises(ValueError, match=f"^{name} of {kind.__name__} is "):
            check_parameters(wrong, wrong._rules)


def test_types_of_texts_are_those_that_the_forests_know():
    assert get_args(BaseForest) == tuple(GROWERS)
    assert get_args(Perturbation) == ("reading", *READINGS)


@pytest.mark.parametrize("kind", [AdaptiveDecisionForestClassifier, PaperADFClassifier])
def test_docstrings_name_every_base_forest(kind):
    (said,) = re.findall(r"base_forest : \{(.+?)\}", kind.__doc__)
    assert sorted(said.replace('"', "").split(", ")) == sorted(GROWERS)


def test_models_of_every_base_forest_are_saved_by_tests():
    text = (Path(__file__).parent / "saved_models.py").read_text(encoding="utf-8")
    assert set(re.findall(r'base_forest="(\w+)"', text)) | {"random_forest"} == set(GROWERS)
