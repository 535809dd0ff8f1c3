"""What scikit-learn, pandas and River users are used to: logarithms, leaves, paths, flat tables, large numbers."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from adforest import BatchReport, Forest, Tree
from adforest.simulation import simulate_houses
from small_forests import clusters, forest, swapped


def test_log_probabilities_are_those_of_probabilities():
    model, X = swapped(forest()), clusters(9)[0]
    np.testing.assert_array_equal(np.exp(model.predict_log_proba(X)), np.exp(np.log(model.predict_proba(X) + 0.0)))
    np.testing.assert_array_equal(model.snapshot().predict_log_proba(X), model.predict_log_proba(X))
    pure = forest().fit([[0.0], [1.0]] * 50, [0, 1] * 50)
    assert np.isneginf(pure.predict_log_proba([[0.0]])).sum() <= 1, "without a warning"


@pytest.mark.parametrize("ask", ["predict", "predict_proba", "predict_log_proba", "apply", "partial_fit", "snapshot"])
def test_warnings_point_at_the_line_that_called(ask):
    X, y = clusters(0)
    model = forest().fit(pd.DataFrame(X, columns=["a", "b"]), y)
    asked = model.snapshot().predict_log_proba if ask == "snapshot" else getattr(model, ask)
    with pytest.warns(UserWarning, match="^X does not have valid feature names") as caught:
        asked(*(X, y) if ask == "partial_fit" else (X,))
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("name", ["permanent", "temporary", "newest"])
def test_leaves_and_paths(name):
    model, X = swapped(forest(n_estimators=4)), clusters(9, n=80)[0]
    trees = getattr(model, f"{name}_forest_").trees
    leaves = model.apply(X, forest=name)
    assert leaves.shape == (80, len(trees))
    indicator, starts = model.decision_path(X, forest=name)
    assert indicator.shape == (80, sum(len(tree.nodes) for tree in trees))
    assert starts.tolist() == np.cumsum([0] + [len(tree.nodes) for tree in trees]).tolist()
    dense = indicator.toarray()
    assert set(np.unique(dense)) <= {0, 1}
    for k, tree in enumerate(trees):
        of_tree = dense[:, starts[k] : starts[k + 1]]
        assert (tree.nodes["split"][leaves[:, k]] < 0).all()
        assert (of_tree[:, 0] == 1).all(), "the root"
        assert (of_tree[np.arange(80), leaves[:, k]] == 1).all()
        for row in range(80):  # walk down by hand
            node, path = 0, [0]
            while tree.nodes["split"][node] >= 0:
                left = int(tree.nodes["left"][node])
                (node,) = [child for child in (left, left + 1) if of_tree[row, child]]
                path.append(node)
            assert np.flatnonzero(of_tree[row]).tolist() == sorted(path)


def test_a_forest_that_is_not_there_is_named():
    model = forest().fit(*clusters(0))
    with pytest.raises(ValueError, match=r"no newest forest after batch 1\. Look at one of these: permanent, active"):
        model.apply(clusters(0)[0], forest="newest")
    with pytest.raises(
        ValueError, match=r"forest is 'oldest'; expected 'permanent', 'active', 'temporary' or 'newest'"
    ):
        model.decision_path(clusters(0)[0], forest="oldest")


def test_history_is_a_flat_table_in_one_call(monkeypatch):
    model = swapped(forest(), 3)
    table = model.history_frame()
    assert isinstance(table, pd.DataFrame)
    assert table["batch"].tolist() == [1, 2, 3, 4, 5, 6]
    assert table["accuracy_vote"].tolist()[1:] == [report.accuracy["vote"] for report in model.history_[1:]]
    assert np.isnan(table["accuracy_vote"][0]), "nothing was known before the first batch"
    assert not any(isinstance(value, dict) for value in table.iloc[-1])
    assert {"scenario", "drift", "seconds", "action_permanent", "n_leaves_newest", "votes_temporary"} <= set(table)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install pandas, or make another kind of table"):
        model.history_frame()


def test_history_frame_before_fit():
    with pytest.raises(NotFittedError):
        forest().history_frame()


def test_a_row_has_every_field_of_a_report():
    report = swapped(forest()).history_[-1]
    row = report.as_row()
    for name in BatchReport.__dataclass_fields__:
        value = getattr(report, name)
        found = {key: figure for key, figure in row.items() if key == name or key.startswith(f"{name}_")}
        if isinstance(value, dict):
            assert found == {f"{name}_{key}": figure for key, figure in value.items()}
        else:
            assert found[name] == value


def test_a_batch_prints_in_a_line():
    batch = simulate_houses(2_000, random_state=0)[2]
    assert "\n" not in repr(batch)
    assert repr(batch).startswith("Batch 3 (")
    assert len(repr(batch)) < 100


def test_score_takes_weights():
    model, (X, y) = forest().fit(*clusters(0)), clusters(1)
    y = y.copy()
    y[:10] = 1 - y[:10]
    right = model.predict(X) == y
    weights = np.linspace(0, 1, len(y))
    assert model.score(X, y, sample_weight=weights) == pytest.approx(np.average(right, weights=weights))


def test_more_than_a_thousand_columns():
    rng, model = np.random.default_rng(0), forest(n_estimators=10)
    for _ in range(3):
        X = rng.normal(size=(200, 1_200)).astype(np.float32)
        X[:, 7] += 4 * (y := rng.integers(0, 2, 200))
        model.partial_fit(X, y)
    X = rng.normal(size=(300, 1_200))
    X[:, 7] += 4 * (y := rng.integers(0, 2, 300))
    assert model.n_features_in_ == 1_200
    assert model.score(X, y) > 0.8
    assert model.feature_importances_.argmax() == 7


def test_a_thousand_classes():
    rng, model = np.random.default_rng(0), forest(n_estimators=5)
    for start in (0, 500):
        y = np.repeat(np.arange(start, start + 500), 4)
        model.partial_fit(np.column_stack([y, -y]) + rng.normal(scale=0.05, size=(2_000, 2)), y)
    assert len(model.classes_) == 1_000
    y = np.arange(1_000)
    X = np.column_stack([y, -y]).astype(float)
    assert model.score(X, y) > 0.95
    assert model.predict_proba(X).shape == (1_000, 1_000)


def test_forests_and_trees_are_shown_in_a_line():
    model = forest(n_estimators=3).fit(*clusters(0)).partial_fit(*clusters(1))
    shown = repr(model.permanent_forest_)
    assert shown == f"Forest(n_trees=3, n_leaves={model.permanent_forest_.n_leaves})"
    tree = model.permanent_forest_.trees[0]
    assert repr(tree) == f"Tree(n_leaves={tree.n_leaves}, depth={tree.depth})"
    assert Forest is type(model.permanent_forest_)
    assert Tree is type(tree)
