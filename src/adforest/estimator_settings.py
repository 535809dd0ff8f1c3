"""The parameters of a classifier, read into the settings that `adforest.adaptation` works with."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from adforest.adaptation import ClassWeight, Settings
from adforest.encoding import LabelTable
from adforest.exceptions import ParameterWarning, warn_caller
from adforest.forest import GrowthParams
from adforest.growers import GROWERS, Grower, count_features
from adforest.parameters import read_bytes


def read_settings(estimator: Any, n_features: int, seed: int, labels: LabelTable | None = None) -> Settings:
    """Return the settings of learning and predicting, by the current parameters of an Adaptive Decision Forest.

    Parameters
    ----------
    estimator : AdaptiveDecisionForestClassifier or PaperADFClassifier
    n_features : int
        Columns that trees are grown from.
    seed : int
        The model's.
    labels : LabelTable, optional
        Classes seen so far; without them there are no class weights.
    """
    read = _read_paper if estimator._algorithm == "paper" else _read_adaptive
    parameters = {one.name: getattr(estimator, one.name) for one in fields(Settings) if hasattr(estimator, one.name)}
    parameters |= {"algorithm": estimator._algorithm, **read(estimator)}
    parameters["class_weight"] = None if labels is None else _weight_by_code(estimator.class_weight, labels)
    return Settings(grower=read_grower(estimator, n_features), seed=seed, **parameters)


def answer_settings(estimator: Any) -> dict[str, Any]:
    """Return the settings that only matter to predictions, by the current parameters."""
    is_paper = estimator._algorithm == "paper"
    own = {"soft": estimator.voting == "soft"} if is_paper else {"answer_for": estimator.answer_for}
    return own | {"n_jobs": estimator.n_jobs}


def read_grower(estimator: Any, n_features: int) -> Grower:
    """Return the grower that the parameters select; the criterion is that of a random forest."""
    criterion = getattr(estimator, "criterion", "entropy") if estimator.base_forest == "random_forest" else "entropy"
    params = GrowthParams(
        max_features=count_features(estimator.max_features, n_features),
        min_samples_leaf=estimator.min_samples_leaf,
        max_depth=estimator.max_depth,
        criterion="entropy" if criterion == "log_loss" else criterion,
    )
    return GROWERS[estimator.base_forest](params)


def _read_adaptive(estimator: Any) -> dict[str, Any]:
    """Return the settings of `AdaptiveDecisionForestClassifier` that are not parameters of the same name."""
    size, n_bytes = estimator.memory_size, None
    if isinstance(size, str):
        n_bytes = read_bytes(size)
        size = None if n_bytes else 0
    return {"memory_size": size, "memory_bytes": n_bytes, "tuning": estimator._tuning}


def _read_paper(estimator: Any) -> dict[str, Any]:
    """Return the settings of `PaperADFClassifier` that are not parameters of the same name."""

    def read(value: Any, program: Any, text: Any) -> Any:
        return value if value != "reading" else program if estimator.reading == "program" else text

    return {
        "memory_size": read(estimator.memory_size, None, 0),
        "perturbation": read(estimator.perturbation, "merged", "batch"),
        "tree_repair": read(estimator.tree_repair, "any", "share"),
        "renewal": 0.0,
        "soft": estimator.voting == "soft",
    }


def _weight_by_code(given: Any, labels: LabelTable) -> ClassWeight:
    """Return ``class_weight`` by class code; classes that it does not name have a weight of 1."""
    if given is None or isinstance(given, str):
        return given
    values = labels.by_arrival.tolist()
    if given and not any(value in given for value in values):
        warn_caller(
            f"class_weight names {', '.join(map(repr, list(given)[:3]))}, but the classes seen so far are "
            f"{', '.join(map(repr, values[:3]))}: no weight applies yet. Name classes by the values of y.",
            ParameterWarning,
        )
    return tuple(float(given.get(value, 1.0)) for value in values)
