"""Without an optional library its module says what to install; nothing else needs it."""

import importlib
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "library", "remedy"),
    [
        ("river", "River", r"Install it with pip install 'adforest\[river\]'\.$"),
        ("capymoa", "CapyMOA", r"Install it with pip install 'adforest\[capymoa\]' and Java 17 or newer\.$"),
        ("dask", "Dask", r"Install it with pip install 'adforest\[dask\]'\.$"),
        ("spark", "Spark", r"Install it with pip install 'adforest\[spark\]' and Java 17 or newer\.$"),
        ("mlflow", "MLflow", r"Install it with pip install 'adforest\[mlflow\]'\.$"),
    ],
)
def test_a_missing_library_is_named_with_what_to_install(module, library, remedy, monkeypatch):
    needed = {"spark": "pyspark"}.get(module, module)
    for name in [name for name in sys.modules if name.partition(".")[0] == needed]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, needed, None)
    monkeypatch.delitem(sys.modules, f"adforest.integrations.{module}", raising=False)
    with pytest.raises(ImportError, match=rf"adforest\.integrations\.{module} needs {library}, which .*{remedy}"):
        importlib.import_module(f"adforest.integrations.{module}")


def test_the_package_itself_needs_none_of_them():
    code = (
        "import sys, adforest.integrations; print({'river', 'capymoa', 'dask', 'mlflow', 'pyspark'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"
