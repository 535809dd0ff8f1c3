"""The contract of scikit-learn: its own checks, and members addressed by name."""

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from adforest import AdaptiveDecisionForestClassifier, NextBatchVotingClassifier
from small_forests import weights_draw_lots

ADF = AdaptiveDecisionForestClassifier(n_estimators=4)
BOOSTING = HistGradientBoostingClassifier(max_iter=4)


def weights_are_not_repetitions(estimator):
    """Say which checks fail: those that do for the forest."""
    names = [name for name, _ in estimator.estimators]
    return weights_draw_lots(AdaptiveDecisionForestClassifier()) if "adf" in names else {}


@parametrize_with_checks(
    [
        NextBatchVotingClassifier([("adf", ADF), ("boosting", BOOSTING)]),
        NextBatchVotingClassifier([("tree", DecisionTreeClassifier()), ("stump", DecisionTreeClassifier(max_depth=1))]),
    ],
    expected_failed_checks=weights_are_not_repetitions,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
