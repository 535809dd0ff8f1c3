"""Learners by name: who they are, of which family, and what they need."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from nextbatch.code import COMPILED, digest_code, digest_files, find_files
from nextbatch.learners.base import Learner, Selected
from nextbatch.learners.refits import Refit
from nextbatch.learners.streaming import Adforest, CapyMOA, River
from nextbatch.learners.trivial import RULES, Trivial

__all__ = ["ENTRY_POINTS", "Entry", "Learner", "find_learner", "known_learners"]

ENTRY_POINTS = "nextbatch.learners"
WINDOWS = {"last": 1, "last3": 3, "all": None}
SAYS = {"last": "last batch", "last3": "last 3 batches", "all": "everything"}
SAYS_RULE = {
    "no-change": "rule: the last label",
    "prior-last": "rule: class frequencies of the last batch",
    "prior-all": "rule: class frequencies of everything",
    "successor": "rule: what mostly follows the last label",
}
TRIAL = 10  # batches on which settings are compared before one is kept
TITLES = {
    "rf": "scikit-learn RandomForest",
    "hgb": "scikit-learn HistGradientBoosting",
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
    "catboost": "CatBoost",
}
SETTINGS: tuple[
    dict[str, Any], ...
] = (  # what LightGBM's tuned row chooses from, each with the last 3 and with everything
    {},
    {"learning_rate": 0.05, "n_estimators": 200},
    {"num_leaves": 7, "min_child_samples": 5},
)


@dataclass(frozen=True)
class Entry:
    """A learner in the list.

    Attributes
    ----------
    name, title, family : str
        Families: "trivial", "refit", "stream", "yours".
    make : callable
        Called with ``random_state``; returns a learner.
    module : str
        The library that must be importable.
    tuned : str
        How settings were chosen; empty for a library's defaults.
    per_record : bool
        Whether it can be asked sample by sample: a refit for every sample cannot be waited for.
    is_costly : bool
        Left out of the side protocols, which are there to compare, not to wait.
    code : str
        Of a learner that is no part of the package.
    start : str
        The library's module that counts, with what it imports, where the library is a checkout; by default all of it.
    """

    name: str
    title: str
    family: str
    make: Callable[..., Learner]
    module: str = "sklearn"
    tuned: str = ""
    per_record: bool = True
    is_costly: bool = False
    code: str = ""
    start: str = ""

    def missing(self) -> str:
        """Return what is not installed, or an empty text."""
        return "" if importlib.util.find_spec(self.module) else self.module

    def fingerprint(self) -> str:
        """Return a digest of the learner's code and of the library's version."""
        said = digest_code(self.code or inspect.getsource(inspect.getmodule(self._maker()) or inspect))
        return hashlib.sha256(f"{self.name} {said} {self.version()}".encode()).hexdigest()[:16]

    def _maker(self) -> Any:
        """Return the class behind `make`."""
        made: Any = self.make
        while isinstance(made, partial):
            made = made.func
        return made

    def version(self) -> str:
        """Return the library's name and version."""
        for package in importlib.metadata.packages_distributions().get(self.module, [self.module]):
            try:
                found = importlib.metadata.distribution(package)
            except importlib.metadata.PackageNotFoundError:
                continue
            code = f" ({_digest_source(self.start or self.module)})" if _is_editable(found) else ""
            return f"{package} {found.version}{code}"
        return self.module


def _is_editable(package: importlib.metadata.Distribution) -> bool:
    """Return whether a package is a checkout, whose code may change while its version does not."""
    return '"editable": true' in (package.read_text("direct_url.json") or "")


@cache
def _digest_source(module: str) -> str:
    """Return a digest of a package, or of one of its modules and what that imports of the package."""
    spec = importlib.util.find_spec(module.partition(".")[0])
    folder = Path((spec and spec.origin) or __file__).parent
    files = find_files(module, folder.parent)
    return digest_files(files or {path for path in folder.rglob("*") if path.suffix in (".py", *COMPILED)})[:10]


def _refit(library: str, window: str, *, is_costly: bool = False) -> Entry:
    """Return the entry of a refit."""
    return Entry(
        f"{library}-{window}",
        f"{TITLES[library]}, refitted on {SAYS[window]}",
        "refit",
        partial(Refit, library, WINDOWS[window]),
        "sklearn" if library in ("rf", "hgb") else library,
        per_record=False,
        is_costly=is_costly,
    )


def _select_forest(random_state: int = 0) -> Selected:
    """Return scikit-learn's forest with three windows, of which the best one lately predicts."""
    return Selected([partial(Refit, "rf", window, random_state) for window in WINDOWS.values()])


def _tune_lightgbm(random_state: int = 0) -> Selected:
    """Return LightGBM with the setting and the window that did best on the first batches."""
    made = [partial(Refit, "lightgbm", window, random_state, **setting) for window in (3, None) for setting in SETTINGS]
    return Selected(made, trial=TRIAL)


def _trivial(rule: str, random_state: int = 0) -> Trivial:
    """Return a rule, which draws nothing."""
    return Trivial(rule)


BUILT_IN = (
    *(Entry(rule, SAYS_RULE[rule], "trivial", partial(_trivial, rule)) for rule in RULES),
    *(_refit("rf", window) for window in WINDOWS),
    Entry(
        "rf-select",
        "scikit-learn RandomForest, window chosen by its latest results",
        "refit",
        _select_forest,
        per_record=False,
        is_costly=True,
    ),
    *(_refit("hgb", window, is_costly=window == "all") for window in WINDOWS),
    *(
        _refit(library, window, is_costly=window == "all" or library == "catboost")
        for library in ("lightgbm", "xgboost", "catboost")
        for window in ("last3", "all")
    ),
    Entry(
        "lightgbm-tuned",
        "LightGBM, setting and window chosen",
        "refit",
        _tune_lightgbm,
        "lightgbm",
        tuned=f"of 6 settings the one with the best next-batch accuracy on the first {TRIAL} batches",
        per_record=False,
        is_costly=True,
    ),
    Entry("river-arf", "River ARFClassifier", "stream", partial(River, "arf"), "river"),
    Entry("river-hat", "River HoeffdingAdaptiveTree", "stream", partial(River, "hat"), "river"),
    Entry(
        "river-leveraging", "River LeveragingBagging", "stream", partial(River, "leveraging"), "river", is_costly=True
    ),
    Entry("capymoa-arf", "MOA AdaptiveRandomForest (CapyMOA)", "stream", partial(CapyMOA, "arf"), "capymoa"),
    Entry("capymoa-hat", "MOA HoeffdingAdaptiveTree (CapyMOA)", "stream", partial(CapyMOA, "hat"), "capymoa"),
    Entry(
        "adforest",
        "adforest AdaptiveDecisionForestClassifier",
        "stream",
        Adforest,
        "adforest",
        start="adforest.adaptive",
    ),
)


def known_learners() -> dict[str, Entry]:
    """Return all learners by name: those of the package, and those that installed packages announce."""
    found = {one.name: one for one in BUILT_IN}
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        found[point.name] = _entry_of(point.load(), point.name, "")
    return found


def find_learner(name: str) -> Entry:
    """Return a learner by its name, or from a file: ``path.py:Class``."""
    path, colon, kind = name.rpartition(":")
    if not colon:
        known = known_learners()
        if name not in known:
            raise ValueError(f"there is no learner {name!r}; known are {', '.join(known)}, or path.py:Class.")
        return known[name]
    if not Path(path).is_file():
        raise ValueError(f"--learner {name}: there is no file {path!r}; expected path.py:Class.")
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, kind):
        raise ValueError(f"--learner {name}: {path} has no {kind!r}.")
    return _entry_of(getattr(module, kind), "", Path(path).read_text(encoding="utf-8"))


def _entry_of(kind: type, name: str, code: str) -> Entry:
    """Return the entry of somebody's class; it may say its name, title, family, tuned and per_record."""
    for method in ("reset", "partial_fit", "predict_proba"):
        if not callable(getattr(kind, method, None)):
            raise ValueError(
                f"{kind.__name__} has no method {method}(); a learner has reset, partial_fit, predict_proba."
            )
    takes_seed = "random_state" in inspect.signature(kind).parameters
    return Entry(
        name=str(getattr(kind, "name", name or kind.__name__.lower())),
        title=str(getattr(kind, "title", kind.__name__)),
        family=str(getattr(kind, "family", "yours")),
        make=kind if takes_seed else lambda random_state=0: kind(),
        module=kind.__module__ if not code else "sklearn",
        tuned=str(getattr(kind, "tuned", "")),
        per_record=bool(getattr(kind, "per_record", True)),
        code=code or inspect.getsource(kind),
    )
