"""The inputs of a graph, and their conversion to the matrix of numbers and codes that trees read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adforest.encoding import TableEncoder
from adforest.encoding.categories import Categories, Value
from adforest.encoding.rates import CategoryRates
from adforest.exceptions import Advice, InputError, InputTypeError, ParameterError
from adforest.forest.types import AnyArray, Float64Array
from adforest.integrations.onnx.graph import ML, Graph

MATRIX = "X"


@dataclass(frozen=True, slots=True)
class Input:
    """One input: a column of shape (N, 1), or all columns as one matrix of shape (N, n_features).

    Attributes
    ----------
    name : str
    width : int
    categories : Categories or None
        Of a categorical column of which some values are known.
    rates : CategoryRates or None
        Of a categorical column whose class rates trees read.
    """

    name: str
    width: int = 1
    categories: Categories | None = None
    rates: CategoryRates | None = None

    @property
    def values(self) -> list[Value]:
        """The known categories."""
        return [] if self.categories is None else list(self.categories.index_of)

    @property
    def is_text(self) -> bool:
        """Whether it takes text; otherwise it takes doubles."""
        return bool(self.values) and isinstance(self.values[0], str)

    def add_to(self, graph: Graph, missing_text: str) -> str:
        """Add the input to a graph; return its numbers and codes, with NaN for what is missing."""
        name = graph.input(self.name, "STRING" if self.is_text else "DOUBLE", self.width)
        if self.categories is None:
            return name
        return self._looked_up(graph, self.categories.coded_as, missing_text)

    def add_rates(self, graph: Graph, missing_text: str) -> list[str]:
        """Return the class rates of an input that was added to a graph, each of shape (N, 1)."""
        assert self.categories is not None
        assert self.rates is not None
        table = self.rates.look_up(self.categories.coded_as)
        return [self._looked_up(graph, column, missing_text) for column in table.T]

    def _looked_up(self, graph: Graph, numbers: Float64Array, missing_text: str) -> str:
        """Return the numbers of values; the last but one is for unknown values, the last is NaN."""
        found, unknown = numbers[:-2], numbers[-2]
        keys = np.array(self.values, dtype=object if self.is_text else np.float64)
        if self.is_text:
            keys, found = np.append(keys, missing_text), np.append(found, np.nan)
        result = graph.add(
            "LabelEncoder",
            self.name,
            domain=ML,
            keys_tensor=graph.tensor(keys),
            values_tensor=graph.tensor(found),
            default_tensor=graph.tensor(np.array([unknown])),
        )
        if self.is_text or np.isnan(unknown):
            return result
        return graph.add("Where", graph.add("IsNaN", self.name), self.name, result)

    def feed(self, values: AnyArray, missing_text: str) -> AnyArray:
        """Return values of shape (n, width), text and None or floats, as ONNX Runtime takes them."""
        if not self.is_text:
            return values.astype(np.float64)  # None becomes NaN
        filled = values.copy()
        filled[[[value is None for value in row] for row in values]] = missing_text
        return filled


def inputs_of(encoder: TableEncoder) -> list[Input]:
    """Return one matrix where arrays of numbers were learnt, one input per column otherwise."""
    if encoder.is_plain:
        return [Input(MATRIX, encoder.n_features)]
    positions = tuple(range(encoder.n_features))
    has_names = encoder.names is not None and encoder.names != positions
    names = [str(name) for name in encoder.names or ()] if has_names else [f"x{position}" for position in positions]
    return [
        Input(name, categories=known if known and known.index_of else None, rates=encoder.rates.get(position))
        for position, (name, known) in enumerate(zip(names, encoder.categories, strict=True))
    ]


def matrix_of(graph: Graph, inputs: list[Input], encoder: TableEncoder, missing_text: str) -> str:
    """Add the inputs to a graph; return the matrix of shape (N, n_columns) that trees read."""
    columns = [one.add_to(graph, missing_text) for one in inputs]
    with_rates = {position for position, _ in encoder.rate_columns}
    rates = {position: inputs[position].add_rates(graph, missing_text) for position in sorted(with_rates)}
    columns += [rates[position][rate] for position, rate in encoder.rate_columns]
    return columns[0] if len(columns) == 1 else graph.add("Concat", *columns, axis=1)


def check_names(inputs: list[Input], outputs: tuple[str, ...], missing_text: str) -> None:
    """Raise if two inputs or outputs have the same name, or if ``missing_text`` is a category."""
    if not isinstance(missing_text, str):
        raise InputTypeError(f"missing_text is {missing_text!r}; expected the text that stands for a missing value.")
    if len(outputs) != 2 or outputs[0] == outputs[1] or not all(isinstance(name, str) and name for name in outputs):
        raise ParameterError(f"output_names is {outputs!r}; expected two different texts, for label and probabilities.")
    names = [one.name for one in inputs]
    for one in inputs:
        if not one.name or names.count(one.name) > 1:
            raise InputError(
                f"{names.count(one.name)} columns would be inputs of the name {one.name!r}, but every input needs a "
                "name of its own.",
                Advice("Rename the columns and {refit}."),
            )
        if one.name in outputs:
            raise ParameterError(
                f"column {one.name!r} is called as an output is. Pass other output_names than {outputs}."
            )
        if missing_text in one.values:
            raise ParameterError(
                f"{missing_text!r} is a category of column {one.name!r}, so it cannot stand for missing values. Pass "
                "another missing_text."
            )
        for text in (one.name, *one.values):
            check_text(text, f"column {one.name!r}")


def check_text(text: object, where: str) -> None:
    """Raise if some text cannot be written, which has to be UTF-8 in ONNX."""
    try:
        str(text).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{where} holds {text!r}, which cannot be written as UTF-8 ({error.reason}), but ONNX knows no other text.",
            Advice("Replace it and {refit}."),
        ) from error
