"""Errors and warnings of our own: one tree, beneath the built-in classes that callers catch already."""

import ast
import inspect
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import adforest
from adforest import AdaptiveDecisionForestClassifier, exceptions
from adforest.reading import read_batches
from small_forests import clusters

X, Y = clusters(0)


def model(**parameters):
    return AdaptiveDecisionForestClassifier(n_estimators=2, random_state=0, **parameters)


def test_the_tree_is_whole():
    classes = [value for value in vars(exceptions).values() if inspect.isclass(value) and issubclass(value, Exception)]
    assert sorted([exceptions.Advice.__name__, *(one.__name__ for one in classes)]) == exceptions.__all__
    for one in classes:
        is_warning = issubclass(one, Warning)
        assert issubclass(one, exceptions.AdforestWarning if is_warning else exceptions.AdforestError)
        assert issubclass(one, UserWarning if is_warning else ValueError)
        assert inspect.getdoc(one)


@pytest.mark.parametrize(
    ("fails", "expected"),
    [
        (lambda: model(window_size=0).fit(X, Y), exceptions.ParameterError),
        (lambda: model().fit(X, Y).set_params(n_estimators=3).partial_fit(X, Y), exceptions.ParameterError),
        (lambda: model(categorical_features=[9]).fit(X, Y), exceptions.ParameterError),
        (lambda: model().fit(X, Y[:-1]), exceptions.InputError),
        (lambda: model().fit(X, None), exceptions.InputError),
        (lambda: model().fit(X, Y, sample_weight=-np.ones(len(Y))), exceptions.InputError),
        (lambda: model().fit(X, Y).predict(X[:, :1]), exceptions.InputError),
        (lambda: model().fit(X, Y).partial_fit(X, Y.astype(str)), exceptions.InputTypeError),
        (lambda: model().fit(pd.DataFrame({"a": [1.0, "x"]}, dtype=object), [0, 1]), exceptions.InputTypeError),
        (lambda: read_batches("*.csv", target="y", batch_size=0), exceptions.ParameterError),
        (lambda: read_batches([], target="y"), exceptions.ParameterError),
        (lambda: read_batches("*.csv", target=1), exceptions.InputTypeError),
    ],
)
def test_errors_can_be_told_apart(fails, expected):
    with pytest.raises(expected) as caught:
        fails()
    assert type(caught.value) is expected


def test_a_model_without_its_samples_says_so(tmp_path):
    model().fit(X, Y).save(tmp_path / "m.adf", samples=False)
    with pytest.raises(exceptions.MissingSamplesError, match="samples=False"):
        adforest.load(tmp_path / "m.adf").partial_fit(X, Y)


def test_a_file_that_is_no_model(tmp_path):
    (tmp_path / "m.adf").write_bytes(b"no model")
    with pytest.raises(exceptions.ModelFileError) as caught:
        adforest.load(tmp_path / "m.adf")
    assert isinstance(caught.value, ValueError)
    assert adforest.ModelFileError is exceptions.ModelFileError


@pytest.mark.parametrize(
    ("warns", "expected"),
    [
        (lambda: model().fit(pd.DataFrame({"a": ["1.5", "2.5"]}), [0, 1]), exceptions.InputWarning),
        (lambda: model(class_weight={"nobody": 2.0}).fit(X, Y), exceptions.ParameterWarning),
    ],
)
def test_warnings_can_be_told_apart_and_name_the_line_of_the_caller(warns, expected):
    with pytest.warns(expected) as caught:
        warns()
    assert [one.category for one in caught] == [expected]
    assert caught[0].filename == __file__


# The command line ends with one line and an exit code, the service sends a response, alerts write a line in the log:
# what is raised there ends there.
PLAIN = ("alerts", "cli", "service")


def test_what_users_can_meet_is_raised_by_classes_of_our_own():
    package = Path(adforest.__file__).parent
    found = [
        f"{path.relative_to(package).as_posix()}:{node.lineno}"
        for path in sorted(package.rglob("*.py"))
        if path.relative_to(package).parts[0] not in PLAIN
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name)
        if node.exc.func.id in ("ValueError", "TypeError")
    ]
    assert not found
