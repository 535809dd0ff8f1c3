"""A model that learnt batches in parts is, bit by bit, the one that learnt them whole."""

import numpy as np
import pytest

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from parted_batches import PartedBatch, evenly, mixed_batch, saved
from rated_films import ratings

MODELS = {
    "all samples": {"max_samples": None},
    "drawn": {"max_samples": 1000},
    "weighed": {"max_samples": None, "class_weight": "balanced"},
    "drawn and weighed": {"max_samples": 1000},
    "infrequent values": {"max_samples": 1000, "max_categories": 3},
    "values that become frequent": {"max_samples": 1000, "min_frequency": 0.22},
    "listed": {"max_samples": 1000, "categorical_features": ["town", "late", "count"]},
    "SysFor": {"max_samples": 1000, "base_forest": "sysfor"},
    "Hoeffding trees": {"max_samples": 1000, "base_forest": "hoeffding"},
}


def whole(batches, make):
    model = make()
    for X, y, weight in batches:
        model.partial_fit(X, y, sample_weight=weight)
    return model


def in_parts(batches, make, n_parts):
    model = make()
    for batch in batches:
        model._learn(getattr(model, "_model", None), PartedBatch(evenly(batch, n_parts)))
    return model


@pytest.mark.parametrize("name", MODELS)
def test_any_number_of_parts_makes_the_same_model(name):
    batches = [mixed_batch(number, 1600, weighed="weighed" in name) for number in range(5)]

    def make():
        return AdaptiveDecisionForestClassifier(4, random_state=0, **MODELS[name])

    expected = saved(whole(batches, make))
    for n_parts in (1, 2, 7, 13):
        assert saved(in_parts(batches, make, n_parts)) == expected


@pytest.mark.parametrize("max_samples", [None, 1000])
def test_class_rates_of_categories(max_samples):
    batches = [(X, y, None) for X, y in ratings(6, n=1200, classes=("a", "b", "c"))]

    def make():
        return AdaptiveDecisionForestClassifier(4, random_state=0, max_samples=max_samples)

    expected = whole(batches, make)
    assert len(expected._model.encoder.rate_columns) > 2
    for n_parts in (1, 2, 7):
        assert saved(in_parts(batches, make, n_parts)) == saved(expected)


def test_the_paper_s_algorithm_too():
    batches = [mixed_batch(number) for number in range(4)]

    def make():
        return PaperADFClassifier(3, random_state=0)

    assert saved(in_parts(batches, make, 5)) == saved(whole(batches, make))


def test_small_batches_that_wait():
    batches = [mixed_batch(0, 3000), *(mixed_batch(number, 11) for number in range(1, 5)), mixed_batch(5, 300)]

    def make():
        return AdaptiveDecisionForestClassifier(3, random_state=0, max_samples=1000)

    assert saved(in_parts(batches, make, 4)) == saved(whole(batches, make))


@pytest.mark.parametrize("number", [1, 2])
def test_parts_without_samples_or_without_weight(number):
    X, y, _ = batch = mixed_batch(3, 60)
    weight = np.repeat([0.0, 1.0, 1.0, 2.0], 15)
    first = [] if number == 1 else [mixed_batch(2, 100)]

    def make():
        model = AdaptiveDecisionForestClassifier(3, random_state=0)
        for X, y, _ in first:
            model.partial_fit(X, y)
        return model

    parts = [(X[:0], y[:0], weight[:0]), *evenly((X, y, weight), 4), (X[:0], y[:0], weight[:0])]
    learnt = make()._learn(getattr(make(), "_model", None), PartedBatch(parts))
    assert saved(learnt) == saved(make().partial_fit(X, y, sample_weight=weight))
    assert len(batch[1]) == 60


def test_arrays_without_names():
    X, y, _ = mixed_batch(2)
    numbers = X[["size", "count"]].to_numpy(dtype=float)

    def make():
        return AdaptiveDecisionForestClassifier(3, random_state=0)

    batches = [(numbers, y, None), (numbers[::-1] + 1, y, None), (numbers.astype(np.float32), y[::-1], None)]
    assert saved(in_parts(batches, make, 3)) == saved(whole(batches, make))
