"""Classifiers of scikit-learn, LightGBM, XGBoost and CatBoost, refitted for every batch on the last ones or on all."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pandas as pd

from nextbatch.encoding import Encoder
from nextbatch.learners.base import Labels

MOST_CATEGORIES = {"hgb": 254}  # columns with more are numbers to a library that cannot take them as categories


class Refit:
    """A classifier fitted on a window of batches, and fitted again when another batch was learnt.

    Parameters
    ----------
    library : {"rf", "hgb", "lightgbm", "xgboost", "catboost"}
        With its own defaults, on one thread.
    window : int or None
        Batches it is fitted on; None for all.
    random_state : int
    **parameters
        Passed on to the classifier.
    """

    def __init__(self, library: str, window: int | None, random_state: int = 0, **parameters: Any) -> None:
        if library not in MAKERS:
            raise ValueError(f"library is {library!r}; expected one of {', '.join(MAKERS)}.")
        self.library, self.window, self.random_state, self.parameters = library, window, random_state, parameters

    def reset(self) -> None:
        """Forget everything; libraries are imported here, so that their memory is not the model's."""
        MAKERS[self.library](self.random_state, [], {})
        self.batches: deque[tuple[pd.DataFrame, Labels]] = deque(maxlen=self.window)
        self.encoder = Encoder()

    def partial_fit(self, X: pd.DataFrame, y: Labels) -> None:
        """Fit on the window that ends with this batch."""
        self.encoder.learn(X)
        self.batches.append((X, y))
        labels = np.concatenate([one for _, one in self.batches])
        self.classes_, codes = np.unique(np.array(labels.tolist()), return_inverse=True)
        self.model = None
        if len(self.classes_) > 1:
            self.categorical = self.encoder.categorical(X, MOST_CATEGORIES.get(self.library))
            table = self._table(pd.concat([one for one, _ in self.batches], ignore_index=True))
            self.model = MAKERS[self.library](self.random_state, self.categorical, self.parameters)
            if self.library == "hgb":  # it cannot bin a column without any value
                table[:, np.isnan(table).all(axis=0)] = 0.0
            more = {"categorical_feature": self.categorical or "auto"} if self.library == "lightgbm" else {}
            self.model.fit(table, codes, **more)

    def predict_proba(self, X: pd.DataFrame) -> Any:
        """Return class probabilities; the only class of the window is certain."""
        if self.model is None:
            return np.ones((len(X), 1))
        if self.library != "lightgbm":
            return self.model.predict_proba(self._table(X))
        found = self.model.booster_.predict(self._table(X))  # its classifier would warn of columns without names
        return found if found.ndim == 2 else np.column_stack([1 - found, found])

    def _table(self, X: pd.DataFrame) -> Any:
        """Return samples as the library takes them: categories as codes, or in a type of its own."""
        values = self.encoder.transform(X)
        if self.library == "xgboost":
            frame = pd.DataFrame(values)
            for j in self.categorical:
                known = range(len(self.encoder.codes[X.columns[j]]))
                codes = np.where(np.isnan(values[:, j]), -1, values[:, j]).astype(int)  # -1 is missing to pandas
                frame[j] = pd.Categorical.from_codes(codes, categories=list(known))
            return frame
        if self.library == "catboost":
            frame = pd.DataFrame(values).astype(object)
            for j in self.categorical:
                frame[j] = [str(value) for value in values[:, j]]
            return frame
        return values


def make_forest(seed: int, categorical: list[int], parameters: dict[str, Any]) -> Any:
    """Return scikit-learn's random forest; categories are codes to it."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed, n_jobs=1, **parameters)


def make_histogram_boosting(seed: int, categorical: list[int], parameters: dict[str, Any]) -> Any:
    """Return scikit-learn's gradient boosting on histograms."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed, categorical_features=categorical or None, **parameters)


def make_lightgbm(seed: int, categorical: list[int], parameters: dict[str, Any]) -> Any:
    """Return LightGBM's classifier."""
    from lightgbm import LGBMClassifier

    options = {"deterministic": True, "force_col_wise": True, "verbosity": -1}
    return LGBMClassifier(random_state=seed, n_jobs=1, **options, **parameters)


def make_xgboost(seed: int, categorical: list[int], parameters: dict[str, Any]) -> Any:
    """Return XGBoost's classifier."""
    from xgboost import XGBClassifier

    return XGBClassifier(random_state=seed, n_jobs=1, enable_categorical=True, **parameters)


def make_catboost(seed: int, categorical: list[int], parameters: dict[str, Any]) -> Any:
    """Return CatBoost's classifier; it writes nothing to disk."""
    from catboost import CatBoostClassifier  # type: ignore[import-untyped,import-not-found,unused-ignore]

    options = {"random_seed": seed, "thread_count": 1, "verbose": False, "allow_writing_files": False}
    return CatBoostClassifier(cat_features=categorical, **options, **parameters)


MAKERS = {
    "rf": make_forest,
    "hgb": make_histogram_boosting,
    "lightgbm": make_lightgbm,
    "xgboost": make_xgboost,
    "catboost": make_catboost,
}
