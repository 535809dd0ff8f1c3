import weakref
from itertools import groupby, islice, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from adforest.simulation import concept_categorical, drift_points, simulate_drift
from adforest.simulation.concepts import CONCEPT_NAMES, FAMILIES

KINDS = ("none", "abrupt", "gradual", "temporary", "recurring")
CONCEPTS = ("sea", "hyperplane", "rules")
N_COLUMNS = {"sea": 3, "hyperplane": 10, "rules": 6}
N_CLASSES = {"sea": 2, "hyperplane": 2, "rules": 5}
NOISE = {"sea": 0.10, "hyperplane": 0.05, "rules": 0.05}


def names_of(kind, n_batches):
    """Return who rules each batch."""
    return [batch.scenario for batch in simulate_drift(kind, n_batches=n_batches, batch_size=1)]


def parts(batch):
    return (batch.X_train, batch.y_train), (batch.X_test, batch.y_test), (batch.X_held, batch.y_held)


def family_of(concept, seed):
    """Return the concepts that a stream of that seed is made of; the stream takes them from the seed first."""
    return FAMILIES[concept](np.random.default_rng(seed))


# --- what a batch looks like


@pytest.mark.parametrize("concept", CONCEPTS)
@pytest.mark.parametrize("kind", KINDS)
def test_batches_have_the_promised_shape(kind, concept):
    batches = list(simulate_drift(kind, concept, n_batches=16, batch_size=50, random_state=0))
    assert [batch.number for batch in batches] == list(range(1, 17))
    for batch in batches:
        assert [len(X) for X, _ in parts(batch)] == [len(y) for _, y in parts(batch)] == [50, 25, 5]
        for X, y in parts(batch):
            assert X.dtype == np.float64
            assert X.shape[1] == N_COLUMNS[concept]
            assert set(y.tolist()) <= set(range(N_CLASSES[concept]))
    assert {value for batch in batches for value in batch.y_train.tolist()} == set(range(N_CLASSES[concept]))


def test_the_smallest_batch_still_tests_and_holds_a_record():
    batch = next(simulate_drift("none", batch_size=1, random_state=0))
    assert [len(X) for X, _ in parts(batch)] == [1, 1, 1]


@pytest.mark.parametrize(("concept", "bounds"), [("sea", (0, 10)), ("hyperplane", (0, 1))])
def test_numerical_attributes_fill_their_range(concept, bounds):
    X = next(simulate_drift("none", concept, batch_size=5000, random_state=0)).X_train
    np.testing.assert_allclose(X.min(axis=0), bounds[0], atol=bounds[1] / 100)
    np.testing.assert_allclose(X.max(axis=0), bounds[1], atol=bounds[1] / 100)


def test_categorical_attributes_are_codes_and_the_others_are_not():
    X = next(simulate_drift("none", "rules", random_state=0)).X_train
    assert [len(np.unique(column)) for column in X.T[3:]] == [4, 6, 2]
    np.testing.assert_array_equal(X[:, 3:], X[:, 3:].astype(int))
    assert all(len(np.unique(column)) == len(X) for column in X.T[:3])
    assert concept_categorical("rules") == (False,) * 3 + (True,) * 3
    assert concept_categorical("sea") == (False,) * 3
    assert concept_categorical("hyperplane") == (False,) * 10


# --- which concept rules when


def test_forty_batches_of_every_kind():
    assert names_of("none", 40) == ["A"] * 40
    assert names_of("abrupt", 40) == list("A" * 10 + "B" * 10 + "C" * 10 + "D" * 10)
    assert names_of("gradual", 40) == ["A"] * 15 + ["A+B"] * 10 + ["B"] * 15
    assert names_of("temporary", 40) == list("A" * 10 + "BB" + "A" * 8 + "CC" + "A" * 8 + "DD" + "A" * 8)
    assert names_of("recurring", 40) == list(("A" * 5 + "B" * 5) * 4)


@given(st.sampled_from(KINDS), st.integers(12, 80))
def test_the_ruler_changes_at_the_drift_points_and_nowhere_else(kind, n_batches):
    names = names_of(kind, n_batches)
    changes = [number for number, (before, now) in enumerate(pairwise(names), start=2) if before != now]
    if kind == "gradual":  # its one change ends where the new concept is alone
        changes, end = changes[:1], changes[1]
        assert end - changes[0] == n_batches // 4
    assert changes == drift_points(kind, n_batches)


@given(st.integers(12, 80))
def test_a_temporary_concept_rules_two_batches_between_two_of_the_first(n_batches):
    turns = [(name, len(list(turn))) for name, turn in groupby(names_of("temporary", n_batches))]
    assert [name for name, _ in turns] == list("ABACADA")
    assert all(length == 2 for name, length in turns if name != "A")


# --- what the concepts say


@pytest.mark.parametrize("concept", ["hyperplane", "rules"])
@pytest.mark.parametrize("seed", range(5))
def test_a_quarter_of_the_classes_or_more_change_between_any_two_concepts(concept, seed):
    family = family_of(concept, seed)
    X = family.draw_features(5000)
    answers = [family.answer(X, k) for k in range(4)]
    assert all(np.mean(answers[i] != answers[j]) > 0.25 for i in range(4) for j in range(i))


def test_sea_changes_as_much_as_its_thresholds_say():
    family = family_of("sea", 0)
    X = family.draw_features(100_000)
    for concept, threshold in enumerate((8, 9, 7, 9.5)):
        answer = family.answer(X, concept)
        # The corner below the line is a triangle of the square of 10 by 10.
        assert answer.mean() == pytest.approx(threshold**2 / 200, abs=0.006)
        np.testing.assert_array_equal(answer == 1, X[:, 0] + X[:, 1] <= threshold)


def test_no_class_of_the_rules_is_rare_under_any_of_them():
    family = family_of("rules", 0)
    X = family.draw_features(20_000)
    for concept in range(4):
        assert (np.bincount(family.answer(X, concept), minlength=5) / len(X)).min() > 0.1


def test_every_attribute_of_the_rules_has_a_say_in_some_concept():
    family = family_of("rules", 0)
    X = family.draw_features(2000)
    for column in range(6):
        moved = X.copy()
        moved[:, column] = np.random.default_rng(1).permutation(X[:, column])
        assert any((family.answer(X, k) != family.answer(moved, k)).any() for k in range(4))


@pytest.mark.parametrize("concept", CONCEPTS)
def test_noise_has_its_share_in_what_trains_and_in_what_tests(concept):
    family = family_of(concept, 3)
    wrong = [
        [np.mean(family.answer(X, 0) != y) for X, y in parts(batch)]
        for batch in simulate_drift("none", concept, n_batches=4, batch_size=10_000, random_state=3)
    ]
    np.testing.assert_allclose(np.mean(wrong, axis=0), NOISE[concept], atol=0.015)


def test_noise_among_five_classes_takes_every_wrong_class_alike():
    family = family_of("rules", 0)
    batch = next(simulate_drift("none", "rules", batch_size=40_000, random_state=0))
    offset = (batch.y_train - family.answer(batch.X_train, 0)) % 5
    np.testing.assert_allclose(np.bincount(offset)[1:] / np.sum(offset > 0), 0.25, atol=0.04)


@pytest.mark.parametrize("concept", CONCEPTS)
@pytest.mark.parametrize("kind", ["abrupt", "temporary", "recurring"])
def test_the_concept_a_batch_is_named_after_gave_its_classes(kind, concept):
    family = family_of(concept, 5)
    for batch in simulate_drift(kind, concept, n_batches=16, batch_size=600, random_state=5):
        ruler = CONCEPT_NAMES.index(batch.scenario)
        for X, y in parts(batch)[:2]:
            assert np.mean(family.answer(X, ruler) != y) == pytest.approx(NOISE[concept], abs=0.06)


@pytest.mark.parametrize("concept", CONCEPTS)
def test_the_new_concept_gains_ground_step_by_step(concept):
    family = family_of(concept, 1)
    for part in (0, 1):  # training, test
        shares = []
        for batch in simulate_drift("gradual", concept, n_batches=20, batch_size=20_000, random_state=1):
            X, y = parts(batch)[part]
            old, new = family.answer(X, 0), family.answer(X, 1)
            told = (old != new) & ((y == old) | (y == new))
            shares.append(np.mean(y[told] == new[told]))
        mixed = shares[7:12]
        assert all(before < now for before, now in pairwise(shares[6:13]))
        if concept == "rules":  # where noise rarely hits the other concept's class
            np.testing.assert_allclose(mixed, np.arange(1, 6) / 6, atol=0.03)
            np.testing.assert_allclose(shares[:7] + shares[12:], [0] * 7 + [1] * 8, atol=0.03)


@pytest.mark.parametrize("concept", ["hyperplane", "rules"])
def test_a_concept_that_returns_is_the_one_that_was_learnt(concept):
    first, second, third = (
        list(turn)
        for _, turn in islice(
            groupby(simulate_drift("recurring", concept, random_state=0), key=lambda batch: batch.scenario), 3
        )
    )
    assert [turn[0].scenario for turn in (first, second, third)] == ["A", "B", "A"]
    tree = DecisionTreeClassifier(min_samples_leaf=20, random_state=0)
    tree.fit(np.concatenate([batch.X_train for batch in first]), np.concatenate([batch.y_train for batch in first]))
    on_first, on_second, on_third = (
        np.mean([tree.score(batch.X_test, batch.y_test) for batch in turn]) for turn in (first, second, third)
    )
    assert on_third == pytest.approx(on_first, abs=0.02)
    assert on_second < on_first - 0.1


# --- how it is drawn


@pytest.mark.parametrize("concept", CONCEPTS)
def test_same_seed_same_stream(concept):
    one, same, other = (
        list(simulate_drift("gradual", concept, n_batches=8, batch_size=30, random_state=seed)) for seed in (7, 7, 8)
    )
    for batch, twin, stranger in zip(one, same, other, strict=True):
        for (X, y), (X_twin, y_twin), (X_stranger, _) in zip(parts(batch), parts(twin), parts(stranger), strict=True):
            np.testing.assert_array_equal(X, X_twin)
            np.testing.assert_array_equal(y, y_twin)
            assert not np.isclose(X, X_stranger).all()


def test_a_generator_may_be_the_source():
    by_seed = next(simulate_drift(random_state=2))
    by_generator = next(simulate_drift(random_state=np.random.default_rng(2)))
    np.testing.assert_array_equal(by_seed.X_train, by_generator.X_train)


def test_no_record_is_drawn_twice():
    batches = list(simulate_drift("none", n_batches=5, batch_size=100, random_state=0))
    drawn = np.concatenate([X for batch in batches for X, _ in parts(batch)])
    assert len(np.unique(drawn, axis=0)) == len(drawn) == 5 * 160


@pytest.mark.parametrize("concept", CONCEPTS)
def test_length_moves_the_changes_and_nothing_else(concept):
    short = simulate_drift("abrupt", concept, n_batches=8, batch_size=400, random_state=0)
    long = simulate_drift("abrupt", concept, n_batches=40, batch_size=400, random_state=0)
    for brief, other in zip(short, islice(long, 8), strict=True):
        np.testing.assert_array_equal(brief.X_train, other.X_train)
        np.testing.assert_array_equal(brief.X_held, other.X_held)
        assert np.array_equal(brief.y_train, other.y_train) == (brief.scenario == other.scenario == "A")


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_of_any_length_is_drawn_batch_by_batch(kind):
    stream = simulate_drift(kind, n_batches=10**9, batch_size=20, random_state=0)
    first = next(stream)
    seen = weakref.ref(first.X_train)
    del first
    assert next(stream).number == 2
    assert seen() is None, "the stream keeps a batch it has handed out"


# --- wrong arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "slow"}, "no drift of kind 'slow'; expected one of none, abrupt, gradual, temporary, recurring"),
        ({"concept": "stagger"}, "no concept 'stagger'; expected one of sea, hyperplane, rules"),
        ({"n_batches": 0, "kind": "none"}, "n_batches of a stream with drift of kind 'none' is 0; expected 1 or more"),
        ({"n_batches": 11, "kind": "temporary"}, "kind 'temporary' is 11; expected 12 or more"),
        ({"batch_size": 0}, "batch_size is 0; expected 1 or more"),
    ],
)
def test_wrong_values_are_refused_before_the_first_batch(arguments, message):
    with pytest.raises(ValueError, match=message):
        simulate_drift(**arguments)


@pytest.mark.parametrize("wrong", [2.5, "40", None, True])
def test_counts_must_be_whole_numbers(wrong):
    with pytest.raises(TypeError, match=f"n_batches .* is {wrong!r}; expected an integer of 4 or more"):
        simulate_drift(n_batches=wrong)
    with pytest.raises(TypeError, match=f"batch_size is {wrong!r}; expected an integer of 1 or more"):
        simulate_drift(batch_size=wrong)


def test_the_helpers_refuse_what_the_stream_refuses():
    with pytest.raises(ValueError, match="no drift of kind 'slow'"):
        drift_points("slow", 40)
    with pytest.raises(ValueError, match="kind 'recurring' is 5; expected 6 or more"):
        drift_points("recurring", 5)
    with pytest.raises(ValueError, match="no concept 'stagger'"):
        concept_categorical("stagger")
