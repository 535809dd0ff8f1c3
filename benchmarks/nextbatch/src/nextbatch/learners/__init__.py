"""Learners by name: who they are, of which family, and what they need."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from nextbatch.code import COMPILED, digest_code, digest_files, find_file, find_files
from nextbatch.learners.base import Learner, Selected
from nextbatch.learners.refits import Refit
from nextbatch.learners.streaming import Adforest, CapyMOA, River
from nextbatch.learners.trivial import RULES, Trivial

__all__ = ["ENTRY_POINTS", "Entry", "Learner", "find_learner", "known_learners"]

ENTRY_POINTS = "nextbatch.learners"
EXTRAS = ("lightgbm", "xgboost", "catboost", "river", "capymoa", "adforest")  # of this package, each for its library
WINDOWS = {"last": 1, "last3": 3, "all": None}
SAYS = {"last": "last batch", "last3": "last 3 batches", "all": "everything"}
SAYS_RULE = {
    "no-change": "rule: the last label",
    "prior-last": "rule: class frequencies of the last batch",
    "prior-all": "rule: class frequencies of everything",
    "successor": "rule: what mostly follows the last label",
}
SHORT = 20_000  # samples of a stream on which learners are run that take minutes on longer ones
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
        The library that must be importable; empty for a learner that is a file.
    tuned : str
        How settings were chosen; empty for a library's defaults.
    per_record : bool
        Whether it can be asked sample by sample: a refit for every sample cannot be waited for.
    is_costly : bool
        Run by the main protocol only: the others are there to compare, not to wait.
    max_samples : int or None
        Streams with more are left out if it is costly, unless all runs are asked for; None for no limit, 0 for all.
    code : str
        Of a learner that is a file.
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
    max_samples: int | None = None
    code: str = ""
    start: str = ""

    def missing(self) -> str:
        """Return how to install what is not installed, or an empty text."""
        if not self.module or importlib.util.find_spec(self.module):
            return ""
        package = f"'nextbatch[{self.module}]'" if self.module in EXTRAS else self.module
        return f"{self.module} is not installed: pip install {package}"

    def fingerprint(self, version: str | None = None) -> str:
        """Return a digest of the learner's code, its settings, and a version of its library: the installed one."""
        parts = list(_parts(self.make))
        made = [one for one in parts if isinstance(one, type)]
        said = [getattr(one, "__qualname__", repr(one)) for one in parts]
        modules = {inspect.getmodule(one) for one in made}
        code = digest_code(self.code) if self.code else digest_files(find_file(one) for one in modules if one)
        text = f"{self.name} {said} {code} {self.version() if version is None else version}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def version(self) -> str:
        """Return the library's name and version; of a learner that is a file, a digest of its code."""
        if not self.module:
            return f"code {digest_code(self.code)[:10]}"
        for package in _distributions().get(self.module, [self.module]):
            try:
                found = importlib.metadata.distribution(package)
            except importlib.metadata.PackageNotFoundError:
                continue
            code = f" ({_digest_source(self.start or self.module)})" if _is_editable(found) else ""
            return f"{package} {found.version}{code}"
        return self.module


def _parts(made: Any) -> Iterator[Any]:
    """Yield what a maker is made of: classes, and the values that they are given."""
    if isinstance(made, partial):
        yield from _parts([made.func, *made.args, *sorted(made.keywords.items())])
    elif isinstance(made, (list, tuple)):
        for one in made:
            yield from _parts(one)
    else:
        yield made


@cache
def _distributions() -> Mapping[str, list[str]]:
    """Return the packages that are installed, by the modules in them."""
    return importlib.metadata.packages_distributions()


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


def _refit(library: str, window: str, *, is_costly: bool = False, max_samples: int | None = None) -> Entry:
    """Return the entry of a refit."""
    return Entry(
        f"{library}-{window}",
        f"{TITLES[library]}, refitted on {SAYS[window]}",
        "refit",
        partial(Refit, library, WINDOWS[window]),
        "sklearn" if library in ("rf", "hgb") else library,
        per_record=False,
        is_costly=is_costly,
        max_samples=max_samples,
    )


SELECT_FOREST = partial(Selected, [partial(Refit, "rf", window) for window in WINDOWS.values()])
TUNE_LIGHTGBM = partial(
    Selected,
    [partial(Refit, "lightgbm", window, **setting) for window in (3, None) for setting in SETTINGS],
    TRIAL,
)

BUILT_IN = (
    *(Entry(rule, SAYS_RULE[rule], "trivial", partial(Trivial, rule)) for rule in RULES),
    *(_refit("rf", window) for window in WINDOWS),
    Entry(
        "rf-select",
        "scikit-learn RandomForest, window chosen by its latest results",
        "refit",
        SELECT_FOREST,
        per_record=False,
        is_costly=True,
        max_samples=SHORT,
    ),
    *(_refit("hgb", window, is_costly=window == "all", max_samples=SHORT) for window in WINDOWS),
    *(
        _refit(library, window, is_costly=window == "all")
        for library in ("lightgbm", "xgboost")
        for window in ("last3", "all")
    ),
    _refit("catboost", "last3", is_costly=True, max_samples=SHORT),
    _refit("catboost", "all", is_costly=True, max_samples=0),
    Entry(
        "lightgbm-tuned",
        "LightGBM, setting and window chosen",
        "refit",
        TUNE_LIGHTGBM,
        "lightgbm",
        tuned=f"of 6 settings the one with the best next-batch accuracy on the first {TRIAL} batches",
        per_record=False,
        is_costly=True,
    ),
    Entry("river-arf", "River ARFClassifier", "stream", partial(River, "arf"), "river"),
    Entry("river-hat", "River HoeffdingAdaptiveTree", "stream", partial(River, "hat"), "river"),
    Entry(
        "river-leveraging",
        "River LeveragingBagging",
        "stream",
        partial(River, "leveraging"),
        "river",
        is_costly=True,
        max_samples=SHORT,
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
NAMES = frozenset(one.name for one in BUILT_IN)


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
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise ValueError(f"--learner {name}: {path} cannot be imported ({type(error).__name__}: {error}).") from error
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
    called = str(getattr(kind, "name", name or kind.__name__.lower()))
    if called in NAMES or not re.fullmatch(r"[A-Za-z0-9][\w.+-]*", called):
        raise ValueError(
            f"{kind.__name__}.name is {called!r}; expected letters, digits, '_', '.', '+' and '-', and none of "
            f"nextbatch's own names: {', '.join(sorted(NAMES))}."
        )
    takes_seed = "random_state" in inspect.signature(kind).parameters
    return Entry(
        name=called,
        title=str(getattr(kind, "title", kind.__name__)),
        family=str(getattr(kind, "family", "yours")),
        make=kind if takes_seed else partial(_without_seed, kind),
        module="" if code else kind.__module__.partition(".")[0],
        tuned=str(getattr(kind, "tuned", "")),
        per_record=bool(getattr(kind, "per_record", True)),
        code=code,
    )


def _without_seed(kind: Callable[[], Learner], random_state: int = 0) -> Learner:
    """Return a learner that takes no seed."""
    return kind()
