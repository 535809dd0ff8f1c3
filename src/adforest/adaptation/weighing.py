"""Learning with a forest of the last batches always at hand: it judges the others, and all of them vote."""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from adforest.adaptation.boxes import Box
from adforest.adaptation.contest import CLEAR_GAP, DRIFTING_GAP, Gap, gap_between, weight_of
from adforest.adaptation.learner import ACTIVE, PERMANENT, TEMPORARY, Standing
from adforest.adaptation.lesson import Lesson
from adforest.forest import Forest, Tree, in_threads
from adforest.forest.types import Ints, Mask


class Trial(NamedTuple):
    """How the temporary forest does on the batch, each record answered by trees that were grown without it.

    Attributes
    ----------
    left_out : list of masks
        By tree that takes part: the records it may answer.
    right, tested : masks
        Records it gets right, and those that some tree may answer.
    """

    left_out: list[Mask]
    right: Mask
    tested: Mask


class Fresh(NamedTuple):
    """Trees grown at this batch, and the leaf of each of its records in each of them."""

    forest: Forest
    leaves: tuple[Ints, ...]

    def joined(self, other: "Fresh") -> "Fresh":
        """Return these trees and others."""
        return Fresh(_joined(self.forest, other.forest), self.leaves + other.leaves)


def _joined(young: Forest, old: Forest) -> Forest:
    """Return the trees of both forests, the young ones first, as one that nobody asks where records are."""
    return Forest(young.trees + old.trees, (), young.known)


class WeighingLesson(Lesson):
    """Our way: the temporary forest, of the last few batches, always stands, and every forest has a weighted vote.

    Where the temporary forest clearly outdoes another on the batch, in spite of the fewer records it knows, the rules
    have changed for that other one. So drift needs no threshold on perturbed leaves, small leaves raise no false alarm,
    and a noisy data set is no drift.
    """

    def _adapt(self) -> tuple[str, int]:
        """Repair the permanent forest, renew the temporary one, and let it judge the active one."""
        self.before = dict(self.standings)
        self._assess(PERMANENT)
        self._assess(ACTIVE)
        self.leaves = {name: self._leaves_of(name) for name in self.before}
        self.knows = {name: one.forest.knows(self.records.n_classes) for name, one in self.before.items()}
        same = self.before[PERMANENT].is_same(self.before[ACTIVE])
        for name in self.before:
            known = same and name == ACTIVE
            self.accuracy[name] = self.accuracy[PERMANENT] if known else float(np.mean(self._is_right(name)))
        self._repair(PERMANENT)
        trial, gap = self._renew_temporary()
        seen = {PERMANENT: gap if same else self._gap(trial, PERMANENT), ACTIVE: gap}
        self.gaps |= {name: gap for name, gap in seen.items() if gap is not None}
        if seen[ACTIVE] is None:  # too few records, or too few of known classes, to tell: go on as before
            self._repair(ACTIVE)
            return "none", self.learner.n_unrepairable
        if self.gaps[ACTIVE].is_clear:
            return self._drift()
        if same or self.gaps[PERMANENT].size > self.gaps[ACTIVE].size:
            self._repair(ACTIVE)
        else:
            self.standings[ACTIVE] = self.standings[PERMANENT]
            self.action[ACTIVE] = "rejoined"
        return "none", 0

    def _drift(self) -> tuple[str, int]:
        """Leave the active forest as it is; if that has lasted, the temporary one takes its place."""
        n_unrepairable = self.learner.n_unrepairable + 1
        self._leave(ACTIVE)
        if n_unrepairable <= self.settings.drift_threshold:
            return "temporary", n_unrepairable
        temporary = self.standings[TEMPORARY]
        self.standings[ACTIVE] = replace(temporary, forest=self._placed(temporary.forest))
        self.action[ACTIVE] = "replaced"
        self.gaps[ACTIVE] = Gap()
        return "sustained", 0

    def _weigh(self) -> dict[str, float]:
        """Weigh votes by how far the temporary forest outdid the others; the last batches have one say, not two.

        An active forest of its own knows the present rules as the temporary one does, or others: they share a vote, and
        little is tolerated of it. As little is of the permanent forest once rules have changed from one batch to the
        next; while they only drift, what it knows of the past is still worth something for the present.
        """
        standings = self.standings
        if TEMPORARY not in standings:
            return {PERMANENT: 1.0}
        tolerated = DRIFTING_GAP if self.since == 1 else CLEAR_GAP
        votes = {PERMANENT: weight_of(self.gaps.get(PERMANENT, Gap()), tolerated), TEMPORARY: 1.0}
        if not any(standings[ACTIVE].is_same(standings[name]) for name in votes):
            worth = weight_of(self.gaps.get(ACTIVE, Gap()), CLEAR_GAP)
            votes |= {ACTIVE: worth / (1 + worth), TEMPORARY: 1 / (1 + worth)}
        return votes

    # The temporary forest

    def _renew_temporary(self) -> tuple[Trial, Gap | None]:
        """Grow part of the temporary forest anew from the window; the rest are the youngest trees it had.

        A tree stands for at most as many batches as the window has. All are grown anew while the window fills, where
        the batch brings classes that the others do not know, or where the new ones raise a suspicion or are too few to
        tell; and from the batch alone where that does better than the window: then the rules changed with this batch,
        and the batches before it only mislead. Of classes that are new with the batch the trees get all records, but
        for as many trees as there are at other batches: these are tried, by what each has left out. Return that trial,
        and how far the new trees outdo the active forest in it.
        """
        first = self._first_of_window
        before = self.before.get(TEMPORARY)
        n_part = math.ceil(self.settings.n_estimators / self.settings.window_size)
        part, rest = slice(n_part), slice(n_part, None)
        # Trees of a base forest that draws no lots belong together.
        is_whole = bool(
            before is None
            or before.forest.leaf_of  # left by a lesson of the other kind, which repairs it
            or not self.settings.grower.draws_lots
            or self.since > self.settings.window_start(self.number)
            or not self.knows[TEMPORARY][self.batch.y].all()
        )
        has_new = self.settings.grower.draws_lots and bool(self._is_new.any())
        fresh = self._grown_since(first, slice(None) if is_whole and not has_new else part)
        trial = self._try(fresh)
        rivals = [ACTIVE] if before is None else [ACTIVE, TEMPORARY]
        gaps = [self._gap(trial, name) for name in rivals]
        if has_new:
            fresh = fresh.joined(self._grown_since(first, rest, self._is_new))
        elif not is_whole and self._is_open(*gaps):
            fresh = fresh.joined(self._grown_since(first, rest))
            trial = self._try(fresh)
            gaps = [self._gap(trial, name) for name in rivals]
        self.action[TEMPORARY] = "built" if before is None else "renewed"
        if self._has_dropped() or (gaps[-1] and gaps[-1].is_clear):
            alone = self._grown_alone(trial)
            if alone:
                fresh, trial = alone
                gaps = [self._gap(trial, ACTIVE)]
        forest = fresh.forest
        if before is not None and not is_whole:
            forest = _joined(forest, before.forest)
        start = self.memory.first_since(self._first_of_window)
        box = Box.of(self.records.X[start:], self.records.n_categories)
        self.standings[TEMPORARY] = Standing(replace(forest, trees=forest.trees[: self.settings.n_estimators]), box)
        return trial, gaps[0]

    def _grown_alone(self, trial: Trial) -> tuple[Fresh, Trial] | None:
        """Grow all trees from the batch alone if that does better than the window, which then begins here.

        Return them and a trial of them; None where the window does as well, or nothing was left out to tell.
        """
        first, n_tried = self._first_of_window, len(trial.left_out)
        if first == self.number or n_tried == 0:
            return None
        young = self._grown_since(self.number, slice(n_tried))
        alone = self._try(young)
        # Of a class that came within the window the batch alone has the larger share; no rules need have changed.
        tested = alone.tested & trial.tested & (self.memory.first_batch[self.batch.y] <= first)
        gap = gap_between(alone.right, trial.right, tested)
        if gap is None or not gap.is_suspect:
            return None
        self.since = self.number
        self.action[TEMPORARY] = "rebuilt"
        fresh = young.joined(self._grown_since(self.number, slice(n_tried, None), self._is_new))
        return fresh, alone if self._is_new.any() else self._try(fresh)

    @property
    def _first_of_window(self) -> int:
        """The first batch that the temporary forest is grown from."""
        return max(self.since, self.settings.window_start(self.number))

    def _is_open(self, active: Gap | None, temporary: Gap | None) -> bool:
        """Return whether all trees should be new: some outdo the old ones, or leave open if they do the active one."""
        if active is None or temporary is None:
            return True
        return temporary.is_suspect or (active.is_suspect and not active.is_clear)

    def _has_dropped(self) -> bool:
        """Return whether the temporary forest as it was is clearly less accurate on this batch than on the last."""
        last = self.learner.accuracy
        return TEMPORARY in last and last[TEMPORARY] - self.accuracy[TEMPORARY] > 2 * CLEAR_GAP

    def _grown_since(self, first: int, which: slice = slice(None), whole: Mask | None = None) -> Fresh:
        """Grow some trees of a forest from the batches since the first, none without records of some classes."""
        n, start = len(self.batch), self.memory.first_since(first)
        records = self._coded_since(start)
        grown = self._built_from(records, which, whole, placed_from=len(records) - n)
        forest = Forest(tuple(one.tree for one in grown), (), np.arange(len(self.records)) >= start)
        return Fresh(forest, tuple(one.leaf_of[-n:] for one in grown))

    @property
    def _is_new(self) -> Mask:
        """By class: whether it is new with this batch."""
        is_new: Mask = self.memory.first_batch == self.number
        return is_new

    def _placed(self, forest: Forest) -> Forest:
        """Return the temporary forest with its records placed in the trees that were grown from them."""
        start = int(forest.known.argmax())
        X, batch = self.records.X[start:], self.memory.batch[start:]
        nowhere = np.full(start, -1, dtype=np.int32)

        def place(tree: Tree) -> Ints:
            return np.concatenate([nowhere, np.where(batch <= tree.born[0], tree.route(X), np.int32(-1))])

        leaf_of = in_threads(place, forest.trees, self.settings.n_jobs)
        return replace(forest, leaf_of=tuple(leaf_of))

    def _try(self, fresh: Fresh) -> Trial:
        """Test new trees on the batch, each on the records it was grown without."""
        n, grower = len(self.batch), self.settings.grower
        if not grower.draws_lots:  # no record is left out: what the forest was before the batch has to stand for it
            if TEMPORARY not in self.before:
                return Trial([], np.zeros(n, dtype=bool), np.zeros(n, dtype=bool))
            return Trial([], self._is_right(TEMPORARY), np.ones(n, dtype=bool))
        left_out = [grower.left_out(self.batch.serial, tree) for tree in fresh.forest.trees]
        leaves = [np.where(out, leaf, np.int32(-1)) for out, leaf in zip(left_out, fresh.leaves, strict=True)]
        answers = fresh.forest.answer_from(leaves, self.records.n_classes, n, soft=self.settings.soft)
        return Trial(left_out, answers.argmax(axis=1) == self.batch.y, answers.max(axis=1) > 0)

    # Tests

    def _leaves_of(self, name: str) -> list[Ints]:
        """Return the leaf of each record of the batch in each tree of a forest."""
        forest = self.before[name].forest
        if name == TEMPORARY:  # never repaired, so that nobody asks which of its leaves are perturbed
            return in_threads(lambda tree: tree.route(self.batch.X), forest.trees, self.settings.n_jobs)
        return [one.leaf for one in self._assessments_of(forest)]

    def _gap(self, trial: Trial, name: str) -> Gap | None:
        """Return how far the temporary forest outdoes another as it was before the batch, on classes that one knew.

        Both answer each record by as many trees. Not to know a class is no fault that drift explains.
        """
        tested = trial.tested & self.knows[name][self.batch.y]
        return gap_between(trial.right, self._is_right(name, trial.left_out), tested)

    def _is_right(self, name: str, left_out: list[Mask] | None = None) -> Mask:
        """Return which records of the batch a forest gets right before learning it, by all trees or as a trial did."""
        forest = self.before[name].forest
        leaves = self.leaves[name]
        if left_out and len(left_out) <= len(leaves):
            silent = np.zeros(len(self.batch), dtype=bool)
            masks = [*left_out, *[silent] * len(leaves)][: len(leaves)]
            leaves = [np.where(mask, leaf, np.int32(-1)) for mask, leaf in zip(masks, leaves, strict=True)]
        answers = forest.answer_from(leaves, self.records.n_classes, len(self.batch), soft=self.settings.soft)
        found: Mask = answers.argmax(axis=1) == self.batch.y
        return found
