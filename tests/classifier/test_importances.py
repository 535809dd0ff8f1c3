"""Which attributes matter: identifiers and noise have no say, as permuting them shows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import permutation_importance

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from small_forests import forest

pytestmark = pytest.mark.filterwarnings("ignore:.*Values that are hardly ever repeated:UserWarning")


def orders(number, n=600):
    """Return samples of which a shop of four and an amount tell the class, as far as it can be told."""
    rng = np.random.default_rng([number, 5])
    shop, amount = rng.integers(0, 4, n), rng.normal(size=n)
    y = (shop % 2 + (amount > 0) + rng.normal(scale=0.6, size=n) > 1).astype(int)
    table = pd.DataFrame(
        {
            "shop": pd.Categorical([f"shop {s}" for s in shop]),
            "amount": amount,
            "noise": rng.normal(size=n),
            "order": np.arange(number * n, (number + 1) * n),
            "customer": [f"c{c}" for c in rng.integers(0, 10**9, n)],
            "street": [f"s{s}" for s in rng.integers(0, 150, n)],
            "weekday": rng.integers(0, 7, n),
        }
    )
    return table, y


@pytest.mark.parametrize("base_forest", ["random_forest", "sysfor", "hoeffding"])
@pytest.mark.parametrize("kind", [AdaptiveDecisionForestClassifier, PaperADFClassifier])
def test_importances_agree_with_those_by_permutation(kind, base_forest):
    model = kind(n_estimators=10, base_forest=base_forest, random_state=0)
    for number in range(4):
        model.partial_fit(*orders(number))
    X, y = orders(9)
    assert model.score(X, y) > 0.66
    found = dict(zip(X.columns, model.feature_importances_, strict=True))
    permuted = permutation_importance(model, X, y, n_repeats=3, random_state=0).importances_mean
    matter = set(X.columns[permuted > 0.02])
    assert matter == {"shop", "amount"}
    assert sum(found.values()) == pytest.approx(1)
    assert min(found[name] for name in matter) > 0.2
    assert max(found[name] for name in found if name not in matter) < 0.1
    assert found["customer"] < 0.01


def test_where_nothing_can_be_told_nothing_matters():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 4)), rng.integers(0, 2, 500)
    model = forest().fit(X, y)
    assert model.permanent_forest_.n_leaves > 1000
    kept = [np.abs(tree.sums.total[0]) for tree in model.permanent_forest_.trees]
    assert min(kept) > 300
    useful = forest().fit(np.column_stack([X, y + rng.normal(scale=0.1, size=500)]), y)
    assert useful.feature_importances_[-1] > 0.99
