"""Specifications of streams, methods and runs; a run is one method on one stream with one seed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Self

Scalar = str | int | float | bool | None
Settings = tuple[tuple[str, Scalar], ...]  # a dict that can be hashed, sorted by name

# How a run is evaluated, see `experiments.running.protocols`.
HOLDOUT, RESET_AT_CHANGES, RECALL = "holdout", "reset_at_changes", "recall"
TIMED, LONG_STREAM, PREQUENTIAL, ONLINE = "timed", "long_stream", "prequential", "online"


@dataclass(frozen=True)
class StreamSpec:
    """The specification of a stream.

    Attributes
    ----------
    name : str
        A source of `experiments.specs.sources`: a data set, or a generator.
    variant : str
        Which stream of the source. For data sets, how they are cut: ``"34"``, ``"28"``, ``"big"``, ``"whole"`` or ``"in
        order"``; for generators the kind of drift, who comes and goes, or the difficulty.
    options : tuple of (str, value)
        What else the source is told, sorted by name.

    Examples
    --------
    >>> StreamSpec.of("house", "34", n_samples=5000)
    StreamSpec(name='house', variant='34', options=(('n_samples', 5000),))
    """

    name: str
    variant: str = "34"
    options: Settings = ()

    @classmethod
    def of(cls, name: str, variant: str = "34", **options: Scalar) -> Self:
        """Return the stream of that name, its options given as keywords."""
        return cls(name, variant, tuple(sorted(options.items())))


@dataclass(frozen=True)
class MethodSpec:
    """The specification of a method.

    Attributes
    ----------
    name : str
        A method of `experiments.specs.methods`.
    settings : tuple of (str, value)
        Constructor parameters that differ from what the name stands for, sorted by name.

    Examples
    --------
    >>> MethodSpec.of("ADF-R", window_size=5).label
    'ADF-R (window_size=5)'
    """

    name: str
    settings: Settings = ()

    @classmethod
    def of(cls, name: str, **settings: Scalar) -> Self:
        """Return the method of that name, its settings given as keywords."""
        return cls(name, tuple(sorted(settings.items())))

    @property
    def label(self) -> str:
        """The name, with settings in brackets if there are any."""
        settings = ", ".join(f"{name}={value}" for name, value in self.settings)
        return f"{self.name} ({settings})" if settings else self.name


@dataclass(frozen=True)
class RunSpec:
    """One method on one stream with one seed, which fixes the draws of both.

    Attributes
    ----------
    stream : StreamSpec
    method : MethodSpec
    seed : int
    protocol : str
        What is measured, and how: see `experiments.running.protocols`.
    """

    stream: StreamSpec
    method: MethodSpec
    seed: int = 0
    protocol: str = HOLDOUT

    def __str__(self) -> str:
        protocol = "" if self.protocol == HOLDOUT else f", {self.protocol}"
        return f"{self.method.label} on {self.stream.name} ({self.stream.variant}), seed {self.seed}{protocol}"

    def describe(self) -> dict[str, Any]:
        """Return the run as plain data."""
        return {
            "stream": {
                "name": self.stream.name,
                "variant": self.stream.variant,
                "options": dict(self.stream.options),
            },
            "method": {"name": self.method.name, "settings": dict(self.method.settings)},
            "seed": self.seed,
            **({} if self.protocol == HOLDOUT else {"protocol": self.protocol}),
        }

    @property
    def text(self) -> str:
        """The description as JSON, the same for the same run."""
        return json.dumps(self.describe(), sort_keys=True)
