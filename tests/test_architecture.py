"""The path of a batch as docs/architecture.md tells it, checked by tracing a real call.

``python tests/test_architecture.py`` prints the modules in the order in which a batch enters them, and how many they
and their functions are; lambdas and comprehensions are parts of the functions that they stand in.
"""

import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import adforest
from adforest import AdaptiveDecisionForestClassifier

ROOT = Path(__file__).parents[1]
PACKAGE = str(Path(adforest.__file__).parent) + "/"


def batch(number, n=400):
    """Return a batch of numbers and text."""
    rng = np.random.default_rng(number)
    X = pd.DataFrame({"a": rng.normal(size=n) + number, "b": rng.normal(size=n), "c": rng.choice(list("xyz"), n)})
    return X, np.where(X.a - number + (X.c == "x") > 0.5, "yes", "no")


def traced_calls():
    """Return the calls of `partial_fit` of a second batch: module of the caller, module and function called."""
    model = AdaptiveDecisionForestClassifier(n_estimators=5, n_jobs=1, random_state=0).partial_fit(*batch(0))
    X, y = batch(1)
    calls, stack = [], ["partial_fit"]

    def note(frame, event, _):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return
        if event == "call":
            module = frame.f_code.co_filename.removeprefix(PACKAGE)
            calls.append((stack[-1], module, frame.f_code.co_qualname))
            stack.append(module)
        elif event == "return":
            stack.pop()

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        model.partial_fit(X, y)
    finally:
        sys.setprofile(before)
    return calls


@pytest.fixture(scope="module")
def calls():
    return traced_calls()


def modules_entered(calls):
    """Return the modules in the order in which they are entered first."""
    return list(dict.fromkeys(called for _, called, _ in calls))


def functions_called(calls):
    """Return the functions that are called, with their modules."""
    return {(called, name) for _, called, name in calls if not name.endswith(">")}


def test_the_page_tells_the_path_of_a_batch_as_it_is(calls):
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    told = page.split("## The path of a batch\n")[1].split("```")[1]
    assert re.findall(r"^   ([\w/]+\.py) ", told, re.MULTILINE) == modules_entered(calls)


def test_a_batch_goes_down_the_rooms(calls):
    """A room calls those below it; only work that is given to threads goes up again."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = [name for layer in contracts[0]["layers"] for name in re.findall(r"adforest\.(\w+)", layer)]

    def height(module):
        return -layers.index(module.split("/")[0].removesuffix(".py"))

    up = {(caller, called) for caller, called, _ in calls[1:] if height(called) > height(caller)}
    assert not {edge for edge in up if edge[0] != "parallel.py"}


def test_a_base_class_and_its_subclass_do_not_call_each_other_in_turns(calls):
    classes = {"adaptive.py", "classifier.py", "base.py"}
    edges = {(caller, called) for caller, called, _ in calls if {caller, called} <= classes and caller != called}
    assert edges == {("classifier.py", "base.py")}


def test_what_is_fitted_is_asked_for_by_get_fitted():
    """Modules besides those of the classifiers do not reach into an estimator, nor into a snapshot."""
    own = {"base.py", "classifier.py", "snapshot.py", "origins.py"}
    package = ROOT / "src/adforest"
    reaching = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"(?<!\bself)\._model\b", path.read_text(encoding="utf-8"))
    }
    assert reaching <= own


if __name__ == "__main__":
    traced = traced_calls()
    print(*modules_entered(traced), sep="\n")
    print(f"{len(modules_entered(traced))} modules, {len(functions_called(traced))} functions")
