"""The steps of learning one batch, out of which `adforest.adaptation.update` and `paper_update` make their recipes.

Most time is spent on growing trees: the time for one is about proportional to its samples. With ``renewal`` r, a batch
of n samples may cost a repaired forest r * (n + 500) for each of its trees, spent on regrowing the oldest trees from
all samples in memory. While these are few, that is every tree at every batch; later trees are renewed in turn.
"""

from __future__ import annotations

import math
from dataclasses import replace
from time import time
from typing import Any

import numpy as np

from adforest.adaptation.boxes import Box, Cut, root_cuts
from adforest.adaptation.evidence import Evidence
from adforest.adaptation.memory import rescaled
from adforest.adaptation.recent_samples import RecentSamples
from adforest.adaptation.repair import Assessment, Repair, assess
from adforest.adaptation.report import ACTIVE, FORESTS, NEWEST, PERMANENT, BatchReport, scenario_of
from adforest.adaptation.state import ForestState, Settings, State
from adforest.adaptation.undrawn import route_undrawn
from adforest.forest import Forest, Samples
from adforest.forest._kernels.sampling import are_drawn
from adforest.forest.types import BoolArray, Float32Array, Int32Array, Int64Array
from adforest.growers import Grown, RandomForestGrower, TreeRequest, build_trees
from adforest.parallel import in_threads, spawn_seeds

BUILD, REPAIR, RENEW, BUILD_NEWEST, DRAW = range(5)  # what a seed is for


class BatchUpdate:
    """One batch being learnt: the state it starts from, which is never changed, and what has been done so far."""

    def __init__(self, state: State, batch: Samples) -> None:
        self.before = state
        self.settings = _settings(state, batch)
        self.number = state.n_batches + 1
        self.memory = state.memory.add(batch, self.number)
        self.sample_weights = self.settings.sample_weights(self.memory, batch.n_classes)
        self.batch = self.sample_weights.applied_to(batch)
        self.samples = self.sample_weights.applied_to(self.memory.samples(batch.n_categories, batch.n_classes))
        uses_boxes, n_features = self.settings.uses_boxes, batch.X.shape[1]
        self.box = Box.of(batch.X, batch.n_categories) if uses_boxes else Box.empty(n_features)
        self.forests = dict(state.forests)
        self.perturbed: dict[str, float] = {}
        self.action: dict[str, str] = {}
        self._coded: dict[int, Samples] = {}  # by index of the first
        self._assessments: dict[int, Assessment] = {}  # by id of the tree: forests share trees
        self._learnt: dict[tuple[int, ...], ForestState] = {}

    def build_first(self) -> None:
        """Step 1: build the permanent forest; the active one is a copy."""
        built = ForestState(self.build(0), self.box)
        self.forests = {PERMANENT: built, ACTIVE: built}
        self.action = {PERMANENT: "built", ACTIVE: "built"}

    def assess(self, name: str) -> None:
        """Find the perturbed leaves of a forest."""
        forest, settings = self.forests[name].forest, self.settings
        fresh = [tree for tree in forest.trees if id(tree) not in self._assessments]
        found = in_threads(
            lambda tree: assess(tree, self.batch, settings.grower, settings.perturbation, settings.error_tolerance),
            fresh,
            settings.n_jobs,
        )
        self._assessments.update({id(tree): one for tree, one in zip(fresh, found, strict=True)})
        n_perturbed = sum(self._assessments[id(tree)].n_perturbed for tree in forest.trees)
        self.perturbed[name] = n_perturbed / forest.n_leaves  # [ϑ]

    def leaves_of(self, name: str) -> Int32Array:
        """Return the leaves of the batch's samples in each tree of a forest that was assessed, (n_trees, n)."""
        return np.stack([self._assessments[id(tree)].leaf for tree in self.forests[name].forest.trees])

    def learn(self, name: str, fraction: float = 1.0) -> None:
        """Steps 2, 3 and 6: update a forest with the batch, once for forests that are the same.

        Trees whose turn it is are regrown, the others repaired. Fraction is the part of the growth budget that the
        forest may use.
        """
        before = self.forests[name]
        same = tuple(map(id, before.forest.trees))
        if same not in self._learnt:
            self._learnt[same] = self._with_batch_learnt(before, fraction)
        self.forests[name] = self._learnt[same]
        self.action[name] = "repaired"

    def _with_batch_learnt(self, before: ForestState, fraction: float) -> ForestState:
        settings, forest = self.settings, before.forest
        roots, box = self._roots_and_box(before)
        known = np.flatnonzero(np.concatenate([forest.known, np.ones(len(self.batch), dtype=bool)])).astype(np.int32)
        affordable = len(self.batch) + settings.tuning.extra_samples
        budget = before.budget + fraction * settings.renewal * len(forest) * affordable
        n_turns = 0 if settings.memory_size == 0 else min(len(forest), int(budget / len(known)))
        turn = _tree_indices(before.n_renewed, n_turns, len(forest))
        kept_classes = np.unique(self.samples.y[known]) if turn else known
        # A tree that knows a class of which no sample is in memory stays: it would forget that class.
        renewed = [tree_index for tree_index in turn if np.isin(forest.trees[tree_index].row_class, kept_classes).all()]
        expanding = self._expanding(forest)
        # Repairs are cut along the codes of all samples where these are needed anyway, or where they pay.
        pays = bool(renewed) or (len(expanding) == len(forest) and settings.memory_size != 0)
        samples = self._coded_since(0) if pays else self.samples
        grown = self._renewed(samples, known, renewed)
        repair = Repair(
            number=self.number,
            batch=self.batch,
            samples=samples,
            roots=roots,
            grower=settings.grower,
            tree_threshold=settings.repair_threshold if settings.tree_repair == "share" else 0.0,
            expanding=expanding,
            min_samples_leaf=settings.min_samples_leaf,
            knows_batch_only=settings.memory_size == 0,
        )
        assessments = [self._assessments[id(tree)] for tree in forest.trees]
        repaired = repair.repair_forest(
            forest, assessments, self._seeds(REPAIR, len(forest)), list(grown), settings.n_jobs
        )
        trees = [
            grown[tree_index].tree if tree_index in grown else tree for tree_index, tree in enumerate(repaired.trees)
        ]
        leaf_of = [
            grown[tree_index].leaf_of if tree_index in grown else one for tree_index, one in enumerate(repaired.leaf_of)
        ]
        return ForestState(
            Forest(tuple(trees), tuple(leaf_of), repaired.known),
            box,
            before.n_renewed + n_turns,
            min(budget - n_turns * len(known), float(len(known))),
        )

    def _roots_and_box(self, before: ForestState) -> tuple[list[tuple[Cut, BoolArray]], Box]:
        """Return the new roots for a forest, and its box after the batch; none where the settings use no boxes.

        Where earlier batches did without boxes, the box of a forest is that of the samples it knows. The paper has no
        minimum of samples beyond a bound.
        """
        settings, at_least = self.settings, 1
        if not settings.uses_boxes:
            return [], self.box
        box = self.box_of(np.flatnonzero(before.forest.known)) if before.box.is_empty else before.box
        is_published = settings.algorithm == "paper"
        if not is_published:
            at_least = max(2, settings.min_samples_leaf, math.ceil(settings.tuning.min_outside * len(self.batch)))
        roots = root_cuts(box, self.box, self.batch.X, settings.splitting, at_least, is_relative=not is_published)
        return roots, box.union(self.box)

    def _renewed(self, samples: Samples, known: Int32Array, tree_indices: list[int]) -> dict[int, Grown]:
        """Regrow the trees of some indices from all samples in memory that their forest knows.

        Samples of rare classes are always in the bag.
        """
        if not tree_indices:
            return {}
        settings = self.settings
        rare = self.memory.rare_since(settings.window_start(self.number), settings.window_bound, settings.tuning)
        seeds = self._seeds(RENEW, len(tree_indices))
        request = TreeRequest(samples, known, seeds, settings.n_jobs, tree_indices=tree_indices, always_in_bag=rare)
        # A systematic base forest may have no trees for the last indices.
        return {
            tree_index: one._replace(tree=one.tree.built_at(self.number))
            for tree_index, one in zip(tree_indices, self._grown(request), strict=False)
        }

    def _coded_since(self, first: int) -> Samples:
        """Return the samples from an index in memory on, coded once for all who grow from them."""
        if first not in self._coded:
            self._coded[first] = self.settings.grower.coded(self.samples.part(slice(first, None)))
        return self._coded[first]

    def _expanding(self, forest: Forest) -> list[int]:
        """Return the indices of the trees that expand the leaves which the batch perturbs.

        Where they do so in turn, the others only count; at their turn they use the samples of the batch in memory. A
        class that the forest does not know is for all of them to learn at once.
        """
        settings = self.settings
        if settings.splitting == "sat":
            return []
        in_turn = settings.tree_repair == "turn" and settings.memory_size != 0
        if in_turn and forest.knows(self.samples.n_classes)[self.batch.y].all():
            count = math.ceil(len(forest) / settings.tuning.expansion_turns)
            return _tree_indices(self.number * count, count, len(forest))
        return list(range(len(forest)))

    def leave_unchanged(self, name: str) -> None:
        """Leave a forest as it is: the batch is not among the samples it knows."""
        before = self.forests[name]
        nowhere, unknown = np.full(len(self.batch), -1, dtype=np.int32), np.zeros(len(self.batch), dtype=bool)
        forest = Forest(
            before.forest.trees,
            tuple(np.concatenate([leaf_of, nowhere]) for leaf_of in before.forest.leaf_of),
            np.concatenate([before.forest.known, unknown]),
        )
        self.forests[name] = replace(before, forest=forest)
        self.action[name] = "kept"

    def build(self, first: int) -> Forest:
        """Build a forest from the samples from an index in memory on."""
        grown = self.grow(slice(first, None), self.settings.n_estimators, BUILD)
        nowhere = np.full(first, -1, dtype=np.int32)
        leaf_of = tuple(np.concatenate([nowhere, one.leaf_of]) for one in grown)
        return replace(self.frozen_forest(grown, slice(first, None)), leaf_of=leaf_of)

    def grow(
        self, indices: slice | Int64Array, n_trees: int, purpose: int, *, is_repairable: bool = True
    ) -> list[Grown]:
        """Grow trees from the samples at some indices of memory; only repairable ones know the leaves of all."""
        part = self._coded_since(indices.start) if isinstance(indices, slice) else self.samples.part(indices)
        samples = rescaled(part, self.settings.tuning)
        everything, seeds = np.arange(len(samples), dtype=np.int32), self._seeds(purpose, n_trees)
        first = 0 if is_repairable else len(samples)
        return self._grown(TreeRequest(samples, everything, seeds, self.settings.n_jobs, route_oob_from=first))

    def _grown(self, request: TreeRequest) -> list[Grown]:
        """Grow trees as growers do, from no more samples than ``max_samples`` says, sampled; count the others."""
        settings, samples, known = self.settings, request.samples, request.known
        if settings.max_samples is None or len(known) <= settings.tuning.sample_slack * settings.max_samples:
            return build_trees(settings.grower, request)
        [seed] = self._seeds(DRAW, 1)
        is_drawn = are_drawn(samples.serial[known], settings.max_samples / len(known), seed)
        if request.always_in_bag is not None:
            is_drawn |= request.always_in_bag[samples.y[known]]
        others = known[~is_drawn]
        others = others[np.searchsorted(others, request.route_oob_from) :]

        def with_undrawn(grown: Grown) -> Grown:
            return grown._replace(tree=route_undrawn(samples, *grown, others, settings.grower))

        grown = build_trees(settings.grower, replace(request, known=known[is_drawn]))
        return in_threads(with_undrawn, grown, settings.n_jobs)

    def frozen_forest(self, grown: list[Grown], indices: slice | Int64Array) -> Forest:
        """Return the forest of trees that were grown from the samples at some indices; nobody may repair it."""
        known = np.zeros(len(self.samples), dtype=bool)
        known[indices] = True
        return Forest(tuple(one.tree.built_at(self.number) for one in grown), (), known)

    def box_of(self, indices: slice | Int64Array) -> Box:
        """Return the box of the samples at some indices in memory, an empty one where the settings use none."""
        if not self.settings.uses_boxes:
            return self.box
        return Box.of(self.samples.X[indices], self.samples.n_categories)

    def _seeds(self, purpose: int, n: int) -> list[int]:
        """Return seeds for n trees, fixed by the model's seed, the batch and the purpose."""
        return spawn_seeds([self.settings.seed, self.number, purpose], n)

    def finish(self, evidence: Evidence, **changes: Any) -> State:
        """Drop samples beyond the size of memory, and return the state after the batch."""
        settings = self.settings
        first_kept = min(self.number, settings.window_start(self.number + 1))
        kept = self.memory.survivors(settings.n_kept(self.memory), first_kept, settings.tuning)
        state = replace(
            self.before,
            memory=self.memory,
            forests=self.forests,
            evidence=evidence,
            pending=None,
            n_batches=self.number,
            **changes,
        )
        state = state if kept is None else state.with_samples(kept)
        if settings.memory_size == 0:
            state = state.with_forests(Forest.forget)
        return replace(state, recency=self._recency(state), recent=self._recent(state)).with_class_mix()

    def _recent(self, state: State) -> RecentSamples:
        """Return the last samples with their leaves in the permanent forest as it is now."""
        if not state.recent.is_used:
            return state.recent
        last = slice(max(0, len(self.samples) - len(state.recent.y)), None)
        X, y = self.samples.X[last], self.samples.y[last]
        return replace(state.recent, y=y, leaves=state.forests[PERMANENT].forest.route(X, self.settings.n_jobs))

    def _recency(self, state: State) -> tuple[Float32Array, ...]:
        """Return by tree of the permanent forest and node how recent samples are."""
        settings, memory = state.settings, state.memory
        if NEWEST not in state.forests or settings.memory_size == 0:
            return ()
        window = memory.window(state.window_start, settings.window_bound)
        weight = self.sample_weights.of_samples(memory.y[window], memory.weight_at(window))
        return state.forests[PERMANENT].forest.recency(window, settings.tuning.min_expected, settings.n_jobs, weight)


def _settings(state: State, batch: Samples) -> Settings:
    """Return settings whose grower draws features by their importance in earlier trees, where there are many."""
    settings = state.settings
    if settings.algorithm == "paper" or not isinstance(settings.grower, RandomForestGrower):
        return settings
    trees = {id(tree): tree for one in state.forests.values() for tree in one.forest.trees}
    return replace(settings, grower=settings.grower.favouring(trees.values(), batch.n_categories))


def answering_votes(state: State) -> dict[str, float]:
    """Return the weight in the vote for recent samples, by forest."""
    if state.settings.answer_for == "everything":
        return {PERMANENT: 1.0}
    return state.evidence.votes() or {state.answering: 1.0}


def report_of(
    before: State,
    state: State,
    samples: Samples,
    *,
    drift: str,
    seconds: float,
    work: BatchUpdate | None = None,
) -> BatchReport:
    """Return the report of a batch without metrics; class values are codes here."""
    known = set(np.flatnonzero(before.memory.seen_by_class).tolist())
    if before.pending is not None:
        known |= set(np.unique(before.pending.y).tolist())
    classes = set(np.unique(samples.y).tolist())
    action = work.action if work else dict.fromkeys(state.forests, "waiting")
    return BatchReport(
        batch=before.n_calls + 1,
        n_samples=samples.batch_totals.n,
        scenario=scenario_of(classes, known),
        new_classes=tuple(sorted(classes - known)),
        drift=drift,
        perturbed=work.perturbed if work else {},
        action={name: action[name] for name in FORESTS if name in action},
        accuracy={},
        n_leaves={name: one.forest.n_leaves for name, one in state.forests.items()},
        answering=state.answering,
        votes=answering_votes(state),
        seconds=seconds,
        learnt_at=time(),
    )


def _tree_indices(first: int, count: int, n_trees: int) -> list[int]:
    """Return the indices of some trees, from a number on, round and round the forest."""
    return sorted((first + k) % n_trees for k in range(count))
