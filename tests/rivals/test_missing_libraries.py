"""Without an optional library its adapter says what to install; nothing else needs it."""

import sys

import pytest

from adforest.rivals import CapyMOAClassifier, ContinuedLightGBMClassifier, RefitLightGBMClassifier, RiverClassifier


@pytest.mark.parametrize(
    ("model", "library", "remedy"),
    [
        (RiverClassifier(), "river", r"pip install 'adforest\[rivals\]'\."),
        (ContinuedLightGBMClassifier(), "lightgbm", r"pip install 'adforest\[rivals\]'\."),
        (RefitLightGBMClassifier(), "lightgbm", r"pip install 'adforest\[rivals\]'\."),
        (CapyMOAClassifier(), "capymoa", r"pip install 'adforest\[capymoa\]' and Java 17 or newer\."),
    ],
)
def test_a_missing_library_is_named_with_what_to_install(model, library, remedy, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"{type(model).__name__} needs {library}, which could not be .* {remedy}"):
        model.fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(model, "classes_")


def test_a_missing_java_is_named_too(monkeypatch):
    def without_java(module):
        raise RuntimeError("Java not found.")

    monkeypatch.setattr("adforest.libraries.import_module", without_java)
    with pytest.raises(ImportError, match=r"could not be imported \(Java not found\.\)\. .* and Java 17 or newer\."):
        CapyMOAClassifier().fit([[0.0], [1.0]], [0, 1])
