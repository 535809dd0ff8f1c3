"""Generated streams whose drift is known: NumPy's PCG64 alone, values rounded so that machines agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

N_BATCHES, SIZE = 40, 500
N_NUMBERS, N_CITIES = 8, 12  # numerical features, values of the categorical one
MISSING = 0.03  # frequency of missing values in two of the features
DECIMALS = 3

Rng = np.random.Generator
Matrix = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass
class Concept:
    """Rules that give a sample its class: the highest of some quadratic scores, and of what each city adds."""

    linear: Matrix
    pairs: Matrix
    cities: Matrix

    @classmethod
    def of(cls, rng: Rng, n_classes: int) -> Concept:
        """Draw rules."""
        return cls(
            rng.standard_normal((N_NUMBERS, n_classes)),
            rng.standard_normal((N_NUMBERS // 2, n_classes)) * 1.5,
            rng.standard_normal((N_CITIES, n_classes)),
        )

    def toward(self, other: Concept, part: float) -> Concept:
        """Return rules on the way to others."""
        mixed = [
            (1 - part) * mine + part * theirs
            for mine, theirs in (
                (self.linear, other.linear),
                (self.pairs, other.pairs),
                (self.cities, other.cities),
            )
        ]
        return Concept(*mixed)

    def label(self, X: Matrix, city: Codes) -> Codes:
        """Return the class of each sample."""
        pairs = X[:, : N_NUMBERS // 2] * X[:, N_NUMBERS // 2 :]
        scores = X @ self.linear + pairs @ self.pairs + self.cities[city]
        found: Codes = np.round(scores, 6).argmax(axis=1)
        return found


def _features(rng: Rng, n: int) -> tuple[Matrix, Codes]:
    """Draw independent numbers, and cities of which some are rare."""
    X = np.round(rng.standard_normal((n, N_NUMBERS)), DECIMALS)
    return X, np.minimum((rng.random(n) ** 2 * N_CITIES).astype(np.int64), N_CITIES - 1)


def _flip(rng: Rng, y: Codes, n_classes: int, frequency: float) -> Codes:
    """Return labels of which some are drawn without looking at the sample."""
    return np.where(rng.random(len(y)) < frequency, rng.integers(0, n_classes, len(y)), y)


def _draw_concepts(rng: Rng, n_classes: int, noise: float, rule: Callable[[int], Concept]) -> pd.DataFrame:
    """Draw batch after batch, each labelled by the rules of its number."""
    parts = []
    for number in range(N_BATCHES):
        X, city = _features(rng, SIZE)
        parts.append((X, city, _flip(rng, rule(number).label(X, city), n_classes, noise)))
    return _frame(rng, *(np.concatenate(part) for part in zip(*parts, strict=True)))


def _frame(rng: Rng, X: Matrix, city: Codes, y: Codes) -> pd.DataFrame:
    """Return a table with gaps in a number and in the city."""
    X = X.copy()
    X[rng.random(len(X)) < MISSING, 0] = np.nan
    names = np.array([f"city {code}" for code in range(N_CITIES)], dtype=object)[city]
    names[rng.random(len(X)) < MISSING] = None
    columns = {f"x{j}": X[:, j] for j in range(N_NUMBERS)}
    text = {"city": pd.Series(names, dtype=object), "class": pd.Series([f"c{code}" for code in y], dtype=object)}
    return pd.DataFrame(columns | text)


def draw_abrupt(rng: Rng) -> pd.DataFrame:
    """Other rules from batch 14 on, and others again from batch 27 on."""
    concepts = [Concept.of(rng, 3) for _ in range(3)]
    return _draw_concepts(rng, 3, 0.05, lambda number: concepts[(number >= 14) + (number >= 27)])


def draw_recurring(rng: Rng) -> pd.DataFrame:
    """Two sets of rules that take turns every eight batches."""
    concepts = [Concept.of(rng, 3) for _ in range(2)]
    return _draw_concepts(rng, 3, 0.05, lambda number: concepts[number // 8 % 2])


def draw_gradual(rng: Rng) -> pd.DataFrame:
    """Rules that turn into others from batch 10 to batch 30."""
    first, last = (Concept.of(rng, 3) for _ in range(2))
    return _draw_concepts(rng, 3, 0.05, lambda number: first.toward(last, min(max((number - 10) / 20, 0), 1)))


def draw_noise(rng: Rng) -> pd.DataFrame:
    """Rules that never change, and a fifth of the labels drawn at random: what looks like drift is noise."""
    concept = Concept.of(rng, 4)
    return _draw_concepts(rng, 4, 0.2, lambda number: concept)


def draw_arrivals(rng: Rng) -> pd.DataFrame:
    """Clouds of samples, a class each: two at first, another every five batches; one is gone from batch 20 to 32."""
    centres = rng.standard_normal((9, N_NUMBERS)) * 1.2
    parts = []
    for number in range(N_BATCHES):
        known = [code for code in range(9) if code < 2 + number // 5 and not (code == 1 and 20 <= number < 32)]
        y = rng.choice(np.array(known), SIZE)
        X, city = _features(rng, SIZE)
        parts.append((np.round(X + centres[y], DECIMALS), np.where(rng.random(SIZE) < 0.5, y, city), y))
    return _frame(rng, *(np.concatenate(part) for part in zip(*parts, strict=True)))


def draw_frequencies(rng: Rng) -> pd.DataFrame:
    """Classes that look the same all the time, but whose frequencies swing: each is rare at times."""
    centres = rng.standard_normal((5, N_NUMBERS))
    parts = []
    for number in range(N_BATCHES):
        wave = 1.05 + np.sin(2 * np.pi * (number / 16 + np.arange(5) / 5))
        y = rng.choice(5, SIZE, p=np.round(wave**3, 6) / np.round(wave**3, 6).sum())
        X, city = _features(rng, SIZE)
        parts.append((np.round(X + centres[y], DECIMALS), city, y))
    return _frame(rng, *(np.concatenate(part) for part in zip(*parts, strict=True)))


STREAMS: dict[str, Callable[[Rng], pd.DataFrame]] = {
    "abrupt": draw_abrupt,
    "recurring": draw_recurring,
    "gradual": draw_gradual,
    "noise": draw_noise,
    "arrivals": draw_arrivals,
    "frequencies": draw_frequencies,
}


def draw(name: str) -> pd.DataFrame:
    """Return a generated stream's table; always the same one."""
    return STREAMS[name](np.random.default_rng([2026, list(STREAMS).index(name)]))
