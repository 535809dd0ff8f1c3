"""Boosting in one thread: several of them take turns at two cores, which costs more than it gains."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def _one_thread():
    with threadpool_limits(1):
        yield
