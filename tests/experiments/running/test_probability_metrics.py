from inspect import signature

import numpy as np
import pytest
from sklearn import metrics

from experiments.running.probability_metrics import ALARM_RATES, count_found, measure_probabilities


def drawn(n_classes, n=400, seed=0):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_classes, 0.4), n)
    y = np.array([rng.choice(n_classes, p=row) for row in shares])
    return shares, np.arange(n_classes), y


@pytest.mark.parametrize("n_classes", [2, 3, 8])
def test_scikit_learn_says_the_same(n_classes):
    shares, classes, y = drawn(n_classes)
    row = measure_probabilities(shares, classes, y)
    if "scale_by_half" in signature(metrics.brier_score_loss).parameters:  # from scikit-learn 1.7 on
        assert row["brier_score"] == pytest.approx(metrics.brier_score_loss(y, shares, labels=classes))
    if n_classes > 5:
        assert row["top_5_accuracy"] == pytest.approx(metrics.top_k_accuracy_score(y, shares, k=5))
    if n_classes == 2:
        assert row["average_precision"] == pytest.approx(metrics.average_precision_score(y, shares[:, 1]))
        assert row["n_positive"] == y.sum()
        ranked = y[np.argsort(-shares[:, 1])]
        for name, rate in ALARM_RATES.items():
            assert row[f"found_{name}"] == ranked[: round(rate * len(y))].sum()


def test_bins_have_all_probabilities_and_how_often_they_were_right():
    shares, classes, y = drawn(3)
    row = measure_probabilities(shares, classes, y)
    top, every = row["reliability_top"], row["reliability_all"]
    assert (sum(top["n"]), sum(every["n"])) == (400, 1_200)
    assert (sum(top["right"]), sum(every["right"])) == ((shares.argmax(axis=1) == y).sum(), 400)
    assert (sum(top["sum"]), sum(every["sum"])) == pytest.approx((shares.max(axis=1).sum(), 400), abs=1e-4)
    is_in = (shares.max(axis=1) >= 0.7) & (shares.max(axis=1) < 0.8)
    assert (top["n"][7], top["right"][7]) == (is_in.sum(), (is_in & (shares.argmax(axis=1) == y)).sum())
    assert measure_probabilities(np.array([[1.0, 0.0]]), np.arange(2), np.array([0]))["reliability_top"]["n"][9] == 1


def test_a_class_that_is_unknown_has_no_probability():
    shares, classes = np.tile(np.eye(6)[0], (4, 1)), np.arange(6)
    row = measure_probabilities(shares, classes, np.array([0, 0, 7, 7]))
    assert row["brier_score"] == pytest.approx((0 + 0 + 2 + 2) / 4)
    assert row["top_5_accuracy"] == 0.5
    assert measure_probabilities(shares, classes, np.array([0, 1, 2, 7]))["top_5_accuracy"] == pytest.approx(
        (1 + 4 / 5 + 4 / 5 + 0) / 4
    )
    assert (row["reliability_top"]["right"][9], sum(row["reliability_all"]["right"])) == (2, 2)


def test_a_batch_of_one_class_has_no_average_precision():
    row = measure_probabilities(np.full((3, 2), 0.5), np.array(["a", "b"]), np.array(["a", "a", "a"]))
    assert (row["average_precision"], row["n_positive"], row["found_at_1"]) == (None, 0, 0.0)


def test_of_those_as_probable_as_the_last_a_part_counts():
    is_positive = np.array([True, True, False, False, False])
    assert count_found(is_positive, np.ones(5), 2) == pytest.approx(0.8)
    assert count_found(is_positive, np.arange(5.0)[::-1], 1.5) == pytest.approx(1.5)
    assert count_found(is_positive, np.arange(5.0), 99) == 2
    assert count_found(is_positive, np.arange(5.0), 0) == 0
