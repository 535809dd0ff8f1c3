"""Build the view of a model in one pass over its statistics."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adforest.adaptation import BatchReport, State
from adforest.adaptation.memory import sample_bytes
from adforest.adaptation.report import FORESTS, METRICS
from adforest.adaptation.scoring import VOTE
from adforest.adaptation.steps import answering_votes
from adforest.classifier import mean_importances, read_model
from adforest.encoding.rebuilding import write_value
from adforest.forest._kernels import routing
from adforest.monitor.column_drift import column_views, none_where_unknown
from adforest.monitor.expectation import Record, expectation, followed
from adforest.monitor.health import freshness_of, health_at, health_of
from adforest.monitor.model_view import ClassView, EventView, ForestView, MemoryView, ModelView, Series, Timeline
from adforest.snapshot import FittedForests, Snapshot
from adforest.tracking import BatchBlock, ClassLives, Track

LAST_BATCHES = 3  # that count as the last ones where columns have not been counted yet
MAX_EVENTS = 2_000


def view_of(estimator: Any) -> ModelView:
    """Return the view of a model or snapshot."""
    model = read_model(estimator, "the monitor")
    state, track = model.state, model.track
    is_paper = state.settings.algorithm == "paper"
    frozen_kind = "PaperADFClassifier" if is_paper else "AdaptiveDecisionForestClassifier"
    history, sketches = track.history, track.columns
    record = followed(history.reports)
    importance = mean_importances(state, model.encoder)
    columns = column_views(model.encoder, sketches, importance)
    last = _range(sketches.last_batches)
    since = last[0] if last else max(1, model.n_batches - LAST_BATCHES + 1)
    classes = _classes(model, since)
    freshness = freshness_of(history.reports)
    recent = record.steps[-1].confidence if record.steps else None
    return ModelView(
        kind=frozen_kind if isinstance(estimator, Snapshot) else type(estimator).__name__,
        n_batches=model.n_batches,
        n_samples=model.n_samples,
        n_classes=len(model.labels.classes),
        n_columns=model.encoder.n_features,
        health=health_at(health_of(history.reports, record.steps, columns, classes), freshness, time.time()),
        freshness=freshness,
        timeline=_timeline(history.blocks, history.reports, record),
        events=_events(track, _class_names(model)),
        classes=classes,
        columns=columns,
        column_blocks=tuple((first, last) for first, last, _ in sketches.over_time.batches.tolist()),
        last_batches=last,
        past_batches=_range(sketches.past_batches[np.newaxis]) if sketches.past_batches.any() else None,
        forests=_forests(state),
        memory=_memory(model),
        expected=expectation(record, recent, history.reports[-1].n_samples),
        batches=history.reports,
    )


def _timeline(blocks: Sequence[BatchBlock], reports: Sequence[BatchReport], record: Record) -> Timeline:
    """Return figures over time, one entry per block or batch."""
    entries = [*blocks, *(BatchBlock.of(report) for report in reports)]
    expected: dict[int, float] = {}
    for step, said in zip(record.steps, record.expected, strict=True):
        if said is not None:
            expected |= dict.fromkeys(range(step.first, step.last + 1), said[0])
    known = {name for entry in entries for name in entry.accuracy}

    def each(find: Callable[[BatchBlock], Any]) -> tuple[Any, ...]:
        return tuple(find(entry) for entry in entries)

    return Timeline(
        first=each(lambda entry: entry.first),
        last=each(lambda entry: entry.last),
        n_samples=each(lambda entry: entry.n_samples),
        accuracy={name: _series(entries, name) for name in (*FORESTS, VOTE) if name in known},
        metrics={name: each(lambda entry, name=name: getattr(entry, name)) for name in METRICS},  # type: ignore[misc]
        confidence=each(lambda entry: entry.confidence),
        expected=each(lambda entry: expected.get(entry.last) if entry.first == entry.last else None),
        votes={
            name: each(lambda entry, name=name: entry.votes.get(name, 0.0))  # type: ignore[misc]
            for name in FORESTS
            if any(name in entry.votes for entry in entries)
        },
        answering=each(lambda entry: entry.answering),
        n_temporary=each(lambda entry: entry.n_temporary),
        n_sustained=each(lambda entry: entry.n_sustained),
        n_new_classes=each(lambda entry: entry.n_new_classes),
        n_leaves={
            name: each(lambda entry, name=name: entry.n_leaves.get(name))  # type: ignore[misc]
            for name in FORESTS
            if any(name in entry.n_leaves for entry in entries)
        },
        seconds=each(lambda entry: entry.seconds / len(entry)),
        learnt_at=each(lambda entry: entry.last_at),
    )


def _series(entries: Sequence[BatchBlock], name: str) -> Series:
    """Return an accuracy over time, and its interval (Wilson 1927) by the samples that were tested."""
    mean = np.array([entry.accuracy.get(name, np.nan) for entry in entries])
    n = np.array([max(entry.n_tested, 1.0) for entry in entries])
    z = 1.96
    middle = (mean + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(mean * (1 - mean) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    low, high = (middle - half).clip(0, 1), (middle + half).clip(0, 1)
    return Series(*map(none_where_unknown, (mean, low, high)))


def _events(track: Track, names: list[str]) -> tuple[EventView, ...]:
    """Return drifts, and new, gone and returned classes, oldest first; classes of the first batch are no events."""
    lives = track.classes
    found = [EventView(batch, "drift sustained") for batch in track.history.sustained]
    found += [EventView(one.batch, "drift temporary") for one in track.history.reports if one.drift == "temporary"]
    for code in np.flatnonzero(lives.first_batch > 1).tolist():
        found.append(EventView(int(lives.first_batch[code]), "class born", names[code]))
    for code in np.flatnonzero(lives.is_gone & (lives.n_samples > 0)).tolist():
        found.append(EventView(int(lives.last_batch[code]), "class gone", names[code]))
    for code, gone, back in lives.returns.tolist():
        found += [EventView(gone, "class gone", names[code]), EventView(back, "class returned", names[code])]
    return tuple(sorted(found, key=lambda one: (one.batch, one.kind == "class gone"))[-MAX_EVENTS:])


def _class_names(model: FittedForests) -> list[str]:
    """Return class values as they are written, by code."""
    return [write_value(value) for value in model.labels.by_arrival.tolist()]


def _classes(model: FittedForests, since: int) -> tuple[ClassView, ...]:
    """Return the classes, sorted; since is the first of the last batches."""
    lives, memory = model.track.classes, model.state.memory
    n_classes = len(model.labels.by_arrival)
    kept = np.bincount(memory.y, minlength=n_classes)
    per_sample = _sample_bytes(model.state)
    back = {code: batch for code, _, batch in lives.returns.tolist()}
    gone = lives.is_gone
    names = _class_names(model)

    def view(code: int) -> ClassView:
        value = names[code]
        is_known = code < len(lives.n_samples) and lives.n_samples[code] > 0
        if not is_known:
            return ClassView(value, "declared", None, None, 0, 0, int(kept[code]), int(kept[code]) * per_sample)
        return ClassView(
            value=value,
            status=_status(lives, code, bool(gone[code]), back.get(code, 0), since),
            first_batch=int(lives.first_batch[code]),
            last_batch=int(lives.last_batch[code]),
            n_samples=int(lives.n_samples[code]),
            n_returns=int(lives.n_returns[code]),
            n_in_memory=int(kept[code]),
            bytes_in_memory=int(kept[code]) * per_sample,
        )

    return tuple(view(int(code)) for code in model.labels.order)


def _status(lives: ClassLives, code: int, is_gone: bool, back: int, since: int) -> str:
    """Return whether a class is new, gone, returned or present."""
    if is_gone:
        return "gone"
    if lives.first_batch[code] >= max(2, since):
        return "new"
    return "returned" if back >= since else "present"


def _sample_bytes(state: State) -> int:
    """Return the bytes of a sample in memory."""
    trees = {id(tree) for one in state.forests.values() if one.forest.leaf_of for tree in one.forest.trees}
    return sample_bytes(state.memory.values.row_bytes, len(trees))


def _memory(model: FittedForests) -> MemoryView:
    """Return how much memory holds."""
    state = model.state
    n = len(state.memory)
    return MemoryView(
        n_samples=n,
        n_waiting=0 if state.pending is None else len(state.pending),
        limit=state.settings.n_kept(state.memory),
        bytes=n * _sample_bytes(state),
        is_complete=model.has_samples,
    )


def _forests(state: State) -> tuple[ForestView, ...]:
    """Return the current forests."""
    votes = answering_votes(state)
    views: list[ForestView] = []
    for name in FORESTS:
        if name not in state.forests:
            continue
        one = state.forests[name]
        same = next((view.name for view in views if state.forests[view.name].is_same(one)), None)
        trees = one.forest.trees
        depth = [routing.depths(tree.nodes)[tree.nodes["split"] < 0] for tree in trees]
        arrays = ("nodes", "category_bits", "row_start", "row_class", "row_weight", "row_scale", "born", "cause")
        views.append(
            ForestView(
                name=name,
                same_as=same,
                vote=float(votes.get(name, 0.0)),
                answers=name == state.answering,
                n_trees=len(trees),
                n_leaves=one.forest.n_leaves,
                n_nodes=one.forest.n_nodes,
                max_depth=max(int(leaves.max()) for leaves in depth),
                mean_depth=float(np.concatenate(depth).mean()),
                bytes=sum(getattr(tree, array).nbytes for tree in trees for array in arrays),
            )
        )
    return tuple(views)


def _range(batches: Any) -> tuple[int, int] | None:
    """Return the first and the last batch of some runs, or None where there is none."""
    return (int(batches[0, 0]), int(batches[-1, 1])) if len(batches) else None
