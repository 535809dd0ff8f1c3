"""Classes that say what is pickled are heard on every Python, also before 3.11.4 (CPython issue 104035)."""

import dataclasses
import pickle

import pytest

from adforest.forest import tree


@tree.pickled_dataclass(eq=False)
class Kept:
    value: int

    def __getstate__(self):
        return [self.value + 1]

    def __setstate__(self, state):
        object.__setattr__(self, "value", state[0])


def test_own_methods_count():
    assert pickle.loads(pickle.dumps(Kept(1))).value == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        Kept(1).value = 3


def test_own_methods_count_where_the_decorator_replaces_them(monkeypatch):
    def replacing(**options):
        def decorated(cls):
            made = dataclasses.dataclass(**options)(cls)
            made.__getstate__ = made.__setstate__ = None  # as Python 3.11.3 does, with methods of its own
            return made

        return decorated

    monkeypatch.setattr(tree, "dataclass", replacing)

    @tree.pickled_dataclass()
    class Other:
        value: int

        def __getstate__(self):
            return [self.value]

        def __setstate__(self, state):
            object.__setattr__(self, "value", state[0] + 5)

    other = Other(1)
    other.__setstate__(other.__getstate__())
    assert other.value == 6
