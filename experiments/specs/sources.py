"""Where the streams of the experiments come from: data sets cut by one of the paper's protocols, and generators."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from adforest.simulation import Batch, make_house
from adforest.simulation.house import Dataset
from experiments.specs.generators import GENERATORS
from experiments.specs.run_spec import StreamSpec
from experiments.streams.datasets import NAMES, STREAMS, load_dataset, load_stream
from experiments.streams.order import cut_in_order
from experiments.streams.scenarios import simulate_scenarios

DATASET_SIZES = {"arem": 42_239, "avila": 20_867, "eb": 45_781, "house": 300_000, "ldpa": 164_860, "uifwa": 149_332}
IN_ORDER = "in order"  # the variant that cuts a file as it lies into consecutive batches


@dataclass(frozen=True, eq=False)
class Stream:
    """Batches, their columns, and how they are tested.

    Attributes
    ----------
    batches : sequence of Batch
    n_categories : tuple of int
        Per column, its number of categories; 0 where it is numerical.
    n_samples : int
        Size of the whole data set.
    is_tested_once : bool
        Whether only the model after the last batch is tested.
    """

    batches: Sequence[Batch]
    n_categories: tuple[int, ...]
    n_samples: int
    is_tested_once: bool = False

    @property
    def categorical(self) -> list[bool]:
        """Per column, whether it is categorical."""
        return [n > 0 for n in self.n_categories]

    def digest(self) -> str:
        """Return the SHA-256 of all records in the order they arrive."""
        total = hashlib.sha256()
        for batch in self.batches:
            for name in ("X_train", "y_train", "X_test", "y_test", "X_held", "y_held"):
                total.update(np.ascontiguousarray(getattr(batch, name)).tobytes())
        return total.hexdigest()


@dataclass(frozen=True)
class Source:
    """How a kind of stream is made.

    Attributes
    ----------
    make : callable
        Returns the stream, given its specification, a seed and the folder of the data sets.
    size : callable
        Returns about how many records the source has, for guessing what a run will cost.
    modules : tuple of str
        Whose code makes the stream.
    is_loaded : bool
        Whether its records come from a file.
    """

    make: Callable[[StreamSpec, int, Path | None], Stream]
    size: Callable[[StreamSpec], int]
    modules: tuple[str, ...]
    is_loaded: bool = False


def open_stream(spec: StreamSpec, seed: int, folder: Path | None) -> Stream:
    """Return a stream; the last one opened by a process is kept.

    Parameters
    ----------
    spec : StreamSpec
    seed : int
        Of all draws.
    folder : Path or None
        Where the data sets lie.

    Returns
    -------
    Stream
    """
    return _opened(spec, seed, folder)


@lru_cache(maxsize=1)
def _opened(spec: StreamSpec, seed: int, folder: Path | None) -> Stream:
    """Make a stream, or return it if it was the last one made."""
    return find_source(spec).make(spec, seed, folder)


def stream_size(spec: StreamSpec) -> int:
    """Return about how many records a stream's source has."""
    return find_source(spec).size(spec)


def find_source(spec: StreamSpec) -> Source:
    """Return the source of a stream."""
    if spec.name not in SOURCES:
        raise ValueError(f"there is no stream {spec.name!r}; expected one of {', '.join(sorted(SOURCES))}")
    return SOURCES[spec.name]


# The paper's data sets


def _cut_dataset(spec: StreamSpec, seed: int, folder: Path | None) -> Stream:
    """Return a data set of the paper in batches; option ``n_samples`` draws a House of that size."""
    n_samples = dict(spec.options).get("n_samples")
    data = load_dataset(spec.name, folder) if n_samples is None else make_house(int(n_samples), random_state=0)
    if spec.variant == IN_ORDER:
        return _cut_in_order(data, spec)
    is_whole = spec.variant == "whole"
    batches = simulate_scenarios(
        data.X,
        data.y,
        protocol="big" if is_whole else spec.variant,
        categorical=data.categorical,
        random_state=seed,
    )
    return Stream(
        batches=[_joined(batches)] if is_whole else batches,
        n_categories=_count_categories(data),
        n_samples=len(data.y),
        is_tested_once=spec.variant in ("big", "whole"),
    )


def _count_categories(data: Dataset) -> tuple[int, ...]:
    """Return, for each column of a data set, its number of categories; 0 where it is numerical."""
    return tuple(len(data.categories.get(name, ())) for name in data.feature_names)


def _joined(batches: Sequence[Batch]) -> Batch:
    """Return one batch that trains on what all of these train on."""
    return replace(
        batches[0],
        X_train=np.concatenate([batch.X_train for batch in batches]),
        y_train=np.concatenate([batch.y_train for batch in batches]),
    )


def _size_dataset(spec: StreamSpec) -> int:
    """Return how many records a data set has."""
    return int(dict(spec.options).get("n_samples") or DATASET_SIZES[spec.name])


@cache
def digest_records(name: str, folder: Path | None) -> str:
    """Return the fingerprint of the records of a data set or a real stream.

    Raises
    ------
    FileNotFoundError
        If it cannot be found.
    """
    try:
        data = load_stream(name, folder) if name in STREAMS else load_dataset(name, folder)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{error} On this command line: --data FOLDER, or --quick, which needs no files."
        ) from error
    return hashlib.sha256(np.ascontiguousarray(data.X).tobytes() + np.ascontiguousarray(data.y).tobytes()).hexdigest()


# Files in the order of their records


def _open_in_order(spec: StreamSpec, seed: int, folder: Path | None) -> Stream:
    """Return a real stream in batches; nothing is drawn, so that all seeds see the same records."""
    return _cut_in_order(load_stream(spec.name, folder), spec)


def _cut_in_order(data: Dataset, spec: StreamSpec) -> Stream:
    """Return records as they lie in their file, in batches of as many as option ``batch_size`` says.

    Option ``n_samples`` takes the first ones only; with ``first_size`` the first batch has so many.
    """
    options = dict(spec.options)
    n_samples = int(options.get("n_samples") or len(data.y))
    first, size = int(options.get("first_size") or 0), int(options["batch_size"] or 0)
    batches = cut_in_order(data.X[first:n_samples], data.y[first:n_samples], size)
    if first:
        batches = [*cut_in_order(data.X[:first], data.y[:first], first), *batches]
    return Stream(batches, _count_categories(data), min(n_samples, len(data.y)))


def _size_in_order(spec: StreamSpec) -> int:
    """Return how many records are taken of a real stream."""
    size = STREAMS[spec.name].n_records
    return min(size, int(dict(spec.options).get("n_samples") or size))


# Generated streams


def _generate(spec: StreamSpec, seed: int, folder: Path | None) -> Stream:
    """Return a generated stream, all of its batches drawn."""
    return replace(empty_stream(spec), batches=list(GENERATORS[spec.name].draw(spec, seed)))


def empty_stream(spec: StreamSpec) -> Stream:
    """Return a generated stream without its batches: its columns and its size."""
    generator = GENERATORS[spec.name]
    return Stream((), generator.n_categories(spec), generator.size(spec))


HERE = "experiments.specs.sources"
CUTTING = (HERE, "experiments.streams.order", "experiments.streams.scenarios")
SOURCES = {
    **{name: Source(_cut_dataset, _size_dataset, CUTTING, is_loaded=True) for name in NAMES},
    "house": Source(_cut_dataset, _size_dataset, (*CUTTING, "adforest.simulation.house")),
    **{name: Source(_open_in_order, _size_in_order, CUTTING[:2], is_loaded=True) for name in STREAMS},
    **{name: Source(_generate, generator.size, generator.modules) for name, generator in GENERATORS.items()},
}
