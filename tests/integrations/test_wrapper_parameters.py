"""Wrappers have every parameter of the classifier, with its default; libraries need not be installed."""

import ast
import inspect
from pathlib import Path

import pytest

import adforest.integrations
from adforest import AdaptiveDecisionForestClassifier

PARAMETERS = inspect.signature(AdaptiveDecisionForestClassifier).parameters
FOLDER = Path(adforest.integrations.__file__).parent


def class_in(module, name):
    nodes = ast.parse((FOLDER / f"{module}.py").read_text(encoding="utf-8")).body
    [found] = [node for node in nodes if isinstance(node, ast.ClassDef) and node.name == name]
    return found


def constructor(node):
    return next((one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)


# Called otherwise there, or settled by what the other library says of its columns.
@pytest.mark.parametrize(
    ("module", "others"),
    [
        ("river", {"random_state", "column_changes"}),
        ("capymoa", {"random_state", "column_changes", "categorical_features"}),
    ],
)
def test_wrappers_with_a_constructor_of_their_own(module, others):
    signature = constructor(class_in(module, "AdaptiveDecisionForest")).args
    assert (signature.kwarg, signature.vararg, signature.kwonlyargs) == (None, None, [])
    named = signature.args[len(signature.args) - len(signature.defaults) :]
    has = {one.arg: ast.literal_eval(value) for one, value in zip(named, signature.defaults, strict=True)}
    expected = {name: one.default for name, one in PARAMETERS.items() if name not in others}
    assert expected.items() <= has.items()


@pytest.mark.parametrize(
    ("module", "name"),
    [("dask", "DaskAdaptiveDecisionForestClassifier"), ("spark", "SparkAdaptiveDecisionForest")],
)
def test_wrappers_that_are_the_classifier(module, name):
    node = class_in(module, name)
    shared = class_in("_cluster", "ClusterClassifier")
    assert [base.id for base in node.bases] == ["ClusterClassifier"]
    assert [base.id for base in shared.bases] == ["AdaptiveDecisionForestClassifier"]
    assert constructor(shared) is None
    made = constructor(node)
    if made is not None:  # all but those it names are passed on
        named = {one.arg for one in (*made.args.args, *made.args.kwonlyargs)} - {"self"}
        assert named & set(PARAMETERS) == {"n_estimators"}
        call = next(
            one for one in ast.walk(made) if isinstance(one, ast.Call) and ast.unparse(one.func) == "super().__init__"
        )
        assert ast.unparse(call) == f"super().__init__(n_estimators, **{made.args.kwarg.arg})"


def test_the_wrapper_for_dask_lists_them():
    pytest.importorskip("distributed")
    from adforest.integrations.dask import DaskAdaptiveDecisionForestClassifier

    assert set(DaskAdaptiveDecisionForestClassifier().get_params()) == {*PARAMETERS, "client"}
