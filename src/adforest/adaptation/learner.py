"""The seven steps of the paper's Algorithm 1: what a batch means to three forests."""

import math
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np

from adforest.adaptation.boxes import Box, root_cuts
from adforest.adaptation.memory import Memory
from adforest.adaptation.perturbation import perturbed_share
from adforest.adaptation.repair import Assessment, RepairRules, assess, repair_forest
from adforest.adaptation.report import BatchReport
from adforest.adaptation.scenario import scenario_of
from adforest.adaptation.selection import most_accurate, smoothed
from adforest.forest import Forest, Records, in_threads
from adforest.forest.types import Floats, Ints, Longs
from adforest.growers import Grower, spawn_seeds

PERMANENT, ACTIVE, TEMPORARY = "permanent", "active", "temporary"
BUILD, REPAIR, RENEW = range(3)  # what a seed is for
BEYOND = 0.01  # share of a batch that must lie beyond a forest's box before its trees get a new root


@dataclass(frozen=True, slots=True)
class Settings:
    """What the learner goes by; the names are those of the estimator's parameters."""

    grower: Grower
    n_estimators: int
    splitting: str
    repair_threshold: float
    error_tolerance: float
    drift_threshold: int
    window_size: int
    memory_size: int | None
    perturbation: str
    tree_repair: str
    renewal: int
    soft: bool
    selection: str
    min_samples_leaf: int
    n_jobs: int | None
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """A forest, the box of what it has learnt, and how well it has answered."""

    forest: Forest
    box: Box
    score: float = math.nan


@dataclass(frozen=True, slots=True, eq=False)
class Learner:
    """Everything learnt so far. Learning a batch returns another learner; this one stays as it is."""

    settings: Settings
    memory: Memory
    standings: dict[str, Standing] = field(default_factory=dict)
    answering: str = PERMANENT
    n_batches: int = 0
    n_unrepairable: int = 0  # consecutive batches on which the active forest was not repairable [cdf]

    @classmethod
    def new(cls, settings: Settings, n_features: int) -> "Learner":
        """Return a learner that knows nothing."""
        return cls(settings, Memory.empty(n_features))

    def forest(self, name: str) -> Forest | None:
        """Return the forest of that name, or None where there is none."""
        return self.standings[name].forest if name in self.standings else None

    def answer(self, X: Floats, n_classes: int) -> Floats:
        """Return class votes for some records: by the forest that answers, where they lie in its box.

        Outside of what that forest has seen, the permanent forest, which has seen everything, answers in its stead.
        """
        standing = self.standings[self.answering]
        answers = self._answer_of(standing, X, n_classes)
        if self.answering != PERMANENT:
            outside = ~standing.box.contains(X)
            if outside.any():
                answers[outside] = self._answer_of(self.standings[PERMANENT], X[outside], n_classes)
        return answers

    def _answer_of(self, standing: Standing, X: Floats, n_classes: int) -> Floats:
        return standing.forest.answer(X, n_classes, soft=self.settings.soft, n_jobs=self.settings.n_jobs)

    def learn(self, X: Floats, y: Ints, n_categories: Ints, n_classes: int) -> tuple["Learner", BatchReport]:
        """Return the learner after one more batch, and what happened."""
        return _Lesson(self, X, y, n_categories, n_classes).learn()


class _Lesson:
    """The learning of one batch, step by step; the learner it starts from is never changed."""

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
        self.assessments: dict[int, Assessment] = {}  # by id of the tree: forests share trees
        self.repaired: dict[tuple[int, ...], Forest] = {}
        self.perturbed: dict[str, float] = {}
        self.action: dict[str, str] = {}
        self.accuracy: dict[str, float] = {}

    def learn(self) -> tuple[Learner, BatchReport]:
        """Take the seven steps."""
        drift, n_unrepairable = "none", 0
        if not self.standings:
            self._build_first()
        else:
            for name in self.standings:
                self._assess(name)
            self._repair(PERMANENT)
            if self._is_repairable(ACTIVE):
                self._repair(ACTIVE)
                if self.standings.pop(TEMPORARY, None):
                    self.action[TEMPORARY] = "dropped"
            else:
                drift, n_unrepairable = self._drift()
        return self._concluded(drift, n_unrepairable)

    def _build_first(self) -> None:
        """Step 1: build the permanent forest; the active one is a copy."""
        standing = Standing(self._built(np.arange(len(self.records), dtype=np.int32)), self.box)
        self.standings = {PERMANENT: standing, ACTIVE: standing}
        self.action = {PERMANENT: "built", ACTIVE: "built"}

    def _drift(self) -> tuple[str, int]:
        """Steps 4 to 7: the active forest cannot be repaired; see to the temporary one, which may take its place."""
        n_unrepairable = self.learner.n_unrepairable + 1
        self._leave(ACTIVE)
        if TEMPORARY in self.standings and self._is_repairable(TEMPORARY):
            self._repair(TEMPORARY)
        else:
            self.action[TEMPORARY] = "rebuilt" if TEMPORARY in self.standings else "built"
            self._build_temporary()
        if n_unrepairable <= self.settings.drift_threshold:
            return "temporary", n_unrepairable
        self.standings[ACTIVE] = self.standings.pop(TEMPORARY)
        self.action[ACTIVE], self.action[TEMPORARY] = "replaced", "dropped"
        return "sustained", 0

    def _assess(self, name: str) -> None:
        """Find the perturbed leaves of a forest, and test it on the batch before it learns it."""
        standing, settings = self.standings[name], self.settings
        fresh = [tree for tree in standing.forest.trees if id(tree) not in self.assessments]
        found = in_threads(
            lambda tree: assess(tree, self.batch, settings.perturbation, settings.error_tolerance),
            fresh,
            settings.n_jobs,
        )
        self.assessments.update({id(tree): one for tree, one in zip(fresh, found, strict=True)})
        assessments = self._assessments_of(standing.forest)
        self.perturbed[name] = perturbed_share(
            [one.leaves for one in assessments],
            [one.perturbed for one in assessments],
            settings.perturbation,
            standing.forest.n_leaves,
        )
        if settings.selection == "prequential":
            leaves = (one.leaf for one in assessments)
            answers = standing.forest.answer_from(leaves, self.records.n_classes, len(self.batch), soft=settings.soft)
            self._test(name, answers)

    def _assessments_of(self, forest: Forest) -> list[Assessment]:
        return [self.assessments[id(tree)] for tree in forest.trees]

    def _test(self, name: str, answers: Floats) -> None:
        """Note how accurate a forest's answers for the batch are."""
        self.accuracy[name] = float(np.mean(answers.argmax(axis=1) == self.batch.y))
        before = self.standings[name].score if self.settings.selection == "prequential" else math.nan
        self.standings[name] = replace(self.standings[name], score=smoothed(before, self.accuracy[name]))

    def _is_repairable(self, name: str) -> bool:
        return self.perturbed[name] <= self.settings.repair_threshold

    def _repair(self, name: str) -> None:
        """Steps 2, 3 and 6: repair a forest; one that is the same as another is repaired once."""
        standing, settings = self.standings[name], self.settings
        same = tuple(map(id, standing.forest.trees))
        if same not in self.repaired:
            rules = RepairRules(
                tree_threshold=settings.repair_threshold if settings.tree_repair == "share" else 0.0,
                expands=settings.splitting != "sat",
                min_samples_leaf=settings.min_samples_leaf,
                n_jobs=settings.n_jobs,
                batch=self.number,
            )
            at_least = max(2, settings.min_samples_leaf, math.ceil(BEYOND * len(self.batch)))
            self.repaired[same] = repair_forest(
                standing.forest,
                self._assessments_of(standing.forest),
                self.records,
                self.batch,
                root_cuts(standing.box, self.box, self.batch.X, settings.splitting, at_least),
                rules,
                settings.grower,
                self._seeds(REPAIR, len(standing.forest)),
            )
            self._renew(same)
        self.standings[name] = replace(standing, forest=self.repaired[same], box=standing.box.union(self.box))
        self.action[name] = "repaired"

    def _leave(self, name: str) -> None:
        """Leave a forest as it is: the batch is not among the records it knows."""
        forest = self.standings[name].forest
        nowhere = np.full(len(self.batch), -1, dtype=np.int32)
        unknown = np.zeros(len(self.batch), dtype=bool)
        forest = Forest(
            forest.trees,
            tuple(np.concatenate([leaf_of, nowhere]) for leaf_of in forest.leaf_of),
            np.concatenate([forest.known, unknown]),
        )
        self.standings[name] = replace(self.standings[name], forest=forest)
        self.action[name] = "kept"

    def _renew(self, same: tuple[int, ...]) -> None:
        """Grow some trees of a repaired forest anew from all the records at hand it knows, in turn.

        A tree that knows a class of which no record is at hand stays: it would forget that class.
        """
        forest, settings = self.repaired[same], self.settings
        renewal = min(settings.renewal, len(forest)) if settings.memory_size != 0 else 0
        known = np.flatnonzero(forest.known).astype(np.int32)
        at_hand = np.unique(self.records.y[known])
        turn = sorted((self.number * renewal + k) % len(forest) for k in range(renewal))
        turn = [place for place in turn if np.isin(forest.trees[place].row_class, at_hand).all()]
        if not turn:
            return
        seeds = self._seeds(RENEW, len(turn))
        # A systematic base forest may have no trees for the last places.
        grown = dict(zip(turn, settings.grower.build(self.records, known, seeds, settings.n_jobs, turn), strict=False))
        self.repaired[same] = Forest(
            tuple(grown[i].tree.built_at(self.number) if i in grown else tree for i, tree in enumerate(forest.trees)),
            tuple(grown[i].leaf_of if i in grown else leaf_of for i, leaf_of in enumerate(forest.leaf_of)),
            forest.known,
        )

    def _build_temporary(self) -> None:
        """Build the temporary forest from the reserve window."""
        window = self.memory.batch > self.number - self.settings.window_size
        known = np.flatnonzero(window).astype(np.int32)
        box = Box.of(self.records.X[known], self.records.n_categories)
        self.standings[TEMPORARY] = Standing(self._built(known), box)
        if self.settings.selection == "prequential":
            self._test_out_of_bag(TEMPORARY)

    def _test_out_of_bag(self, name: str) -> None:
        """Test a forest that was just built on the batch, each record by the trees that were built without it."""
        forest, settings = self.standings[name].forest, self.settings
        leaves = []
        for tree, leaf_of in zip(forest.trees, forest.leaf_of, strict=True):
            left_out = settings.grower.left_out(self.batch.serial, tree)
            leaves.append(np.where(left_out, leaf_of[-len(self.batch) :], np.int32(-1)))
        answers = forest.answer_from(leaves, self.records.n_classes, len(self.batch), soft=settings.soft)
        tested = answers.any(axis=1)
        if tested.any():
            accuracy = float(np.mean(answers[tested].argmax(axis=1) == self.batch.y[tested]))
            self.accuracy[name] = accuracy
            self.standings[name] = replace(self.standings[name], score=accuracy)

    def _built(self, known: Ints) -> Forest:
        """Build a whole forest from the known records."""
        seeds = self._seeds(BUILD, self.settings.n_estimators)
        grown = self.settings.grower.build(self.records, known, seeds, self.settings.n_jobs)
        learnt = np.zeros(len(self.records), dtype=bool)
        learnt[known] = True
        trees = tuple(one.tree.built_at(self.number) for one in grown)
        return Forest(trees, tuple(one.leaf_of for one in grown), learnt)

    def _seeds(self, purpose: int, n: int) -> list[int]:
        """Return seeds for n trees, fixed by the model's seed, the batch and the purpose."""
        return spawn_seeds([self.settings.seed, self.number, purpose], n)

    def _concluded(self, drift: str, n_unrepairable: int) -> tuple[Learner, BatchReport]:
        """Choose who answers, let go of records memory has no room for, and report."""
        for name, standing in self.standings.items():
            if self.settings.selection == "training":
                self._test(
                    name,
                    standing.forest.answer(
                        self.batch.X, self.records.n_classes, soft=self.settings.soft, n_jobs=self.settings.n_jobs
                    ),
                )
        answering = most_accurate({name: standing.score for name, standing in self.standings.items()})
        kept = self.memory.survivors(self.settings.memory_size, self.number - self.settings.window_size + 2)
        memory = self.memory if kept is None else self.memory.keep(kept)
        standings = {name: self._remembered(standing, kept) for name, standing in self.standings.items()}
        learner = Learner(self.settings, memory, standings, answering, self.number, n_unrepairable)
        return learner, self._report(drift, answering)

    def _remembered(self, standing: Standing, kept: Longs | None) -> Standing:
        """Return a standing whose forest knows only what memory kept."""
        forest = standing.forest if kept is None else standing.forest.keep(kept)
        return replace(standing, forest=forest.forget() if self.settings.memory_size == 0 else forest)

    def _report(self, drift: str, answering: str) -> BatchReport:
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
            answering=answering,
            seconds=perf_counter() - self.started,
        )
