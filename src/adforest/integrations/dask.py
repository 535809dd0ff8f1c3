"""The forest on a Dask cluster: the same model, learnt from and asked about collections that need not fit one machine.

Needs ``pip install 'adforest[dask]'``.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any, NamedTuple, Self

from sklearn.base import clone

from adforest.adaptive import AdaptiveDecisionForestClassifier
from adforest.base import Model, lock_of
from adforest.growers import building_on
from adforest.integrations._scoring import accuracy, count_right
from adforest.snapshot import Snapshot

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


class _Sent(NamedTuple):
    """A model that was sent to the workers, and what it depends on."""

    model: Model[Any]
    client: Any
    answer_for: str
    column_changes: str
    future: Any


class DaskAdaptiveDecisionForestClassifier(AdaptiveDecisionForestClassifier):
    """`adforest.AdaptiveDecisionForestClassifier` on a Dask cluster: bit by bit the model that one machine would learn.

    It does not matter how the samples are partitioned, how many workers there are, or whether some of them die
    meanwhile. Samples and labels are dask DataFrames, Series or arrays, or lists of delayed tables; tables that are
    here already are learnt and answered here, as by the local classifier.

    Parameters
    ----------
    n_estimators : int, default=20
        Trees in the permanent and the active forest.
    client : distributed.Client, optional
        The cluster; by default the last client made. It is no part of the model: copies and pickles have none.
    **parameters
        All other parameters of `adforest.AdaptiveDecisionForestClassifier`. ``max_samples`` says how many samples of a
        batch are brought here to learn from; ``n_jobs`` are threads here.

    Notes
    -----
    A batch is read twice, once to find out what it holds, once to draw samples from it, and a third time if it has more
    than ``max_samples``, to count the others. Persist it if it fits into the workers' memory. Trees are built on the
    workers, everything else is done here, from the samples drawn. Between batches nothing of the model is on the
    cluster.

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
        return sorted([*AdaptiveDecisionForestClassifier._get_param_names(), "client"])

    def __sklearn_clone__(self) -> Self:
        return type(self)(client=self.client, **clone(self._local()).get_params(deep=False))

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_sent"} | {"client": None}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and learn X, y as the first batch.

        Parameters
        ----------
        X : dask DataFrame or array, list of delayed tables, or table
        y : dask Series or array, list of delayed labels, or array-like
            With the same partitions as X.
        sample_weight : dask Series or array, list of delayed arrays, float, or array-like, optional
            How much each sample counts, with the same partitions as X.

        Returns
        -------
        self
        """
        with lock_of(self):
            return self._learn_batch(None, X, y, None, sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn one more batch; class values not seen before are welcome.

        Parameters
        ----------
        X : dask DataFrame or array, list of delayed tables, or table
            The same columns as before; data frames in any order.
        y : dask Series or array, list of delayed labels, or array-like
            With the same partitions as X.
        classes : array-like, optional
            Class values to expect.
        sample_weight : dask Series or array, list of delayed arrays, float, or array-like, optional
            How much each sample counts, with the same partitions as X.

        Returns
        -------
        self
        """
        with lock_of(self):
            return self._learn_batch(getattr(self, "_model", None), X, y, classes, sample_weight)

    def _learn_batch(self, before: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        """Let a local classifier learn a batch, wherever its samples lie, and take over its model."""
        local, cluster = self._local(), Cluster(self._cluster_client())
        with building_on(cluster):
            if are_delayed(X):
                local._learn_from(before, DaskBatch(cluster, in_parts(X, y, sample_weight)), classes)
            else:
                local._learn(before, X, y, classes, sample_weight)
        self._model = local._model
        return self

    def predict(self, X: Any) -> Any:
        """Return the most likely class of each sample, in one pass over the partitions, when it is computed.

        Parameters
        ----------
        X : dask DataFrame or array, list of delayed tables, or table

        Returns
        -------
        dask Series or array, list of delayed arrays, or ndarray
            As X is: a DataFrame's index is kept.
        """
        return self._answered("predict", X, super().predict)

    def predict_proba(self, X: Any) -> Any:
        """Return the share of each class, in the order of ``classes_``, when it is computed.

        Parameters
        ----------
        X : dask DataFrame or array, list of delayed tables, or table

        Returns
        -------
        dask DataFrame or array, list of delayed arrays, or ndarray
            As X is: a DataFrame has a column for each class.
        """
        return self._answered("predict_proba", X, super().predict_proba)

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of `predict_proba`; minus infinity where a class has no share.

        Parameters
        ----------
        X : dask DataFrame or array, list of delayed tables, or table

        Returns
        -------
        dask DataFrame or array, list of delayed arrays, or ndarray
        """
        return self._answered("predict_log_proba", X, super().predict_log_proba)

    def _answered(self, method: str, X: Any, here: Callable[[Any], Any]) -> Any:
        """Return the answers of a method: at once for tables that are here, lazily for others."""
        if not are_delayed(X):
            return here(X)
        return together(method, X, self._sent_model(), self.classes_)

    def _sent_model(self) -> Any:
        """Return what answers for the model on the workers: sent there once, or delayed where there is no cluster."""
        model, (answer_for, changes) = self._checked(), (self.answer_for, self.column_changes)
        try:
            client = self._cluster_client()
        except ValueError:
            return dask.delayed(self._answering(), traverse=False)
        before: _Sent | None = getattr(self, "_sent", None)
        if before is None or before[:4] != (model, client, answer_for, changes) or before.future.status != "finished":
            future = Cluster(client).send(self._answering(), to_all=True)
            self._sent = before = _Sent(model, client, answer_for, changes, future)
        return before.future

    def _answering(self) -> Snapshot:
        """Return what answers for the model on one thread."""
        answering: Snapshot = self._local().set_params(n_jobs=None).snapshot()
        return answering

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
        parts = [(*part, place) for place, part in enumerate(in_parts(X, y, sample_weight))]
        return accuracy(Cluster(self._cluster_client()).each("score", count_right, self._sent_model, parts))

    def save(self, path: str | PathLike[str], *, samples: bool = True) -> None:
        """Write the model to a file, from which `adforest.load` makes a local one; see `from_local`.

        Parameters
        ----------
        path : str or path-like
            Where to write; the usual ending is ``.adf``.
        samples : bool, default=True
            Whether the samples that the model keeps for growing trees are in the file.
        """
        self.to_local().save(path, samples=samples)

    def to_local(self) -> AdaptiveDecisionForestClassifier:
        """Return the model as a local classifier, which goes on by itself.

        Returns
        -------
        AdaptiveDecisionForestClassifier
        """
        self._checked()
        return self._local()

    @classmethod
    def from_local(cls, model: AdaptiveDecisionForestClassifier, client: Any = None) -> Self:
        """Return a local model, fitted or not, as one that learns and answers on a cluster.

        Parameters
        ----------
        model : AdaptiveDecisionForestClassifier
        client : distributed.Client, optional

        Returns
        -------
        DaskAdaptiveDecisionForestClassifier
        """
        if type(model) is not AdaptiveDecisionForestClassifier:
            raise TypeError(
                f"model is of type {type(model).__name__}; expected AdaptiveDecisionForestClassifier. Make one, or "
                "load one with adforest.load()."
            )
        made = cls(client=client, **model.get_params(deep=False))
        if hasattr(model, "_model"):
            made._model = model._model
        return made

    def _local(self) -> AdaptiveDecisionForestClassifier:
        """Return a local classifier with these parameters and what was learnt."""
        parameters = self.get_params(deep=False)
        del parameters["client"]
        local = AdaptiveDecisionForestClassifier(**parameters)
        if hasattr(self, "_model"):
            local._model = self._model
        return local

    def _cluster_client(self) -> Any:
        """Return the client to use, or say that there is none."""
        try:
            client = get_client() if self.client is None else self.client
        except ValueError as error:
            raise ValueError(
                "there is no Dask client to learn on. Make one first, for example with distributed.Client(), or pass "
                "client=..."
            ) from error
        if client.asynchronous:
            raise TypeError(
                "the Dask client is asynchronous; expected one that waits: make it with asynchronous=False."
            )
        return client
