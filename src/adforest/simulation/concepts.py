"""Families of concepts: functions A to D from the same features, with the same distribution, to classes.

The concepts of a family differ in P(class | features) only, so a change of concept is real drift and nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adforest.simulation.batch import Drawn

Matrix = NDArray[np.float64]
Classes = NDArray[np.int64]

CONCEPT_NAMES = "ABCD"


class Mixture(NamedTuple):
    """The concepts of a batch, and the fraction of its samples that the new one decides."""

    old: int
    new: int
    fraction_of_new: float

    @property
    def name(self) -> str:
        """The concepts in the batch, such as ``"A"`` or ``"A+B"``."""
        if self.fraction_of_new in (0, 1):
            return CONCEPT_NAMES[self.new if self.fraction_of_new else self.old]
        return f"{CONCEPT_NAMES[self.old]}+{CONCEPT_NAMES[self.new]}"


class Family(ABC):
    """Four concepts over the same features.

    Attributes
    ----------
    categorical : tuple of bool
        Per feature, whether its values are codes of categories.
    n_classes : int
        Number of class values, coded 0, 1, and so on.
    noise : float
        Fraction of the samples with a wrong class.
    """

    categorical: ClassVar[tuple[bool, ...]]
    n_classes: ClassVar[int]
    noise: ClassVar[float]

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    @abstractmethod
    def draw_features(self, n: int) -> Matrix:
        """Return n samples without their classes."""

    @abstractmethod
    def answer(self, X: Matrix, concept: int) -> Classes:
        """Return the classes of samples by a concept, without noise."""

    def draw(self, n: int, mixture: Mixture) -> Drawn:
        """Return n samples with classes given by a mixture of concepts, some of them wrong."""
        X = self.draw_features(n)
        is_new = self.rng.random(n) < mixture.fraction_of_new
        y = np.where(is_new, self.answer(X, mixture.new), self.answer(X, mixture.old))
        is_wrong = self.rng.random(n) < self.noise
        return X, (y + is_wrong * self.rng.integers(1, self.n_classes, n)) % self.n_classes


class Sea(Family):
    """The SEA concepts of Street and Kim (2001): is the sum of the first two of three features at most a threshold?"""

    categorical = (False,) * 3
    n_classes = 2
    noise = 0.10

    thresholds = (8.0, 9.0, 7.0, 9.5)

    def draw_features(self, n: int) -> Matrix:
        """Return n samples of three numbers from 0 to 10."""
        return self.rng.uniform(0, 10, (n, 3))

    def answer(self, X: Matrix, concept: int) -> Classes:
        """Return 1 where the sum of the first two features is at most the threshold."""
        return (X[:, 0] + X[:, 1] <= self.thresholds[concept]).astype(np.int64)


class Hyperplane(Family):
    """On which side of a plane through the middle of the unit cube? Each concept turns the plane by 60 degrees.

    The fraction of samples on which two planes disagree is about their angle over 180 degrees: a third of the samples
    change class from one concept to the next. The first plane and the direction in which it turns are random.
    """

    categorical = (False,) * 10
    n_classes = 2
    noise = 0.05

    turn = np.pi / 3

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__(rng)
        axes, _ = np.linalg.qr(rng.normal(size=(len(self.categorical), 2)))
        angles = self.turn * np.arange(len(CONCEPT_NAMES))
        self.normals = np.column_stack([np.cos(angles), np.sin(angles)]) @ axes.T

    def draw_features(self, n: int) -> Matrix:
        """Return n samples of ten numbers from 0 to 1."""
        return self.rng.uniform(0, 1, (n, len(self.categorical)))

    def answer(self, X: Matrix, concept: int) -> Classes:
        """Return 1 on the side of the plane that its normal points to."""
        distance: Matrix = (X - 0.5) @ self.normals[concept]
        return (distance > 0).astype(np.int64)


class Rules(Family):
    """Rent of a house: each concept is a list of rules on other features; the first that holds decides.

    The features are area, age, distance to the centre, heating (4 categories), quarter of the town (6 categories) and
    view (no, yes); the classes are five bands of rent.
    """

    categorical = (False, False, False, True, True, True)
    n_classes = 5
    noise = 0.05

    def draw_features(self, n: int) -> Matrix:
        """Return n houses, every feature uniform and independent of the others."""
        numbers = self.rng.uniform([100, 0, 0], [800, 100, 20], (n, 3))
        codes = self.rng.integers(0, [4, 6, 2], (n, 3))
        return np.column_stack([numbers, codes])

    def answer(self, X: Matrix, concept: int) -> Classes:
        """Return the rent band by the rule list of a concept."""
        rules = (_rent_by_size, _rent_by_location, _rent_by_comfort, _rent_by_calm)[concept]
        return rules(Houses(*X.T))


class Houses(NamedTuple):
    """The features of many houses, one array each."""

    area: Matrix
    age: Matrix
    distance: Matrix
    heating: Matrix
    quarter: Matrix
    view: Matrix


def _rent_by_size(houses: Houses) -> Classes:
    """Return rents that rise with the area."""
    is_large = houses.area >= 550
    return _first_that_fits(
        (4, is_large & (houses.view == 1)),
        (3, is_large),
        (2, (houses.area >= 300) & np.isin(houses.heating, (2, 3))),
        (1, np.isin(houses.quarter, (0, 1, 2))),
    )


def _rent_by_location(houses: Houses) -> Classes:
    """Return rents that rise toward the centre and in two good quarters."""
    is_good, is_near = np.isin(houses.quarter, (1, 4)), houses.distance < 8
    return _first_that_fits((4, is_good & is_near), (3, is_good), (2, is_near), (1, houses.view == 1))


def _rent_by_comfort(houses: Houses) -> Classes:
    """Return rents that rise with new walls and good heating."""
    is_warm = np.isin(houses.heating, (0, 3))
    return _first_that_fits(
        (4, is_warm & (houses.age < 50)), (2, is_warm), (3, houses.age < 30), (1, houses.area >= 400)
    )


def _rent_by_calm(houses: Houses) -> Classes:
    """Return rents that are highest for a view far from the centre and lowest where heating is poor."""
    return _first_that_fits(
        (0, houses.heating == 0),
        (1, houses.age >= 75),
        (4, (houses.distance >= 10) & (houses.view == 1)),
        (2, np.isin(houses.quarter, (0, 3, 5))),
        (3, houses.heating > 0),
    )


def _first_that_fits(*rules: tuple[int, NDArray[np.bool_]]) -> Classes:
    """Return the class of the first rule that holds for each sample, 0 where none does."""
    return np.select([holds for _, holds in rules], [np.int64(band) for band, _ in rules], default=np.int64(0))


FAMILIES: dict[str, type[Family]] = {"sea": Sea, "hyperplane": Hyperplane, "rules": Rules}
