"""One profile for every property test: the same examples on every run, however slow the machine."""

from hypothesis import settings

settings.register_profile("adforest", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("adforest")
