"""The forest on a Dask cluster: learns and predicts collections that need not fit one machine.

Needs ``pip install 'adforest[dask]'``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from sklearn.base import clone

from adforest.adaptive import AdaptiveDecisionForestClassifier
from adforest.base import get_fitted, lock_of, set_fitted
from adforest.exceptions import InputTypeError, ParameterError
from adforest.growers import building_on
from adforest.integrations._cluster import NAMES, ClusterClassifier, accuracy, count_correct
from adforest.merging import BatchSource, LocalBatch

try:
    import dask
    from distributed import get_client

    from adforest.integrations._dask_parts import are_delayed, in_parts, together
    from adforest.integrations._dask_tasks import Cluster, DaskBatch
except ImportError as error:
    raise ImportError(
        f"adforest.integrations.dask needs Dask, which could not be imported ({error}). Install it with "
        "pip install 'adforest[dask]'."
    ) from error

__all__ = ["DaskAdaptiveDecisionForestClassifier"]


class DaskAdaptiveDecisionForestClassifier(ClusterClassifier):
    """`adforest.AdaptiveDecisionForestClassifier` on a Dask cluster: bit by bit the model that one machine would learn.

    It does not depend on the partitions, the number of workers, or whether some of them die meanwhile. Samples and
    labels are dask DataFrames, Series or arrays, or lists of delayed tables; local tables are learnt and predicted
    locally, as by the local classifier.

    Parameters
    ----------
    n_estimators : int, default=20
        Number of trees in the permanent and the active forest.
    client : distributed.Client, optional
        The cluster; by default the last client made. It is not part of the model: copies and pickles have none.
    **parameters
        All other parameters of `adforest.AdaptiveDecisionForestClassifier`. ``max_samples`` bounds the number of
        samples of a batch that are sent to the client to learn from; ``n_jobs`` are threads of the client.

    Notes
    -----
    A batch is read twice, once to survey it, once to draw samples from it, and a third time if it has more than
    ``max_samples``, to count the others. Persist it if it fits into the workers' memory. Trees are built on the
    workers, everything else is computed by the client, from the samples drawn. Between batches nothing of the model is
    on the cluster.

    Examples
    --------
    >>> from dask import array
    >>> from distributed import Client
    >>> from adforest.integrations.dask import DaskAdaptiveDecisionForestClassifier
    >>> X = array.random.default_rng(0).normal(size=(1_000, 4), chunks=(250, 4))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     model = DaskAdaptiveDecisionForestClassifier(5, client=client, random_state=0).partial_fit(X, y)
    ...     model.score(X, y) > 0.9
    True
    """

    def __init__(self, n_estimators: int = 20, *, client: Any = None, **parameters: Any) -> None:
        super().__init__(n_estimators, **parameters)
        self.client = client

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted([*NAMES, "client"])

    def __sklearn_clone__(self) -> Self:
        return type(self)(client=self.client, **clone(self._local()).get_params(deep=False))

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_sent"} | {"client": None}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a new model, with X, y as its first batch; for the parameters see `partial_fit`."""
        with lock_of(self):
            return self._learn_batch(None, X, y, None, sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn one more batch, which may bring new classes.

        Parameters
        ----------
        X : dask DataFrame or array, list of delayed tables, or table
            The same columns as before; data frames in any order.
        y : dask Series or array, list of delayed labels, or array-like
            With the same partitions as X.
        classes : array-like, optional
            Class values to expect.
        sample_weight : dask Series or array, list of delayed arrays, float, or array-like, optional
            Sample weights, with the same partitions as X.

        Returns
        -------
        self
        """
        with lock_of(self):
            return self._learn_batch(getattr(self, "_model", None), X, y, classes, sample_weight)

    def _learn_batch(self, before: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        """Learn a batch, local or distributed, with a local classifier, and take over its model."""
        local, cluster = self._local(), Cluster(self._cluster_client())
        with building_on(cluster):
            is_here = not are_delayed(X)
            source: BatchSource = (
                LocalBatch(X, y, sample_weight) if is_here else DaskBatch(cluster, in_parts(X, y, sample_weight))
            )
            local._learn(before, source, classes)
        set_fitted(self, get_fitted(local))
        return self

    def predict(self, X: Any) -> Any:
        """Predict the class of each sample lazily, in one pass over the partitions.

        Parameters
        ----------
        X : dask DataFrame or array, list of delayed tables, or table

        Returns
        -------
        dask Series or array, list of delayed arrays, or ndarray
            The kind of X: a DataFrame's index is kept.
        """
        return self._with_predictions("predict", X, super().predict)

    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities, in the order of ``classes_``; lazily, as `predict` does.

        Of a DataFrame, the result is one with a column for each class.
        """
        return self._with_predictions("predict_proba", X, super().predict_proba)

    def predict_log_proba(self, X: Any) -> Any:
        """Predict logarithms of class probabilities, see `predict_proba`; minus infinity where one is 0."""
        return self._with_predictions("predict_log_proba", X, super().predict_log_proba)

    def _with_predictions(self, method: str, X: Any, here: Callable[[Any], Any]) -> Any:
        """Return the predictions of a method: at once for local tables, lazily for others."""
        if not are_delayed(X):
            return here(X)
        return together(method, X, self._sent_model(), self.classes_)

    def _sent_model(self) -> Any:
        """Return the predictor for the workers: sent there once, or delayed where there is no cluster."""
        model = self._checked()
        try:
            client = self._cluster_client()
        except ValueError:
            return dask.delayed(self._predictor(), traverse=False)
        made_of = (model, client, self.answer_for, self.column_changes)
        before = getattr(self, "_sent", None)
        if before is None or before[0] != made_of or before[1].status != "finished":
            self._sent = before = made_of, Cluster(client).send(self._predictor(), to_all=True)
        return before[1]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on some samples, in one pass over the partitions.

        Parameters
        ----------
        X : dask DataFrame or array, list of delayed tables, or table
        y : dask Series or array, list of delayed labels, or array-like
            With the same partitions as X.
        sample_weight : dask Series or array, list of delayed arrays, or array-like, optional

        Returns
        -------
        float
        """
        if not are_delayed(X):
            return float(super().score(X, y, sample_weight))
        parts = [(*part, index) for index, part in enumerate(in_parts(X, y, sample_weight))]
        return accuracy(Cluster(self._cluster_client()).each("score", count_correct, self._sent_model, parts))

    @classmethod
    def from_local(  # type: ignore[override]
        cls, model: AdaptiveDecisionForestClassifier, client: Any = None
    ) -> Self:
        """Return a local model, fitted or not, as one that learns and predicts on a cluster.

        Parameters
        ----------
        model : AdaptiveDecisionForestClassifier
        client : distributed.Client, optional

        Returns
        -------
        DaskAdaptiveDecisionForestClassifier
        """
        return super().from_local(model, client=client)

    def _cluster_client(self) -> Any:
        """Return the client to use, or raise if there is none."""
        try:
            client = get_client() if self.client is None else self.client
        except ValueError as error:
            raise ParameterError(
                "there is no Dask client to learn on. Make one first, for example with distributed.Client(), or pass "
                "client=..."
            ) from error
        if client.asynchronous:
            raise InputTypeError(
                "the Dask client is asynchronous; expected one that waits: make it with asynchronous=False."
            )
        return client
