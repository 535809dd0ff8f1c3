"""Dataclasses that say themselves what is pickled, on every Python."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, eq_default=False)
def pickled_dataclass(**options: Any) -> Callable[[type[T]], type[T]]:
    """Make a frozen dataclass with slots whose own `__getstate__` and `__setstate__` count.

    Before Python 3.11.4 `dataclass` replaces them by its own (CPython issue 104035).
    """

    def decorated(cls: type[T]) -> type[T]:
        own = {name: cls.__dict__[name] for name in ("__getstate__", "__setstate__")}
        made = dataclass(frozen=True, slots=True, **options)(cls)
        for name, method in own.items():
            setattr(made, name, method)
        return made

    return decorated
