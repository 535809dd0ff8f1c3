"""The examples of the page on integrations run, one after the other."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "integrations.md"


def test_the_examples_say_what_comes_out():
    found = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert found.failed == 0
    assert found.attempted > 10
