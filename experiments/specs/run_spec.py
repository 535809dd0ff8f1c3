"""What an experiment is made of: parts, each one method on one stream with one seed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Self

Plain = str | int | float | bool | None
Given = tuple[tuple[str, Plain], ...]  # a dict that can be hashed, sorted by name

USUAL = "usual"


@dataclass(frozen=True)
class StreamSpec:
    """Which stream.

    Attributes
    ----------
    name : str
        A source of `experiments.specs.sources`: a data set, or a generator.
    protocol : str
        How the source becomes batches: for data sets ``"34"``, ``"28"``, ``"big"`` or ``"whole"``.
    options : tuple of (str, value)
        What else the source is told, sorted by name.

    Examples
    --------
    >>> StreamSpec.of("house", "34", n_records=5000)
    StreamSpec(name='house', protocol='34', options=(('n_records', 5000),))
    """

    name: str
    protocol: str = "34"
    options: Given = ()

    @classmethod
    def of(cls, name: str, protocol: str = "34", **options: Plain) -> Self:
        """Return the stream of that name, its options given as keywords."""
        return cls(name, protocol, tuple(sorted(options.items())))


@dataclass(frozen=True)
class MethodSpec:
    """Which method.

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
    settings: Given = ()

    @classmethod
    def of(cls, name: str, **settings: Plain) -> Self:
        """Return the method of that name, its settings given as keywords."""
        return cls(name, tuple(sorted(settings.items())))

    @property
    def label(self) -> str:
        """The name, with settings in brackets if there are any."""
        settings = ", ".join(f"{name}={value}" for name, value in self.settings)
        return f"{self.name} ({settings})" if settings else self.name


@dataclass(frozen=True)
class Part:
    """One method on one stream with one seed, which fixes the draws of both.

    Attributes
    ----------
    stream : StreamSpec
    method : MethodSpec
    seed : int
    kind : str
        What is measured, and how: see `experiments.running.protocols`.
    """

    stream: StreamSpec
    method: MethodSpec
    seed: int = 0
    kind: str = USUAL

    def __str__(self) -> str:
        kind = "" if self.kind == USUAL else f", {self.kind}"
        return f"{self.method.label} on {self.stream.name} ({self.stream.protocol}), seed {self.seed}{kind}"

    def describe(self) -> dict[str, Any]:
        """Return the part as plain data."""
        return {
            "stream": {
                "name": self.stream.name,
                "protocol": self.stream.protocol,
                "options": dict(self.stream.options),
            },
            "method": {"name": self.method.name, "settings": dict(self.method.settings)},
            "seed": self.seed,
            **({} if self.kind == USUAL else {"kind": self.kind}),
        }

    @property
    def text(self) -> str:
        """The description as JSON, the same for the same part."""
        return json.dumps(self.describe(), sort_keys=True)
