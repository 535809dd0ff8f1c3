"""A few of the ratios of `make bench`, small enough to be taken at every commit: ours to scikit-learn's, in one run.

Seconds differ between machines, ratios hardly do. `make bench-watched` takes them once, `asv continuous` compares two
commits, `asv run` and `asv publish` draw their history.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))  # asv imports this file alone

from timing import clusters, medians, ours, theirs


def ratio(ours_work: Callable[[], object], theirs_work: Callable[[], object], rounds: int = 9) -> float:
    """Return seconds of our work over seconds of theirs, medians of works that alternate."""
    t_ours, t_theirs = medians([ours_work, theirs_work], rounds)
    return t_ours / t_theirs


class Ratios:
    """Ours over scikit-learn's random forest; lower is better."""

    unit = "times scikit-learn's seconds"
    timeout = 120
    n_samples = 4_000

    def setup(self) -> None:
        """Fit both forests of ten trees."""
        self.X, self.y = clusters(self.n_samples, seed=1)
        self.X_next, self.y_next = clusters(self.n_samples, seed=2)
        self.ours = ours(max_features=3).fit(self.X, self.y)
        self.theirs = theirs(3).fit(self.X, self.y)

    def track_fit(self) -> float:
        """Ten trees."""
        return ratio(lambda: ours(max_features=3).fit(self.X, self.y), lambda: theirs(3).fit(self.X, self.y))

    def track_partial_fit(self) -> float:
        """One more batch, against a refit on both."""
        X, y = np.concatenate([self.X, self.X_next]), np.concatenate([self.y, self.y_next])
        first, model = self.ours.__getstate__(), ours(max_features=3)

        def learn_one_more() -> None:
            model.__setstate__(dict(first))
            model.partial_fit(self.X_next, self.y_next)

        return ratio(learn_one_more, lambda: theirs(3).fit(X, y))

    def track_predict_many(self) -> float:
        """All samples of a batch."""
        return ratio(lambda: self.ours.predict(self.X_next), lambda: self.theirs.predict(self.X_next))

    def track_predict_one(self) -> float:
        """One sample at a time, fifty times."""
        rows = [self.X_next[k : k + 1] for k in range(50)]
        return ratio(
            lambda: [self.ours.predict(row) for row in rows], lambda: [self.theirs.predict(row) for row in rows], 5
        )


for _name in [name for name in dir(Ratios) if name.startswith("track_")]:
    getattr(Ratios, _name).unit = Ratios.unit
