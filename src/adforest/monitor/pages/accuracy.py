"""Accuracy by forest, drift, weights of the forests, other metrics, and the accuracy expected while labels are late."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adforest.adaptation.report import FORESTS
from adforest.adaptation.scoring import VOTE
from adforest.forest.types import Float64Array
from adforest.monitor.expectation import ExpectedAccuracy
from adforest.monitor.model_view import ModelView
from adforest.monitor.pages import words
from adforest.monitor.pages.figures import over_time, part
from adforest.monitor.pages.markup import Child, Markup, join, tag
from adforest.monitor.pages.plots import Plot, Scale
from adforest.monitor.pages.thinning import Course, without_twins

HEIGHT, STRIP = 250, 54  # pixels
LOSSES = ("log_loss", "brier_score")  # of which less is better; the other metrics are fractions


def accuracy_part(view: ModelView, course: Course, spans: Markup | None = None) -> Markup:
    """Return accuracy over time with drift and the weights of the forests, and the expected accuracy."""
    if not any(np.isfinite(mean).any() for mean, _, _ in course.accuracy.values()):
        empty = tag("p", "No batch has been predicted before it was learnt yet: that begins with the second one.")
        return part("accuracy", "Accuracy", empty)
    expected = _expected(view.expected, course)
    return part("accuracy", "Accuracy", spans, _over_time(view, course), _metrics(course), expected)


def _over_time(view: ModelView, course: Course) -> Markup:
    """Return accuracy by forest, and below it their weights in the vote."""
    means = {name: course.accuracy[name][0] for name in (*FORESTS, VOTE) if name in course.accuracy}
    found = {name: course.accuracy[name] for name in without_twins(means)}
    drawn = [
        values for name, (mean, low, high) in found.items() for values in ((low, high) if name == VOTE else (mean,))
    ]
    plot = Plot(course.scale, Scale.of_fractions(drawn), HEIGHT)
    shapes = []
    for name, (mean, low, high) in found.items():
        shapes += [plot.band(course.middle, low, high, name), plot.line(course.middle, mean, name)]
    named = [name for name in FORESTS if name in course.votes and course.votes[name].any()]
    key: list[tuple[str, Child]] = [(f"line {name}", _named(name, found[name][0])) for name in reversed(found)]
    kinds = [("triangle hollow", "temporary drift"), ("triangle", "sustained drift")]
    key += [one for one, there in zip(kinds, (course.n_temporary, course.n_sustained), strict=True) if there.any()]
    measured = (
        "The vote is tested on each batch before it is learnt, forests after it."
        if view.kind == "PaperADFClassifier"
        else "Each batch is predicted before it is learnt."
    )
    names = [VOTE, *(name for name in found if name != VOTE)] if VOTE in found else list(found)
    drifts = zip(course.n_temporary, course.n_sustained, strict=True)
    return over_time(
        *("accuracy-over-time", "Accuracy of the vote and of each forest", course, plot, shapes),
        below=_weights(course, named),
        label=_in_words(found, course),
        above=_drift_marks(plot, course),
        y_ticks=plot.y.percent_ticks(5),
        note=f"{measured} The band is the 95% interval of the vote by the number of samples tested; point at the name "
        f"of a forest to see its own.{_thinned(course)}",
        key=key,
        columns={
            "learnt": map(words.moment, course.learnt_at),
            "samples": [words.number(n, 1) for n in course.n_samples],
            **{name: map(words.percent, found[name][0]) for name in names},
            "drift": ["sustained" if last else "temporary" if first else "none" for first, last in drifts],
            **{f"{name} votes": [words.percent(vote, 0) for vote in course.votes[name]] for name in named},
            **{f"interval, {name}": map(words.span, *found[name][1:]) for name in names},
        },
        n_quiet=len(names),
        words=(0, 1),
    )


def _named(name: str, mean: Float64Array) -> Markup:
    """Return a forest's name and its last accuracy."""
    known = mean[np.isfinite(mean)]
    return join([name, " ", tag("b", words.percent(float(known[-1])))])


def _drift_marks(plot: Plot, course: Course) -> list[Markup]:
    """Return a line down and a triangle wherever drift was called."""
    found = []
    for x, temporary, sustained in zip(course.middle, course.n_temporary, course.n_sustained, strict=True):
        if temporary or sustained:
            kind = "sustained" if sustained else "temporary"
            found += [plot.rule(x, kind), plot.triangle(x, -4, kind)]
    return found


def _weights(course: Course, named: Sequence[str]) -> Markup:
    """Return the weight of each forest in the vote, as a strip."""
    plot, low = Plot(course.scale, Scale(0, 1), STRIP), np.zeros(len(course))
    shapes = []
    for name in named:
        high = low + np.nan_to_num(course.votes[name])
        shapes.append(plot.steps(course.edges, low, high, name))
        low = high
    now = ", ".join(f"{name} {words.percent(float(course.votes[name][-1]), 0)}" for name in named)
    title = tag("p", "Weights of the forests in the vote. Now ", tag("b", now or "none"), ".", class_="strip-title")
    return title + plot.draw(shapes, label=f"Weight of each forest in the vote over time; now {now}.", class_="strip")


def _in_words(found: dict[str, tuple[Float64Array, Float64Array, Float64Array]], course: Course) -> str:
    """Return the description of the figure for screen readers."""
    parts = []
    for name, (mean, _, _) in found.items():
        known = mean[np.isfinite(mean)]
        parts.append(
            f"{name} {words.percent(known[-1])}, between {words.percent(known.min())} and {words.percent(known.max())}"
        )
    drifts = words.count(int(course.n_temporary.sum()), "batch", "batches") + " with temporary drift, "
    drifts += words.count(int(course.n_sustained.sum()), "batch", "batches") + " with sustained drift"
    where = words.batches(int(course.first[0]), int(course.last[-1]))
    return f"Accuracy over batches {where}. Last: {'; '.join(parts)}. {drifts}."


def _thinned(course: Course) -> str:
    """Return the note about neighbouring batches that are drawn as one."""
    return " Neighbouring batches are drawn as one, their mean." if course.is_thinned else ""


def _metrics(course: Course) -> Markup:
    """Return the other metrics of the vote over time: fractions are drawn, losses are in the table."""
    found = {name: values for name, values in course.metrics.items() if np.isfinite(values).any()}
    drawn = {name: values for name, values in found.items() if name not in LOSSES}
    if not drawn:
        return Markup()
    plot = Plot(course.scale, Scale.of_fractions(drawn.values()), 150)
    last = {name: words.metric(name, values[np.isfinite(values)][-1]) for name, values in found.items()}
    values = ", ".join(f"{words.metric_name(name)} {value}" for name, value in last.items())
    losses = "".join(f" Last {words.metric_name(name)}: {last[name]}." for name in LOSSES if name in last)
    ranked = " ROC AUC and average precision are those of the second of the two classes." if "roc_auc" in found else ""
    return over_time(
        *("metrics-over-time", "Other metrics of the vote", course, plot),
        [plot.line(course.middle, values, name) for name, values in drawn.items()],
        label=f"Other metrics of the vote over time. Last: {values}.",
        y_ticks=plot.y.percent_ticks(4),
        note=f"By scikit-learn's definitions, of each batch before it is learnt.{ranked}{losses}{_thinned(course)}",
        key=[(f"line {name}", join([words.metric_name(name), " ", tag("b", last[name])])) for name in drawn],
        columns={
            words.metric_name(name): [words.metric(name, value) for value in values] for name, values in found.items()
        },
    )


def _expected(expected: ExpectedAccuracy, course: Course) -> Markup:
    """Return the expected accuracy beside the accuracy measured once labels were known."""
    true = course.accuracy.get(VOTE, (np.full(len(course), np.nan),))[0]
    if not np.isfinite(course.expected).any():
        return Markup()
    plot = Plot(course.scale, Scale.of_fractions([true, course.expected]), 150)
    off = true - course.expected
    both = np.isfinite(off)
    note = _how_well(expected)
    return over_time(
        *("expected-accuracy", "Accuracy while labels are late", course, plot),
        [
            plot.band(course.middle, np.where(both, true, np.nan), np.where(both, course.expected, np.nan), "gap"),
            plot.line(course.middle, true, VOTE),
            plot.line(course.middle, course.expected, "expected"),
        ],
        label=f"Accuracy expected from the confidence of the vote, and measured accuracy. {note}",
        y_ticks=plot.y.percent_ticks(4),
        note=note,
        key=[("line expected", "expected before labels were known"), ("line vote", "measured")],
        columns={
            "expected": map(words.percent, course.expected),
            "accuracy": map(words.percent, true),
            "difference": [f"{100 * one:+.1f}" if np.isfinite(one) else words.NOTHING for one in off],
            "confidence": map(words.percent, course.confidence),
        },
    )


def _how_well(expected: ExpectedAccuracy) -> str:
    """Return the accuracy expected of the next batch, and the error of earlier estimates."""
    text = "Expected from the confidence of the vote, corrected by its recent error."
    if expected.mean is None:
        return text
    return (
        f"{text} Next batch: {words.percent(expected.mean)} ({words.span(expected.low, expected.high)}). Over the last "
        f"{words.count(expected.n_batches, 'batch', 'batches')} the mean error was {words.points(expected.error)}, "
        f"and {words.percent(expected.hits, 0)} of accuracies were within the interval."
    )
