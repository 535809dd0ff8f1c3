"""The learning of one batch: what every lesson needs, whichever way it decides."""

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property
from time import perf_counter

import numpy as np

from adforest.adaptation.boxes import Box, root_cuts
from adforest.adaptation.learner import ACTIVE, PERMANENT, Learner, Standing
from adforest.adaptation.perturbation import perturbed_share
from adforest.adaptation.repair import Assessment, RepairRules, assess, repair_forest
from adforest.adaptation.report import BatchReport
from adforest.adaptation.scenario import scenario_of
from adforest.forest import Forest, Records, in_threads
from adforest.forest.types import Floats, Ints, Longs, Mask
from adforest.growers import Grown, spawn_seeds

BUILD, REPAIR, RENEW = range(3)  # what a seed is for
TURNS = 5  # batches in which every tree has had its turn to expand leaves
ENOUGH = 0.05  # share of the records at hand that a forest must have learnt since it was last renewed in part
BEYOND = 0.01  # share of a batch that must lie beyond a forest's box before its trees get a new root


class Lesson(ABC):
    """Takes a learner through one batch, step by step; the learner it starts from is never changed."""

    def __init__(self, learner: Learner, X: Floats, y: Ints, n_categories: Ints, n_classes: int) -> None:
        self.started = perf_counter()
        self.learner = learner
        self.settings = learner.settings
        self.number = learner.n_batches + 1
        self.memory = learner.memory.add(X, y, self.number, n_classes)
        self.records = self.memory.records(n_categories, n_classes)
        self.batch = Records(X, y, self.memory.serial[len(learner.memory) :], n_categories, n_classes)
        self.box = Box.of(X, n_categories)
        self.standings = dict(learner.standings)
        self.coded: dict[int, Records] = {}  # by place of the first
        self.assessments: dict[int, Assessment] = {}  # by id of the tree: forests share trees
        self.repaired: dict[tuple[int, ...], Standing] = {}
        self.perturbed: dict[str, float] = {}
        self.since = learner.since
        self.gaps = dict(learner.gaps)
        self.action: dict[str, str] = {}
        self.accuracy: dict[str, float] = {}

    def learn(self) -> tuple[Learner, BatchReport]:
        """Learn the batch; return the learner after it, and what happened."""
        drift, n_unrepairable = "none", 0
        if self.standings:
            drift, n_unrepairable = self._adapt()
        else:
            self._build_first()
        votes = self._weigh()
        kept = self.memory.survivors(self.settings.memory_size, self.settings.window_start(self.number + 1))
        learner = Learner(
            settings=self.settings,
            memory=self.memory if kept is None else self.memory.keep(kept),
            standings={name: self._remembered(standing, kept) for name, standing in self.standings.items()},
            votes=votes,
            n_batches=self.number,
            n_unrepairable=n_unrepairable,
            since=self.since,
            gaps=self.gaps,
            accuracy=self.accuracy,
        )
        return learner, self._report(drift, learner)

    @abstractmethod
    def _adapt(self) -> tuple[str, int]:
        """Let the forests learn; return the verdict on drift, and for how many batches it has been so [cdf]."""

    @abstractmethod
    def _weigh(self) -> dict[str, float]:
        """Return the forests that answer from now on, and what the vote of each is worth."""

    def _build_first(self) -> None:
        """Step 1: build the permanent forest; the active one is a copy."""
        standing = Standing(self._built(0), self.box)
        self.standings = {PERMANENT: standing, ACTIVE: standing}
        self.action = {PERMANENT: "built", ACTIVE: "built"}

    def _assess(self, name: str) -> None:
        """Find the perturbed leaves of a forest."""
        standing, settings = self.standings[name], self.settings
        fresh = [tree for tree in standing.forest.trees if id(tree) not in self.assessments]
        found = in_threads(
            lambda tree: assess(tree, self.batch, settings.perturbation, settings.error_tolerance),
            fresh,
            settings.n_jobs,
        )
        self.assessments.update({id(tree): one for tree, one in zip(fresh, found, strict=True)})
        assessments = self._assessments_of(standing.forest)
        self.perturbed[name] = perturbed_share([one.perturbed for one in assessments], standing.forest.n_leaves)

    def _assessments_of(self, forest: Forest) -> list[Assessment]:
        return [self.assessments[id(tree)] for tree in forest.trees]

    def _repair(self, name: str) -> None:
        """Steps 2, 3 and 6: repair a forest; one that is the same as another is repaired once."""
        standing, settings = self.standings[name], self.settings
        same = tuple(map(id, standing.forest.trees))
        if same not in self.repaired:
            has_turn = self._has_turn(name)
            waiting = replace(standing, n_waiting=standing.n_waiting + len(self.batch))
            is_renewed = has_turn and self._is_due(waiting)
            expanding = self._expanding(standing.forest, has_turn=has_turn)
            # Repairs are cut along the codes of all records if a tree of the permanent forest is renewed now, so that
            # they are there, or if every tree expands, so that they pay.
            pays = settings.renews and ((is_renewed and name == PERMANENT) or len(expanding) == len(standing.forest))
            records = self._coded_since(0) if pays else self.records
            rules = RepairRules(
                tree_threshold=settings.repair_threshold if settings.tree_repair == "share" else 0.0,
                expanding=expanding,
                min_samples_leaf=settings.min_samples_leaf,
                n_jobs=settings.n_jobs,
                batch=self.number,
                missed=self._missed,
            )
            at_least = max(2, settings.min_samples_leaf, math.ceil(BEYOND * len(self.batch)))
            forest = repair_forest(
                standing.forest,
                self._assessments_of(standing.forest),
                records,
                self.batch,
                root_cuts(standing.box, self.box, self.batch.X, settings.splitting, at_least),
                rules,
                settings.grower,
                self._seeds(REPAIR, len(standing.forest)),
            )
            repaired = replace(waiting, forest=forest, box=standing.box.union(self.box))
            self.repaired[same] = self._renewed(repaired, records) if is_renewed else repaired
        self.standings[name] = self.repaired[same]
        self.action[name] = "repaired"

    def _coded_since(self, first: int) -> Records:
        """Return the records from a place in memory on, coded once for all who grow from them."""
        if first not in self.coded:
            self.coded[first] = self.settings.grower.coded(self.records.since(first))
        return self.coded[first]

    @cached_property
    def _rare(self) -> Mask:
        """By class: whether it is rare, and not new."""
        return self.memory.rare_since(self.settings.window_start(self.number))

    @cached_property
    def _missed(self) -> Longs:
        """Records of rare classes that came in as many batches as a turn of all trees takes, by place in memory."""
        if self.settings.tree_repair != "turn" or self.settings.memory_size == 0:
            return np.empty(0, dtype=np.int64)
        n_batches = TURNS * (2 if self._takes_turns else 1)
        first = self.memory.first_since(self.number - n_batches + 1)
        return first + np.flatnonzero(self._rare[self.records.y[first:]])

    @cached_property
    def _takes_turns(self) -> bool:
        """Whether trees of one forest are grown at this batch, and those of the other at the next.

        Where trees have turns and the active forest is one of its own, so have the two forests: a batch then costs
        hardly more than before.
        """
        standings = self.learner.standings
        return self.settings.tree_repair == "turn" and not standings[PERMANENT].is_same(standings[ACTIVE])

    def _has_turn(self, name: str) -> bool:
        """Return whether trees of a forest may be grown at this batch."""
        return not self._takes_turns or (self.number % 2 == 0) == (name == PERMANENT)

    def _expanding(self, forest: Forest, *, has_turn: bool) -> list[int]:
        """Return the places of the trees that expand the leaves which the batch perturbs.

        Where they do so in turn, others only count; what memory kept of the batch is at hand when their turn comes. A
        class that the forest does not know is for all of them to learn at once.
        """
        settings = self.settings
        if settings.splitting == "sat":
            return []
        in_turn = settings.tree_repair == "turn" and settings.memory_size != 0
        if in_turn and forest.knows(self.records.n_classes)[self.batch.y].all():
            return self._in_turn(len(forest), math.ceil(len(forest) / TURNS)) if has_turn else []
        return list(range(len(forest)))

    def _in_turn(self, n_trees: int, count: int) -> list[int]:
        """Return the places of the trees whose turn it is, so many at each batch."""
        number = self.number // 2 if self._takes_turns else self.number
        return _places(number * count, count, n_trees)

    def _leave(self, name: str) -> None:
        """Leave a forest as it is: the batch is not among the records it knows."""
        standing = self.standings[name]
        self.standings[name] = replace(standing, forest=self._with_batch_unknown(standing.forest))
        self.action[name] = "kept"

    def _with_batch_unknown(self, forest: Forest) -> Forest:
        """Return a forest that the batch's records are no part of."""
        nowhere = np.full(len(self.batch), -1, dtype=np.int32)
        unknown = np.zeros(len(self.batch), dtype=bool)
        return Forest(
            forest.trees,
            tuple(np.concatenate([leaf_of, nowhere]) for leaf_of in forest.leaf_of),
            np.concatenate([forest.known, unknown]),
        )

    def _is_due(self, standing: Standing) -> bool:
        """Return whether trees of a forest are to be grown anew: if enough has come since the last turn of some.

        So what renewal costs goes by the records that come, not by those at hand, however small batches are.
        """
        n_known = int(standing.forest.known.sum()) + len(self.batch)
        return self.settings.renews and standing.n_waiting >= ENOUGH * n_known

    def _renewed(self, standing: Standing, records: Records) -> Standing:
        """Grow some trees of a forest anew from all the records at hand it knows, in turn.

        A tree that knows a class of which no record is at hand stays: it would forget that class. None does without
        records of a rare one.
        """
        forest, settings = standing.forest, self.settings
        known = np.flatnonzero(forest.known).astype(np.int32)
        at_hand = np.unique(records.y[known])
        count = min(settings.renewal, len(forest))
        turn = _places(standing.n_renewed, count, len(forest))
        standing = replace(standing, n_renewed=standing.n_renewed + count, n_waiting=0)
        turn = [place for place in turn if np.isin(forest.trees[place].row_class, at_hand).all()]
        if not turn:
            return standing
        seeds = self._seeds(RENEW, len(turn))
        built = settings.grower.build(records, known, seeds, settings.n_jobs, turn, self._rare)
        # A systematic base forest may have no trees for the last places.
        grown = dict(zip(turn, built, strict=False))
        forest = Forest(
            tuple(grown[i].tree.built_at(self.number) if i in grown else tree for i, tree in enumerate(forest.trees)),
            tuple(grown[i].leaf_of if i in grown else leaf_of for i, leaf_of in enumerate(forest.leaf_of)),
            forest.known,
        )
        return replace(standing, forest=forest)

    def _built(self, first: int) -> Forest:
        """Build a forest from the records from a place in memory on."""
        grown = self._built_from(self._coded_since(first))
        nowhere = np.full(first, -1, dtype=np.int32)
        return Forest(
            tuple(one.tree for one in grown),
            tuple(np.concatenate([nowhere, one.leaf_of]) for one in grown),
            np.arange(len(self.records)) >= first,
        )

    def _built_from(
        self, records: Records, which: slice = slice(None), whole: Mask | None = None, placed_from: int = 0
    ) -> list[Grown]:
        """Build the trees of a forest, or some of them, from all of some records; see `Grower.build`."""
        settings = self.settings
        seeds = self._seeds(BUILD, settings.n_estimators)[which]
        everything = np.arange(len(records), dtype=np.int32)
        grown = settings.grower.build(records, everything, seeds, settings.n_jobs, whole=whole, placed_from=placed_from)
        return [one._replace(tree=one.tree.built_at(self.number)) for one in grown]

    def _seeds(self, purpose: int, n: int) -> list[int]:
        """Return seeds for n trees, fixed by the model's seed, the batch and the purpose."""
        return spawn_seeds([self.settings.seed, self.number, purpose], n)

    def _remembered(self, standing: Standing, kept: Longs | None) -> Standing:
        """Return a standing whose forest knows only what memory kept."""
        forest = standing.forest if kept is None else standing.forest.keep(kept)
        return replace(standing, forest=forest.forget() if self.settings.memory_size == 0 else forest)

    def _report(self, drift: str, learner: Learner) -> BatchReport:
        """Say what happened; class values are codes here."""
        seen = self.learner.memory.seen_by_class
        known = set(np.flatnonzero(seen).tolist())
        classes = set(np.unique(self.batch.y).tolist())
        return BatchReport(
            batch=self.number,
            n_records=len(self.batch),
            scenario=scenario_of(classes, known),
            new_classes=tuple(sorted(classes - known)),
            drift=drift,
            perturbed=self.perturbed,
            action=self.action,
            accuracy=self.accuracy,
            n_leaves={name: standing.forest.n_leaves for name, standing in self.standings.items()},
            answering=learner.answering,
            votes=learner.votes,
            seconds=perf_counter() - self.started,
        )


def _places(first: int, count: int, n_trees: int) -> list[int]:
    """Return the places of some trees, from a number on, round and round the forest."""
    return sorted((first + k) % n_trees for k in range(count))
