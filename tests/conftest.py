"""One profile for every property test: the same examples on every run, however slow the machine."""

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("grown_trees", "whole_models")  # checks shared by tests say as much when they fail

settings.register_profile("adforest", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("adforest")
