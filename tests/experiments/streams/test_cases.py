import numpy as np
import pytest

from adforest.simulation.concepts import Rules
from experiments.streams.cases import CASES, CORNERS, EXPORT, N_USEFUL, N_WIDE, case_categories, simulate_case


def draw(kind, seed=0, **counts):
    return list(simulate_case(kind, **{"n_batches": 20, "batch_size": 60, "random_state": seed} | counts))


def joined(batches):
    return np.concatenate([batch.X_train for batch in batches]), np.concatenate([batch.y_train for batch in batches])


@pytest.mark.parametrize("kind", CASES)
def test_shape_and_seed(kind):
    batches = draw(kind)
    assert [batch.number for batch in batches] == list(range(1, 21))
    assert {batch.X_train.shape for batch in batches} == {(60, len(case_categories(kind)))}
    assert {len(batch.y_test) + len(batch.y_held) for batch in batches} == {0}
    X, y = joined(batches)
    again, other = joined(draw(kind)), joined(draw(kind, seed=1))
    assert np.array_equal(X, again[0])
    assert np.array_equal(y, again[1])
    assert not np.array_equal(X, other[0])
    categories = {column: n for column, n in enumerate(case_categories(kind)) if n}
    assert {column: set(X[:, column]) for column in categories} == {j: set(range(n)) for j, n in categories.items()}
    assert bool(categories) == (kind not in ("contexts", "wide")), "the others have the attributes of `Rules`"


def test_contexts_have_their_own_place_and_return_with_their_rules():
    batches = draw("contexts", n_batches=40, batch_size=400)
    assert "".join(batch.scenario for batch in batches) == 2 * "AAAAABBBBBCCCCCDDDDD"
    for place, name in enumerate("ABCD"):
        X, _ = joined([batch for batch in batches if batch.scenario == name])
        np.testing.assert_allclose(X[:, :2].mean(axis=0), CORNERS[place], atol=0.1)
    signs = []
    for stage in range(8):  # what the four inner attributes have to do with the class
        X, y = joined(batches[5 * stage : 5 * stage + 5])
        signs.append(X[y == 1, 2:].mean(axis=0) - X[y == 0, 2:].mean(axis=0))
    np.testing.assert_allclose(signs[:4], signs[4:], atol=0.25)
    assert all(np.abs(signs[one] - signs[one + 1]).max() > 0.5 for one in range(3))


@pytest.mark.parametrize("kind", ["sorted batches", "exports by attribute", "exports by class"])
def test_sorted_streams_follow_rules_that_never_change(kind):
    X, y = joined(draw(kind, n_batches=30, batch_size=100))
    is_right = Rules(np.random.default_rng(0)).answer(X, 0) == y
    assert is_right.mean() == pytest.approx(1 - Rules.noise, abs=0.02)


def test_sorted_streams_are_sorted_as_far_as_they_say():
    for batch in draw("sorted batches"):
        assert (np.diff(batch.X_train[:, 0]) >= 0).all()
        assert len(np.unique(batch.y_train)) > 2
    for kind in ("exports by attribute", "exports by class"):
        batches = draw(kind, n_batches=EXPORT + 4)
        for part in (batches[:EXPORT], batches[EXPORT:]):
            X, y = joined(part)
            assert (np.diff(y if kind.endswith("class") else X[:, 0]) >= 0).all()
    assert len(np.unique(draw("exports by class")[0].y_train)) <= 2


def test_a_growing_attribute_counts_the_records():
    X, y = joined(draw("growing"))
    assert X[:, 0].tolist() == list(range(1200))
    assert np.mean(Rules(np.random.default_rng(0)).answer(X[:, 1:], 0) == y) > 0.9


def test_few_of_many_columns_are_useful():
    X, y = joined(draw("wide", batch_size=200))
    assert X.shape == (4000, N_WIDE)
    worth = np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    order = np.argsort(worth)[::-1]
    assert worth[order[N_USEFUL - 1]] > 3 * worth[order[N_USEFUL]]
    agreed = (X[:, order[:N_USEFUL]] > 0).sum(axis=1) > N_USEFUL // 2
    assert np.mean(agreed == y) == pytest.approx(0.95, abs=0.02)


def test_misuse_is_named():
    with pytest.raises(ValueError, match=r"there is no case 'narrow'; expected one of contexts, .*wide"):
        simulate_case("narrow")
    with pytest.raises(ValueError, match="n_batches is 0; expected 1 or more"):
        simulate_case("wide", n_batches=0)
    with pytest.raises(TypeError, match="batch_size is 'x'"):
        simulate_case("wide", batch_size="x")
