import numpy as np
import pytest
from sklearn.base import clone

from experiments.specs.trivial import TrivialClassifier

X = np.zeros((2, 1))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("majority", [3 / 7, 3 / 7, 1 / 7]),
        ("no change", [0, 1, 0]),
        ("markov", [0.5, 0, 0.5]),
    ],
)
def test_rules_look_at_labels_alone(rule, expected):
    y = np.array(list("abcabab"))
    whole = TrivialClassifier(rule).partial_fit(y, y)
    model = clone(whole)
    for label in y:
        model.partial_fit([[0]], [label])
    for one in (whole, model):
        np.testing.assert_allclose(one.predict_proba(X), [expected] * 2)
        assert one.predict(X).tolist() == [["a", "b", "c"][int(np.argmax(expected))]] * 2
        assert one.classes_.tolist() == ["a", "b", "c"]


def test_markov_stays_where_nothing_has_followed_yet():
    assert TrivialClassifier("markov").partial_fit(X, [2, 5]).predict_proba(X).tolist() == [[0, 1]] * 2
