"""One profile for every property test: the same examples on every run, however slow the machine."""

import os
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

collect_ignore = ["spark_stream.py"]  # a program that tests start; it needs Spark
if sysconfig.get_config_var("Py_GIL_DISABLED") and find_spec("polars") is None:  # it has no wheels for such a Python
    modules = Path(__file__).parent.rglob("*.py")
    collect_ignore += [str(path) for path in modules if "\nimport polars" in path.read_text(encoding="utf-8")]
UNIMPORTABLE = "unable to import module"  # what pytest says of a module whose doctests it skips

pytest.register_assert_rewrite("grown_trees", "whole_models")  # checks shared by tests say as much when they fail

settings.register_profile(
    "adforest", derandomize=True, deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("adforest")


def pytest_runtest_setup(item):
    """Skip, on other systems, what is marked as needing POSIX."""
    if os.name != "posix" and item.get_closest_marker("posix"):
        pytest.skip("needs signals, links, permissions or programs of POSIX systems")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Let a test module that cannot be imported fail: doctests of the package are skipped without their library."""
    report = yield
    if report.skipped and UNIMPORTABLE in str(report.longrepr):
        report.outcome = "failed"
    return report
