import numpy as np
import pytest

from adforest.simulation import concept_categorical
from adforest.simulation.concepts import FAMILIES
from experiments.specs.generators import (
    GENERATORS,
    LABEL_CLASSES,
    LAST_SEEN,
    RARE,
    SHIFT_PERIOD,
    TOY_BATCHES,
    TOY_NAMES,
    class_shares,
    draw_frauds,
    draw_labels,
)
from experiments.specs.run_spec import StreamSpec
from experiments.specs.sources import empty_stream, open_stream, stream_size

SMALL = {"n_batches": 12, "batch_size": 40}
SPECS = [
    *(StreamSpec.of("drift", "temporary", concept=concept, **SMALL) for concept in FAMILIES),
    *(StreamSpec.of("classes", way, **SMALL) for way in ("vanishing", "new", "rare", "shifting", "many")),
    StreamSpec.of("clusters", "wandering", **SMALL),
    StreamSpec.of("frauds", "changing", share=0.05, **SMALL),
    *(StreamSpec.of("labels", how, **SMALL) for how in LABEL_CLASSES),
    StreamSpec.of("uniform", "noisy", n_features=5, **SMALL),
    *(StreamSpec("toy", name) for name in TOY_NAMES),
]


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_streams_are_what_their_shape_says(spec):
    stream, shape = open_stream(spec, 0, None), empty_stream(spec)
    assert stream.categorical == shape.categorical
    assert len(stream.categorical) == stream.batches[0].X_train.shape[1]
    assert stream.n_samples == stream_size(spec) == sum(len(batch.y_train) for batch in stream.batches)
    again = list(GENERATORS[spec.name].draw(spec, 0))
    assert stream.digest() == type(stream)(again, (), 0).digest()


@pytest.mark.parametrize("concept", FAMILIES)
def test_categories_are_those_of_the_concept(concept):
    spec = StreamSpec.of("drift", "none", concept=concept, **SMALL)
    stream = open_stream(spec, 0, None)
    assert tuple(stream.categorical) == concept_categorical(concept)
    X = np.concatenate([batch.X_train for batch in stream.batches])
    categories = {column: n for column, n in enumerate(stream.n_categories) if n}
    assert {column: set(X[:, column]) for column in categories} == {j: set(range(n)) for j, n in categories.items()}
    assert bool(categories) == (concept == "rules")


def test_nothing_is_held_back_where_the_rules_change():
    batches = open_stream(SPECS[0], 0, None).batches
    assert [batch.scenario for batch in batches] == ["A"] * 3 + ["B"] * 2 + ["A"] + ["C"] * 2 + ["A"] + ["D"] * 2 + [
        "A"
    ]
    assert {batch.X_held.shape for batch in batches} == {(0, 3)}
    assert all(len(batch.y_test) == 20 for batch in batches)


def test_classes_come_and_go():
    vanishing = class_shares("vanishing", 9)
    assert (vanishing[:LAST_SEEN, 0] > 0).all()
    assert not vanishing[LAST_SEEN:, 0].any()
    assert (vanishing[:, 1:] > 0).all()
    new = class_shares("new", 22)
    assert new.shape == (22, 11)
    assert (new > 0).sum(axis=1)[[0, 2, 3, 5, 6, 21]].tolist() == [4, 4, 5, 5, 6, 11]
    rare = class_shares("rare", 3)
    assert rare[:, RARE].tolist() == [[0.01, 0.01]] * 3
    assert rare.sum(axis=1) == pytest.approx([1] * 3)
    shifting = class_shares("shifting", 2 * SHIFT_PERIOD)
    np.testing.assert_allclose(shifting[:SHIFT_PERIOD], shifting[SHIFT_PERIOD:])
    assert shifting.sum(axis=1) == pytest.approx([5] * len(shifting))
    assert (shifting > 0).all()
    assert (shifting.max(axis=0) > 10 * shifting.min(axis=0)).all()
    with pytest.raises(
        ValueError,
        match="classes cannot be 'shy'; expected 'vanishing', 'returning', 'new', 'rare', 'shifting', 'many'",
    ):
        class_shares("shy", 3)


def test_uniform_classes_follow_four_features_but_for_noise():
    spec = StreamSpec.of("uniform", "noisy", n_batches=2, batch_size=2_000, n_features=9)
    first, second = open_stream(spec, 0, None).batches
    assert first.X_train.shape == (2_000, 9)
    assert not np.array_equal(first.X_train, second.X_train)
    share = np.mean((first.X_train[:, :4] > 0.5).sum(axis=1) == first.y_train)
    assert share == pytest.approx(1 - 0.2 * 4 / 5, abs=0.03), "a fifth is drawn anew among five classes"


@pytest.mark.parametrize("tested", TOY_NAMES)
def test_toy_is_tested_on_one_of_its_batches(tested):
    batches = open_stream(StreamSpec("toy", tested), 0, None).batches
    assert [batch.scenario for batch in batches] == list(TOY_NAMES)
    for batch, houses in zip(batches, TOY_BATCHES, strict=True):
        assert [(*map(int, x), y) for x, y in zip(batch.X_train, batch.y_train, strict=True)] == list(houses)
        assert np.array_equal(batch.X_test, batches[TOY_NAMES.index(tested)].X_train)
        assert np.array_equal(batch.y_test, batches[TOY_NAMES.index(tested)].y_train)


def test_labels_follow_each_other():
    cycle, runs, independent = (draw_labels(how, 20_000, np.random.default_rng(0)) for how in LABEL_CLASSES)
    assert np.mean(cycle == np.arange(20_000) % 24) == pytest.approx(0.9 + 0.1 / 24, abs=0.01)
    assert np.mean(runs[1:] == runs[:-1]) == pytest.approx(0.95 + 0.05 / 6, abs=0.01)
    assert np.mean(independent[1:] == independent[:-1]) == pytest.approx(1 / 6, abs=0.01)
    with pytest.raises(ValueError, match="labels cannot be 'odd'; expected 'cycle', 'runs', 'independent'"):
        draw_labels("odd", 3, np.random.default_rng(0))


def test_labels_are_the_same_whatever_the_size_of_batches():
    whole, *_ = open_stream(StreamSpec.of("labels", "cycle", n_batches=1, batch_size=60), 0, None).batches
    ones = open_stream(StreamSpec.of("labels", "cycle", n_batches=60, batch_size=1), 0, None).batches
    assert np.array_equal(whole.X_train, np.concatenate([one.X_train for one in ones]))


def test_frauds_are_as_rare_as_asked_for_and_half_of_their_patterns_change():
    batches = list(draw_frauds(0.03, 25, 2_000, np.random.default_rng(0)))
    assert "".join(batch.scenario for batch in batches) == "A" * 10 + "B" * 10 + "C" * 5
    assert np.mean([batch.y_train.mean() for batch in batches]) == pytest.approx(0.03, abs=0.003)
    frauds = [batch.X_train[batch.y_train == 1] for batch in batches]

    def share_near(number, others):
        """Return the share of a batch's frauds that lie among those of another batch."""
        distance = np.linalg.norm(frauds[number][:, np.newaxis] - frauds[others], axis=2).min(axis=1)
        return (distance < 2.2).mean()

    assert share_near(5, 2) > 0.8
    assert 0.3 < share_near(12, 2) < 0.7
    assert share_near(22, 2) < 0.3


def test_many_classes_come_and_few_are_frequent():
    shares = class_shares("many", 20)
    assert shares.shape == (20, 200)
    assert (shares > 0).all()
    means = shares.mean(axis=0)
    assert means[0] / means[99] == pytest.approx(100, rel=0.01)
