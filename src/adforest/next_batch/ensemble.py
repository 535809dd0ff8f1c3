"""Batch-incremental vote of any classifiers, weighted by their results on the next batch."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils.metaestimators import _BaseComposition

from adforest.base import BatchClassifier, FittedModel, lock_of
from adforest.encoding.tables import read_table, source_of
from adforest.exceptions import Advice, InputTypeError, ParameterError
from adforest.forest.types import Float64Array
from adforest.libraries import require
from adforest.merging import LocalBatch
from adforest.next_batch.batch_vote import VOTE, RefitRules, VotingState, learn_batch, vote
from adforest.next_batch.members import MemberSamples
from adforest.next_batch.voting_report import VotingReport
from adforest.parameters import ARRAY_LIKE, COMMON, Amount, Integer, Rules


class NextBatchVotingClassifier(BatchClassifier[VotingState], _BaseComposition):  # type: ignore[misc]
    """Batch-incremental weighted vote of classifiers of any library.

    Members that have `partial_fit` learn every batch. Others are refitted from time to time, on a bounded sample of the
    stream. All members predict each batch before they learn it, and the results set their weights in the vote on the
    next one: weights of members, and of mixtures of two, follow correct predictions and the probabilities of the true
    classes. The vote is then hardly worse than the best member or mixture, even if that changes a few times along the
    stream.

    Parameters
    ----------
    estimators : list of (str, classifier) tuples
        The members, as in scikit-learn's VotingClassifier: unfitted classifiers with names. "drop" leaves one out.
    refit_samples : int, default=12_000
        Maximum number of samples in a refit: the last three batches, and a sample of older ones, in which the
        number of samples of a class is in proportion to the square root of its frequency.
    refit_after : float, default=1.0
        Number of new samples before the next refit, relative to the cost of the last one, which is
        ``(samples + 2_000) * classes / 2``, roughly the time of boosting. 0 refits with every batch.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categorical: those of text or categorical type, those given by mask, position or name, none.
    random_state : int, RandomState or None, default=None
        Random seed, also for members whose own ``random_state`` is None.

    Attributes
    ----------
    classes_ : ndarray
        Class values seen or declared so far, sorted.
    n_batches_, n_samples_seen_ : int
        Number of batches learnt, and of their samples.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the columns have names.
    estimators_ : list of classifiers
        The fitted members, except those that could not be fitted.
    named_estimators_ : Bunch
        The same by name.
    weights_ : dict of str to float
        Current weight of each member in the vote; they add up to 1.
    history_ : list of VotingReport
        Reports of the last 1,000 batches.

    Notes
    -----
    Classifiers of adforest get the table as it was given, and learn samples exactly as if they were alone. Pipelines,
    and classifiers whose tags say that they take categories, get a data frame with the original columns. All others get
    a matrix: numbers, dates as seconds, categories as codes in order of arrival. scikit-learn's
    HistGradientBoostingClassifier, LightGBM, XGBoost and CatBoost get the categorical columns as a parameter. Missing
    values are NaN; members that cannot take NaN get the median, and -1 for categories. Refitted members learn encoded
    classes, as in VotingClassifier; dicts in ``class_weight`` may name them by value.

    A member that raises, or has not seen a class, is left out of the vote as long as that lasts; reports give the
    reason, and a warning is issued once. A refitted member votes once it has been tested on a batch, if a member that
    learns every batch can predict until then. The predictions of a member without `predict_proba` have a probability
    of 1.

    References
    ----------
    Herbster & Warmuth, Tracking the best expert, Machine Learning 32, 1998.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from adforest import AdaptiveDecisionForestClassifier, NextBatchVotingClassifier
    >>> members = [("adf", AdaptiveDecisionForestClassifier()), ("tree", DecisionTreeClassifier())]
    >>> model = NextBatchVotingClassifier(members, random_state=0)
    >>> model = model.partial_fit([[1, "a"], [2, "a"], [8, "b"]], ["low", "low", "high"])
    >>> model = model.partial_fit([[3, "a"], [9, None], [7, "c"]], ["low", "high", "high"])
    >>> model.predict([[1.5, "a"], [8.5, "b"]]).tolist()
    ['low', 'high']
    >>> model.history_[-1].action
    {'adf': 'learnt', 'tree': 'kept'}
    """

    _rules: ClassVar[Rules] = COMMON | {
        "estimators": (ARRAY_LIKE,),
        "refit_samples": (Integer(100),),
        "refit_after": (Amount(0),),
    }

    def __init__(
        self,
        estimators: Any,
        *,
        refit_samples: int = 12_000,
        refit_after: float = 1.0,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.refit_samples = refit_samples
        self.refit_after = refit_after
        self.categorical_features = categorical_features
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, and with ``deep`` the members and theirs, such as ``boosting__max_iter``.

        Parameters
        ----------
        deep : bool, default=True

        Returns
        -------
        dict
        """
        parameters: dict[str, Any] = self._get_params("estimators", deep=deep)
        return parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters, members by name, or parameters of members, which take effect at the next refit.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        self
        """
        self._set_params("estimators", **params)
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a new model, with X, y as its first batch.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights, for members that take them; samples of weight 0 are left out for all.

        Returns
        -------
        self
        """
        with lock_of(self):
            return self._learn(None, LocalBatch(X, y, sample_weight))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn one more batch, as `AdaptiveDecisionForestClassifier.partial_fit` does; for weights see `fit`."""
        with lock_of(self):
            return self._learn(getattr(self, "_model", None), LocalBatch(X, y, sample_weight), classes)

    def _learn(self, before: FittedModel[VotingState] | None, source: LocalBatch, classes: Any = None) -> Self:
        """Learn a batch, then replace the model with one assignment."""
        batch, templates = self._encode(before, source, classes), self._templates()
        start = VotingState.begin(templates, batch.samples.X.shape[1]) if before is None else before.state
        names = [member.name for member in start.members]
        if names != list(templates):
            raise ParameterError(
                f"the members of {type(self).__name__} were {', '.join(names)} when it learnt its first batch and are "
                f"{', '.join(templates)} now.",
                Advice("Set them back, or {refit}."),
            )
        rules = RefitRules(self.refit_samples, self.refit_after)
        self._model = FittedModel.after(before, batch, learn_batch(start, batch, source.table, templates, rules))
        return self

    def _templates(self) -> dict[str, Any]:
        """Return the members by name, or raise if they are invalid."""
        name, given = type(self).__name__, list(self.estimators)
        if not all(isinstance(one, (tuple, list)) and len(one) == 2 and isinstance(one[0], str) for one in given):
            raise ParameterError(
                f"estimators of {name} is {self.estimators!r}; expected a list of (name, classifier) tuples, such as "
                '[("adf", AdaptiveDecisionForestClassifier()), ("boosting", HistGradientBoostingClassifier())].'
            )
        self._validate_names([key for key, _ in given])
        templates = {key: one for key, one in given if not isinstance(one, str) or one != "drop"}
        if VOTE in templates:
            raise ParameterError(
                f"a member of {name} is called 'vote', which is what all of them say together. Rename it."
            )
        if not templates:
            raise ParameterError(
                f"estimators of {name} has no classifier. Pass at least one as a (name, classifier) tuple."
            )
        for key, one in templates.items():
            if isinstance(one, type) or not hasattr(one, "fit") or not hasattr(one, "predict"):
                raise InputTypeError(
                    f"the member {key!r} of {name} is {one!r}; expected a classifier, which has fit and predict. Pass "
                    "an instance, or 'drop' to leave it out."
                )
        return templates

    def _model_and_votes(self, X: Any) -> tuple[FittedModel[VotingState], Float64Array]:
        model = self._checked()
        table = X if type(X) is np.ndarray else read_table(X, source_of(None), type(self).__name__)
        matrix = model.encoder.translate(table)
        return model, model.in_order(self._votes(model, matrix, table))

    def _votes(self, model: FittedModel[VotingState], X: Float64Array, table: Any = None) -> Float64Array:
        samples = MemberSamples(X, model.encoder, model.state.library, table)
        return vote(model.state, samples, len(model.labels.by_arrival))

    def history_frame(self) -> Any:
        """Return `history_` as a flat pandas data frame: one row per batch, one column per metric and member.

        Returns
        -------
        pandas.DataFrame
            Columns such as ``accuracy_vote`` and ``weight_adf``; NaN where a batch has no such value.
        """
        return require("pandas", "history_frame()").DataFrame([report.as_row() for report in self.history_])

    @property
    def estimators_(self) -> list[Any]:
        """The fitted members, except those that could not be fitted."""
        return list(self.named_estimators_.values())

    @property
    def named_estimators_(self) -> Bunch:
        """The fitted members by name."""
        members = self._known("named_estimators_").state.members
        return Bunch(**{member.name: member.estimator for member in members if member.estimator is not None})

    @property
    def weights_(self) -> dict[str, float]:
        """Current weight of each member in the vote."""
        return self._known("weights_").state.member_weights()

    @property
    def history_(self) -> list[VotingReport]:
        """One report per batch, of the last 1,000 batches."""
        return list(self._known("history_").state.history)
