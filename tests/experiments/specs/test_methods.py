import sys

import pytest

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from experiments.specs.methods import METHODS, check_library, make_model
from experiments.specs.run_spec import MethodSpec, StreamSpec
from experiments.specs.selections import ALL_METHODS, RESTRICTED_TO
from experiments.specs.sources import open_stream

STREAM = open_stream(StreamSpec.of("house", "34", n_samples=1200), 0, None)


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_made_alike(name):
    settings = make_model(MethodSpec(name), STREAM, 7).get_params()
    assert settings.get("n_estimators", 10) == settings.get("trees_per_batch", 10) == 10
    assert settings.get("n_jobs", 1) == 1
    assert settings.get("random_state", 7) == 7
    told = None if METHODS[name].one_hot else STREAM.categorical
    assert settings.get("categorical_features", told) == told


@pytest.mark.parametrize("name", ["ADF-R", "RF all", "CIRF"])
def test_forests_know_what_all_are_told_alike(name):
    # Otherwise the test above would compare a default with itself.
    settings = make_model(MethodSpec(name), STREAM, 7).get_params()
    assert (settings["n_estimators"], settings["random_state"]) == (10, 7)
    assert settings["n_jobs"] == 1
    assert ("categorical_features" in settings) == (name != "CIRF")


def test_names_mean_what_they_say():
    def settings(name, **changes):
        return make_model(MethodSpec.of(name, **changes), STREAM, 0).get_params()

    assert settings("ADF-R")["base_forest"] == "random_forest"
    assert settings("ADF-S")["base_forest"] == "sysfor"
    assert settings("ADF-H paper")["base_forest"] == "hoeffding"
    assert isinstance(make_model(MethodSpec("ADF-H paper"), STREAM, 0), PaperADFClassifier)
    assert settings("RF batch")["window"] == 1
    assert settings("SysFor last 3")["window"] == 3
    assert settings("RF all")["window"] is None
    assert settings("RF batch paper")["min_samples_leaf"] == 20
    assert METHODS["ADF-R paper"].settings(100_000) == {"min_samples_leaf": 20}
    assert METHODS["ADF-R paper"].settings(100_001) == {"min_samples_leaf": 100}
    assert settings("ADF-R paper", repair_threshold=0.1)["repair_threshold"] == 0.1
    defaults = AdaptiveDecisionForestClassifier().get_params()
    given = {"n_estimators", "base_forest", "n_jobs", "random_state", "categorical_features"}
    assert {name: value for name, value in settings("ADF-S").items() if name not in given} == {
        name: value for name, value in defaults.items() if name not in given
    }


def test_selections_name_methods_that_exist():
    assert set(ALL_METHODS) <= set(METHODS)
    assert set(RESTRICTED_TO) <= set(ALL_METHODS)


def test_unknown_method_is_named():
    with pytest.raises(ValueError, match=r"there is no method 'ADF-Q'; expected one of ADF-R"):
        make_model(MethodSpec("ADF-Q"), STREAM, 0)


def test_missing_library_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "river", None)
    with pytest.raises(ImportError, match=r"ARF needs river.*pip install 'adforest\[experiments\]'"):
        check_library(MethodSpec("ARF"))
    check_library(MethodSpec("ADF-R"))
