"""What others rely on: scikit-learn's contract, a complete front door, a light import, imports that point down."""

import functools
import importlib
import pickle
import pkgutil
import subprocess
import sys
import sysconfig
import tomllib
import types
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import adforest
from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from small_forests import weights_draw_lots

REPOSITORY = Path(__file__).parents[1]


# --- scikit-learn


@parametrize_with_checks(
    [
        AdaptiveDecisionForestClassifier(),
        PaperADFClassifier(),
        PaperADFClassifier(reading="text"),
        AdaptiveDecisionForestClassifier(memory_size=0),
    ],
    expected_failed_checks=weights_draw_lots,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def data(seed=0, n=120):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, 4)) + 4 * y[:, None], y


def learnt(**changes):
    """Return a model with a temporary forest, so that all three are there."""
    model = AdaptiveDecisionForestClassifier(random_state=0, **changes)
    X, y = data()
    return model.partial_fit(X, y).partial_fit(X, y).partial_fit(X, (y + 1) % 3)


def test_it_is_a_classifier_that_takes_missing_values_and_text():
    model = AdaptiveDecisionForestClassifier()
    assert is_classifier(model)
    tags = model.__sklearn_tags__()
    assert tags.input_tags.allow_nan
    assert tags.input_tags.categorical
    assert tags.input_tags.string
    assert tags.target_tags.required


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_answers_and_goes_on_learning_like_the_original(protocol):
    model = learnt()
    assert model.temporary_forest_ is not None
    copy = pickle.loads(pickle.dumps(model, protocol))
    X, y = data(1)
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert copy.history_ == model.history_
    for one in (copy, model):
        one.partial_fit(X, y)
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))


def test_a_pickle_of_a_model_that_learnt_nothing():
    copy = pickle.loads(pickle.dumps(AdaptiveDecisionForestClassifier(n_estimators=3)))
    assert copy.get_params() == AdaptiveDecisionForestClassifier(n_estimators=3).get_params()


def test_a_clone_has_the_parameters_and_knows_nothing():
    model = learnt(n_estimators=4, memory_size=None)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "classes_")
    assert model.temporary_forest_ is not None


def test_repr_shows_what_differs_from_the_default():
    assert repr(AdaptiveDecisionForestClassifier(memory_size=0)) == "AdaptiveDecisionForestClassifier(memory_size=0)"


def test_grid_search():
    X, y = data()
    grid = {"n_estimators": [2, 5], "splitting": ["isat", "entropy"], "memory_size": [0, None]}
    search = GridSearchCV(AdaptiveDecisionForestClassifier(random_state=0), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    assert search.best_estimator_.predict(X).shape == y.shape
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()


def test_pipeline():
    X, y = data()
    pipeline = make_pipeline(StandardScaler(), AdaptiveDecisionForestClassifier(random_state=0)).fit(X, y)
    assert pipeline.score(X, y) > 0.95
    assert pipeline.predict_proba(X).shape == (120, 3)
    assert pipeline.classes_.tolist() == [0, 1, 2]
    assert pipeline.n_features_in_ == 4


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration(method):
    X, y = data()
    calibrated = CalibratedClassifierCV(AdaptiveDecisionForestClassifier(random_state=0), method=method, cv=3)
    shares = calibrated.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert calibrated.score(X, y) > 0.9


def test_cross_validation_and_voting():
    X, y = data()
    y = np.array(["a", "b", "c"])[y]
    model = AdaptiveDecisionForestClassifier(random_state=0)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.9
    assert VotingClassifier([("one", model), ("two", clone(model))], voting="soft").fit(X, y).score(X, y) > 0.9


# --- the front door


def packages():
    found = [module.name for module in pkgutil.walk_packages(adforest.__path__, "adforest.") if module.ispkg]
    return ["adforest", *found]


def isort_order(name):
    """Constants, then classes, then functions, as ruff sorts them."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


@pytest.mark.parametrize("name", packages())
def test_all_is_complete_and_sorted(name):
    package = importlib.import_module(name)
    listed = list(getattr(package, "__all__", []))
    assert all(hasattr(package, key) for key in listed)  # those of the package itself are imported now
    public = {
        key
        for key, value in vars(package).items()
        if not key.startswith("_") and not isinstance(value, types.ModuleType) and key != "annotations"
    }
    assert listed == sorted(listed, key=isort_order)
    assert len(set(listed)) == len(listed)
    assert set(listed) == public
    assert set(listed) <= set(dir(package))


@pytest.mark.parametrize("name", packages())
def test_every_package_says_what_it_is_for(name):
    assert importlib.import_module(name).__doc__


def test_the_front_door():
    assert set(adforest.__all__) == {
        "AdaptiveDecisionForestClassifier",
        "AsyncClient",
        "BatchBlock",
        "BatchReport",
        "Client",
        "Explanation",
        "Forest",
        "ModelFileError",
        "NextBatchVotingClassifier",
        "PaperADFClassifier",
        "Snapshot",
        "Tree",
        "VotingReport",
        "load",
        "threshold_for_cost",
    }


def test_the_version_is_that_of_the_project():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert adforest.__version__ == project["version"]


def test_types_are_shipped():
    assert (Path(adforest.__file__).parent / "py.typed").is_file()


@functools.cache
def modules_after(statement):
    """Return the modules loaded by a statement in a fresh interpreter."""
    code = f"import sys\n{statement}\nprint(*sorted(sys.modules), sep='\\n')"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


HEAVY = {"pandas", "polars", "pyarrow", "matplotlib", "rich", "dask", "pyspark", "river", "torch", "fastapi"}


def test_the_import_is_light():
    loaded = modules_after("from adforest import *")
    without = modules_after("import joblib, sklearn.base, sklearn.utils.validation")
    assert not loaded & (HEAVY - without)
    ours = {name for name in loaded - without if "." not in name and not name.startswith("_")}
    # narwhals imports no data-frame library; scikit-learn brings it along from 1.9 on.
    assert ours <= {"adforest", "narwhals"} | set(sys.stdlib_module_names), (
        "nothing else than scikit-learn brings along"
    )


def test_names_are_imported_when_they_are_asked_for():
    assert not modules_after("import adforest") & {"numpy", "sklearn", "adforest.adaptive"}
    with pytest.raises(AttributeError, match="module 'adforest' has no attribute 'lode'"):
        adforest.lode


def test_learning_from_arrays_imports_no_table_library():
    statement = "import adforest, numpy; adforest.AdaptiveDecisionForestClassifier().fit(numpy.eye(4), [0, 1, 0, 1])"
    without = modules_after("import joblib, sklearn.base, sklearn.utils.validation")
    assert not modules_after(statement) & (HEAVY - without)


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a global lock")
def test_free_threaded_python_stays_without_a_lock():
    statement = "import adforest, numpy; adforest.AdaptiveDecisionForestClassifier().fit(numpy.eye(4), [0, 1, 0, 1])"
    code = f"import sys\n{statement}\nprint(sys._is_gil_enabled())"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n", result.stderr


@pytest.mark.parametrize(
    ("pretended", "said"),
    [('byteorder = "big"', "64-bit and big-endian"), ("maxsize = 2**31 - 1", "32-bit and little-endian")],
)
def test_other_platforms_are_refused_at_import(pretended, said):
    code = f"import sys\nsys.{pretended}\ntry:\n    import adforest\nexcept ImportError as error:\n    print(error)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said in result.stdout
    assert "needs a 64-bit little-endian one" in result.stdout


LINT = """
import sys
# The editable install shows packages under a path that does not exist; the linter must read the source tree.
sys.meta_path = [finder for finder in sys.meta_path if "mesonpy" not in type(finder).__name__.lower()]
sys.path.insert(0, "src")
from importlinter.cli import lint_imports
sys.exit(lint_imports(config_filename="pyproject.toml", no_cache=True, no_logo=True))
"""


def test_imports_only_point_down_the_rooms():
    result = subprocess.run([sys.executable, "-c", LINT], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "KEPT" in result.stdout
