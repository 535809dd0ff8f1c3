"""The seven steps of the paper's Algorithm 1: what a batch means to three forests."""

import numpy as np

from adforest.adaptation.boxes import Box
from adforest.adaptation.learner import ACTIVE, PERMANENT, TEMPORARY, Standing
from adforest.adaptation.lesson import Lesson


class PaperLesson(Lesson):
    """The paper's way: perturbed leaves tell drift, and the forest that fits the batch best answers."""

    def _adapt(self) -> tuple[str, int]:
        """Take steps 2 and 3: repair the permanent forest, and the active one where it is repairable."""
        for name in self.standings:
            self._assess(name)
        self._repair(PERMANENT)
        if not self._is_repairable(ACTIVE):
            return self._drift()
        self._repair(ACTIVE)
        if self.standings.pop(TEMPORARY, None):
            self.action[TEMPORARY] = "dropped"
        return "none", 0

    def _drift(self) -> tuple[str, int]:
        """Steps 4 to 7: the active forest cannot be repaired; see to the temporary one, which may take its place."""
        n_unrepairable = self.learner.n_unrepairable + 1
        self._leave(ACTIVE)
        temporary = self.standings.get(TEMPORARY)
        # One that a lesson of the other kind left behind is not made for repairs.
        if temporary and temporary.forest.leaf_of and self._is_repairable(TEMPORARY):
            self._repair(TEMPORARY)
        else:
            self.action[TEMPORARY] = "rebuilt" if TEMPORARY in self.standings else "built"
            self._build_temporary()
        if n_unrepairable <= self.settings.drift_threshold:
            return "temporary", n_unrepairable
        self.standings[ACTIVE] = self.standings.pop(TEMPORARY)
        self.action[ACTIVE], self.action[TEMPORARY] = "replaced", "dropped"
        return "sustained", 0

    def _is_repairable(self, name: str) -> bool:
        return self.perturbed[name] <= self.settings.repair_threshold

    def _build_temporary(self) -> None:
        """Build the temporary forest from the reserve window."""
        first = self.memory.first_since(self.settings.window_start(self.number))
        box = Box.of(self.records.X[first:], self.records.n_categories)
        self.standings[TEMPORARY] = Standing(self._built(first), box)

    def _weigh(self) -> dict[str, float]:
        """Let the forest answer that gets most of the batch right after learning it, the first among equals."""
        for name, standing in self.standings.items():
            answers = standing.forest.answer(
                self.batch.X, self.records.n_classes, soft=self.settings.soft, n_jobs=self.settings.n_jobs
            )
            self.accuracy[name] = float(np.mean(answers.argmax(axis=1) == self.batch.y))
        return {max(self.standings, key=self.accuracy.__getitem__): 1.0}
