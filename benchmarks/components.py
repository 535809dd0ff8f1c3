"""Learners for nextbatch: adforest's default with one component switched off, to see what it is for.

NEXTBATCH_DATA=folder nextbatch run --learners adforest --learner benchmarks/components.py:NoContexts
--learner benchmarks/components.py:NoRareClasses --protocols new-classes --seeds 3 --out build/components
"""

from typing import Any, ClassVar

from adforest.adaptation.tuning import Tuning
from nextbatch.learners.streaming import Adforest


class _Changed(Adforest):
    tuning: ClassVar[dict[str, Any]]

    def reset(self) -> None:
        """Forget everything."""
        super().reset()
        self.model._tuning = Tuning(**self.tuning)


class NoContexts(_Changed):
    """The weights of the forests do not depend on whether new or rare classes are predicted."""

    name, title, tuning = "no-contexts", "adforest without contexts of new and rare classes", {"steepness": 0}


class NoRareClasses(_Changed):
    """Samples of rare classes are not always in the bag, and the weights do not depend on rare classes."""

    name, title, tuning = "no-rare", "adforest without rare classes", {"rare_factor": 10**9}
