"""Without an optional library its adapter says what to install; nothing else needs it."""

import sys

import pytest

from experiments.rivals import ContinuedLightGBMClassifier
from experiments.specs.methods import METHODS, check_library, is_installed
from experiments.specs.run_spec import MethodSpec


def test_a_missing_library_is_named_with_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "lightgbm"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    model = ContinuedLightGBMClassifier()
    with pytest.raises(
        ImportError, match=r"Classifier needs lightgbm, which could not be .* 'adforest\[experiments\]'"
    ):
        model.fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(model, "classes_")


def test_a_missing_java_is_named_too(monkeypatch):
    def without_java(module):
        raise RuntimeError("Java not found.")

    monkeypatch.setattr("adforest.libraries.import_module", without_java)
    with pytest.raises(ImportError, match=r"could not be imported \(Java not found\.\)\. .* and Java 17 or newer\."):
        check_library(MethodSpec("ARF (MOA)"))


@pytest.mark.parametrize(
    ("method", "library", "remedy"),
    [
        ("HT", "river", r"pip install 'adforest\[experiments\]'\."),
        ("ARF (MOA)", "capymoa", r"pip install 'adforest\[capymoa\]' and Java 17 or newer\."),
    ],
)
def test_experiments_know_which_methods_cannot_be_run(method, library, remedy, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    assert not is_installed(method)
    assert not is_installed(MethodSpec(method))
    assert is_installed("ADF-R")
    with pytest.raises(ImportError, match=rf"needs {library}, which could not be imported .* {remedy}"):
        check_library(MethodSpec(method))


def test_a_method_is_installed_where_its_library_is():
    assert is_installed("RF all")
    with pytest.raises(ValueError, match="there is no method 'ADF-Q'"):
        is_installed("ADF-Q")


@pytest.mark.parametrize("model", ["HT", "HAT", "OzaBag", "LeveragingBag", "ARF"])
def test_moa_s_learners_are_methods_with_the_paper_s_grace_period(model):
    method = METHODS[f"{model} (MOA)"]
    assert method.library == "capymoa"
    assert method.make().model == model.lower().removesuffix("bag")
    assert method.settings(100_000) == {"grace_period": 20}
    assert method.settings(100_001) == {"grace_period": 100}
