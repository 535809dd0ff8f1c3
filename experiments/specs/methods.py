"""The methods by name: ADF with its defaults, ADF with the paper's settings, and every rival."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from adforest.adaptation.tuning import Tuning
from adforest.libraries import require
from experiments import rivals
from experiments.rivals.outside import MAJORITY, MARKOV, NO_CHANGE
from experiments.specs.run_spec import MethodSpec, Scalar
from experiments.specs.sources import Stream

PAPER_TREES = 10  # of every forest, unless a method is asked for with others
N_TREES = int(AdaptiveDecisionForestClassifier().n_estimators)  # ADF's default
TUNING_SETTING = "tuning"  # of a method: constants of the adaptation, which are no constructor parameters, as JSON
# Arguments of `require`: the extra that brings a library, if it is not "experiments", and what it needs besides.
EXTRAS = {"capymoa": ("capymoa", " and Java 17 or newer")}


@dataclass(frozen=True)
class Method:
    """How a method's estimator is made.

    Attributes
    ----------
    make : callable
        Returns the estimator with its own defaults.
    settings : callable
        Returns the parameters that the name stands for, given the number of records of the data set.
    library : str
        The library outside of the package that does the work, if any.
    one_hot : bool
        Whether it learns numbers only: categories then become one 0/1 column each.
    """

    make: Callable[[], Any]
    settings: Callable[[int], dict[str, Any]] = field(default=lambda n_samples: {})
    library: str = ""
    one_hot: bool = False


def make_model(spec: MethodSpec, stream: Stream, seed: int) -> Any:
    """Return a method's estimator, which has learnt nothing yet.

    Parameters
    ----------
    spec : MethodSpec
    stream : Stream
        What it will learn; only its shape is looked at.
    seed : int

    Returns
    -------
    estimator
        With 10 trees and one thread, and told which columns are categorical, where it knows such parameters.
    """
    method = find_method(spec)
    model = method.make()
    settings = dict(spec.settings)
    tuning = settings.pop(TUNING_SETTING, None)
    if tuning is not None:
        model._tuning = read_tuning(str(tuning))
    shared = {
        **paper_tree_counts(model),
        "n_jobs": 1,
        "random_state": seed,
        "categorical_features": None if method.one_hot else stream.categorical,
    }
    known = model.get_params()
    shared = {name: value for name, value in shared.items() if name in known}
    return model.set_params(**{**shared, **method.settings(stream.n_samples), **settings})


def read_tuning(text: str) -> Tuning:
    """Return the constants of the adaptation, some of them changed, from JSON.

    Examples
    --------
    >>> read_tuning('{"expansion_turns": 1}').expansion_turns
    1
    """
    changes: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in json.loads(text).items()
    }
    return replace(Tuning(), **changes)


def with_tuning(name: str, settings: dict[str, Scalar], **changes: Any) -> MethodSpec:
    """Return a method with some settings and some constants of the adaptation changed."""
    tuning = {TUNING_SETTING: json.dumps(changes, sort_keys=True)} if changes else {}
    return MethodSpec.of(name, **settings, **tuning)


def paper_tree_counts(model: Any) -> dict[str, int]:
    """Return the parameters by which an estimator has as many trees as the paper's, none if it has no trees."""
    return {name: PAPER_TREES for name in ("n_estimators", "trees_per_batch") if name in model.get_params()}


def default_settings(name: str) -> dict[str, Any]:
    """Return the parameters a method runs with, for a small data set where they depend on its size."""
    method = find_method(MethodSpec(name))
    model = method.make()
    return {**model.get_params(), **paper_tree_counts(model), **method.settings(0)}


def with_settings(name: str, **settings: Scalar) -> MethodSpec:
    """Return a method with some settings changed; those that it has by default are left out.

    Parameters
    ----------
    name : str
        One of `METHODS`.
    **settings
        Constructor parameters.

    Returns
    -------
    MethodSpec

    Examples
    --------
    >>> with_settings("ADF-R paper", window_size=3, splitting="sat").label
    'ADF-R paper (splitting=sat)'
    """
    has = default_settings(name)
    return MethodSpec.of(name, **{key: value for key, value in settings.items() if has[key] != value})


def with_default_trees(name: str, **settings: Scalar) -> MethodSpec:
    """Return a method with as many trees as ADF has by default, and some settings changed."""
    return MethodSpec.of(name, **{"n_estimators": N_TREES, **settings})


def check_library(spec: MethodSpec) -> None:
    """Raise an ImportError that says what to install, if a method's library is missing."""
    library = find_method(spec).library
    if library:
        require(library, spec.name, *EXTRAS.get(library, ("experiments",)))


def is_installed(method: MethodSpec | str) -> bool:
    """Return whether a method can be run here: its library, if it needs one, can be imported.

    Parameters
    ----------
    method : MethodSpec or str
        A specification, or one of `METHODS`.

    Returns
    -------
    bool
        For CapyMOA, whether there is a Java runtime, too.

    Examples
    --------
    >>> is_installed("ADF-R")
    True
    """
    try:
        check_library(MethodSpec(method) if isinstance(method, str) else method)
    except ImportError:
        return False
    return True


def library_version(library: str) -> str:
    """Return the version of a library, given the name it is imported or installed by; "missing" if it is not there."""
    try:
        return version({"sklearn": "scikit-learn"}.get(library, library))
    except PackageNotFoundError:
        return "missing"


def find_method(spec: MethodSpec) -> Method:
    """Return the method of that name."""
    if spec.name not in METHODS:
        raise ValueError(f"there is no method {spec.name!r}; expected one of {', '.join(METHODS)}")
    return METHODS[spec.name]


# How each is made


def _adf(base_forest: Any, *, as_published: bool) -> Method:
    """Return ADF on a base forest."""
    if as_published:
        return Method(partial(PaperADFClassifier, base_forest=base_forest), _paper_leaf)
    return Method(partial(AdaptiveDecisionForestClassifier, base_forest=base_forest))


def _paper_leaf(n_samples: int) -> dict[str, Any]:
    """Return the minimum leaf size that the paper gave to all methods alike."""
    return {"min_samples_leaf": 100 if n_samples > 100_000 else 20}


def _paper_grace_period(n_samples: int) -> dict[str, Any]:
    """Return the grace period of Hoeffding trees, which the paper set as it did the minimum leaf size."""
    return {"grace_period": _paper_leaf(n_samples)["min_samples_leaf"]}


def _refit(window: int | None) -> Method:
    """Return a random forest refitted on the last batches."""
    return Method(partial(rivals.RefitForestClassifier, window=window))


def _sysfor(window: int | None) -> Method:
    """Return SysFor refitted on the last batches."""
    return Method(partial(rivals.SysForClassifier, window=window))


def _lightgbm(window: int | None) -> Method:
    """Return LightGBM refitted on the last batches."""
    return Method(partial(rivals.RefitLightGBMClassifier, window=window), library="lightgbm")


def _river(model: str, *, one_hot: bool = False) -> Method:
    """Return one of River's learners."""
    make = partial(rivals.RiverClassifier, model)
    return Method(make, library="river", one_hot=one_hot)


def _moa(model: str) -> Method:
    """Return one of MOA's own learners, set as in the paper: MOA's defaults, 10 trees and the paper's grace period."""
    return Method(partial(rivals.CapyMOAClassifier, model), _paper_grace_period, library="capymoa")


ADF = {
    f"ADF-{letter}{' paper' if as_published else ''}": _adf(base_forest, as_published=as_published)
    for as_published in (False, True)
    for letter, base_forest in (("R", "random_forest"), ("S", "sysfor"), ("H", "hoeffding"))
}
METHODS = {
    **ADF,
    "RF batch": _refit(1),
    "RF last 3": _refit(3),
    "RF all": _refit(None),
    "SysFor batch": _sysfor(1),
    "SysFor last 3": _sysfor(3),
    "SysFor all": _sysfor(None),
    "Add trees": Method(rivals.AddTreesForestClassifier),
    "CIRF": Method(rivals.CIRFClassifier, one_hot=True),
    "RF batch paper": Method(rivals.RefitForestClassifier, _paper_leaf),
    "SysFor batch paper": Method(rivals.SysForClassifier, _paper_leaf),
    "CIRF paper": Method(rivals.CIRFClassifier, _paper_leaf, one_hot=True),
    "CIRF-S paper": Method(partial(rivals.CIRFClassifier, base_forest="sysfor"), _paper_leaf, one_hot=True),
    "NCMC": Method(rivals.NCMClassifier, one_hot=True),
    "NCMF": Method(rivals.NCMForestClassifier, one_hot=True),
    "HT": _river("ht"),
    "HAT": _river("hat"),
    "OzaBag": _river("oza"),
    "LeveragingBag": _river("leveraging"),
    "ARF": _river("arf"),
    "SRP": _river("srp"),
    "AMF": _river("amf", one_hot=True),
    "KNN": _river("knn", one_hot=True),
    "HT (MOA)": _moa("ht"),
    "HAT (MOA)": _moa("hat"),
    "OzaBag (MOA)": _moa("oza"),
    "LeveragingBag (MOA)": _moa("leveraging"),
    "ARF (MOA)": _moa("arf"),
    "SRP (MOA)": _moa("srp"),
    "LightGBM": Method(rivals.ContinuedLightGBMClassifier, library="lightgbm"),
    "LightGBM last 3": _lightgbm(3),
    "LightGBM all": _lightgbm(None),
    "No change": Method(partial(rivals.TrivialClassifier, NO_CHANGE)),
    "Majority": Method(partial(rivals.TrivialClassifier, MAJORITY)),
    "Markov": Method(partial(rivals.TrivialClassifier, MARKOV)),
}
