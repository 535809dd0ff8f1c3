"""Accuracy by forest, drift, weights of the forests, and the accuracy expected while labels are late."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adforest.adaptation.report import ACTIVE, FORESTS, PERMANENT
from adforest.adaptation.scoring import VOTE
from adforest.forest.types import Float64Array
from adforest.monitor.expectation import ExpectedAccuracy
from adforest.monitor.model_view import ModelView
from adforest.monitor.pages import words
from adforest.monitor.pages.figures import figure, part, table_of
from adforest.monitor.pages.markup import Child, Markup, join, tag
from adforest.monitor.pages.plots import Plot, Scale
from adforest.monitor.pages.thinning import Course

HEIGHT, STRIP = 250, 54  # pixels
LOSSES = ("log_loss", "brier_score")  # of which less is better; the other metrics are shares


def accuracy_part(view: ModelView, course: Course, spans: Markup | None = None) -> Markup:
    """Return accuracy over time with drift and the weights of the forests, and the expected accuracy."""
    if not any(np.isfinite(mean).any() for mean, _, _ in course.accuracy.values()):
        empty = tag("p", "No batch has been answered before it was learnt yet: that begins with the second one.")
        return part("accuracy", "Accuracy", empty)
    expected = _expected(view.expected, course)
    return part("accuracy", "Accuracy", spans, _over_time(view, course), _metrics(course), expected)


def shown_accuracies(course: Course) -> dict[str, tuple[Float64Array, Float64Array, Float64Array]]:
    """Return the accuracies that are drawn, the vote last; not the active forest where it is the permanent one."""
    found = {name: course.accuracy[name] for name in (*FORESTS, VOTE) if name in course.accuracy}
    shown = without_twins({name: one[0] for name, one in found.items()})
    return {name: found[name] for name in shown}


def without_twins(by_forest: dict[str, Float64Array]) -> dict[str, Float64Array]:
    """Return figures that are known at all; not those of the active forest where it has been the permanent one."""
    found = {name: values for name, values in by_forest.items() if np.isfinite(values).any()}
    if ACTIVE in found and np.array_equal(found[ACTIVE], found.get(PERMANENT, np.empty(0)), equal_nan=True):
        del found[ACTIVE]
    return found


def _over_time(view: ModelView, course: Course) -> Markup:
    """Return accuracy by forest, and below it their weights in the vote."""
    found = shown_accuracies(course)
    middle, x = course.middle, course.scale
    drawn = [
        values for name, (mean, low, high) in found.items() for values in ((low, high) if name == VOTE else (mean,))
    ]
    y = Scale.around(np.concatenate(drawn), least=0.05).clipped(-0.005, 1.005)
    plot = Plot(x, y, HEIGHT)
    shapes, marks = [], _drift_marks(plot, course)
    for name, (mean, low, high) in found.items():
        shapes += [plot.band(middle, low, high, name), plot.line(middle, mean, name)]
    label = _in_words(found, course)
    above = plot.draw(shapes, label=label, above=marks, x_ticks=batch_ticks(course), y_ticks=share_ticks(y, 5))
    named = [name for name in FORESTS if name in course.votes and course.votes[name].any()]
    key: list[tuple[str, Child]] = [(f"line {name}", _named(name, found[name][0])) for name in reversed(found)]
    kinds = [("triangle hollow", "temporary drift"), ("triangle", "sustained drift")]
    key += [one for one, there in zip(kinds, (course.n_temporary, course.n_sustained), strict=True) if there.any()]
    measured = (
        "The vote is tested on each batch before it is learnt, forests after it."
        if view.kind == "PaperADFClassifier"
        else "Each batch is answered before it is learnt."
    )
    note = (
        f"{measured} The band is the 95% interval of the vote by the number of samples tested; point at the name of a "
        f"forest to see its own.{_thinned(course)}"
    )
    return figure(
        *("accuracy-over-time", "Accuracy of the vote and of each forest", above, _who_answers(x, course, named)),
        note=note,
        key=key,
        table=_table(course, found, named),
        class_="wide steps",
    )


def _named(name: str, mean: Float64Array) -> Markup:
    """Return a forest's name and its last accuracy."""
    known = mean[np.isfinite(mean)]
    return join([name, " ", tag("b", words.share(float(known[-1])))])


def _drift_marks(plot: Plot, course: Course) -> list[Markup]:
    """Return a line down and a triangle wherever drift was called."""
    found = []
    for place, temporary, sustained in zip(course.middle, course.n_temporary, course.n_sustained, strict=True):
        if temporary or sustained:
            kind = "sustained" if sustained else "temporary"
            found += [plot.rule(place, kind), plot.triangle(place, -4, kind)]
    return found


def _who_answers(x: Scale, course: Course, named: Sequence[str]) -> Markup:
    """Return the weight of each forest in the vote, as a strip."""
    plot, low = Plot(x, Scale(0, 1), STRIP), np.zeros(len(course))
    shapes = []
    for name in named:
        high = low + np.nan_to_num(course.votes[name])
        shapes.append(plot.steps(course.edges, low, high, name))
        low = high
    now = ", ".join(f"{name} {words.share(float(course.votes[name][-1]), 0)}" for name in named)
    title = tag("p", "Weights of the forests in the vote. Now ", tag("b", now or "nobody"), ".", class_="strip-title")
    return title + plot.draw(shapes, label=f"Weight of each forest in the vote over time; now {now}.", class_="strip")


def _in_words(found: dict[str, tuple[Float64Array, Float64Array, Float64Array]], course: Course) -> str:
    """Return what the figure shows, for those who do not see it."""
    parts = []
    for name, (mean, _, _) in found.items():
        known = mean[np.isfinite(mean)]
        parts.append(
            f"{name} {words.share(known[-1])}, between {words.share(known.min())} and {words.share(known.max())}"
        )
    drifts = words.count(int(course.n_temporary.sum()), "batch", "batches") + " with temporary drift, "
    drifts += words.count(int(course.n_sustained.sum()), "batch", "batches") + " with sustained drift"
    where = words.batches(int(course.first[0]), int(course.last[-1]))
    return f"Accuracy over batches {where}. Last: {'; '.join(parts)}. {drifts}."


def _thinned(course: Course) -> str:
    """Return what is said where neighbouring batches are drawn as one."""
    return " Neighbouring batches are drawn as one, their mean." if course.is_thinned else ""


def _table(
    course: Course, found: dict[str, tuple[Float64Array, Float64Array, Float64Array]], named: Sequence[str]
) -> Markup:
    """Return accuracy, drift and weights as a table."""
    names = [VOTE, *(name for name in found if name != VOTE)] if VOTE in found else list(found)
    head = [
        "batch",
        "learnt",
        "samples",
        *names,
        "drift",
        *(f"{name} votes" for name in named),
        *(f"interval, {name}" for name in names),
    ]
    rows = []
    for place in range(len(course)):
        drift = "sustained" if course.n_sustained[place] else "temporary" if course.n_temporary[place] else "none"
        rows.append(
            [
                words.batches(int(course.first[place]), int(course.last[place])),
                words.moment(course.learnt_at[place]),
                words.number(course.n_samples[place], 1),
                *(words.share(found[name][0][place]) for name in names),
                drift,
                *(words.share(course.votes[name][place], 0) for name in named),
                *(words.span(*(float(bound[place]) for bound in found[name][1:])) for name in names),
            ]
        )
    return table_of(head, rows, places=places_of(course), n_quiet=len(names), words=(0, 1))


def places_of(course: Course) -> list[float]:
    """Return where the places of a course are drawn, as shares of the width."""
    found: list[float] = course.scale.share(course.middle).tolist()
    return found


def batch_ticks(course: Course) -> list[tuple[float, str]]:
    """Return the batches that are named below a figure, and in a second line when they were learnt, where known."""
    ticks = course.scale.ticks(8, whole=True)
    numbers = [f"batch {tick:,.0f}" if place == 0 else f"{tick:,.0f}" for place, tick in enumerate(ticks)]
    is_known = np.isfinite(course.learnt_at)
    if not is_known.any():
        return list(zip(ticks, numbers, strict=True))
    known, at = course.last[is_known], course.learnt_at[is_known]
    moments = np.interp(ticks, known, at, left=np.nan).tolist()
    written = words.moments(moments, float(at[-1] - at[0]))
    return [(tick, f"{number}\n{moment}") for tick, number, moment in zip(ticks, numbers, written, strict=True)]


def share_ticks(y: Scale, n: int) -> list[tuple[float, str]]:
    """Return the shares that are named beside a figure, with as many digits as tell them apart."""
    ticks = y.ticks(n)
    digits = 0 if len(ticks) < 2 or ticks[1] - ticks[0] > 0.0099 else 1
    return [(tick, words.share(tick, digits)) for tick in ticks]


def _metrics(course: Course) -> Markup:
    """Return the other metrics of the vote over time: shares are drawn, losses are in the table."""
    found = {name: values for name, values in course.metrics.items() if np.isfinite(values).any()}
    drawn = {name: values for name, values in found.items() if name not in LOSSES}
    if not drawn:
        return Markup()
    x, y = course.scale, Scale.around(np.concatenate(list(drawn.values())), least=0.05).clipped(-0.005, 1.005)
    plot = Plot(x, y, 150)
    shapes = [plot.line(course.middle, values, name) for name, values in drawn.items()]
    last = {name: words.metric(name, values[np.isfinite(values)][-1]) for name, values in found.items()}
    told = ", ".join(f"{words.metric_name(name)} {value}" for name, value in last.items())
    rows = [
        [
            words.batches(int(course.first[place]), int(course.last[place])),
            *(words.metric(name, values[place]) for name, values in found.items()),
        ]
        for place in range(len(course))
    ]
    key: list[tuple[str, Child]] = [
        (f"line {name}", join([words.metric_name(name), " ", tag("b", last[name])])) for name in drawn
    ]
    losses = "".join(f" Last {words.metric_name(name)}: {last[name]}." for name in LOSSES if name in last)
    ranked = " ROC AUC and average precision are those of the second of the two classes." if "roc_auc" in found else ""
    return figure(
        "metrics-over-time",
        "Other metrics of the vote",
        plot.draw(
            shapes,
            label=f"Other metrics of the vote over time. Last: {told}.",
            x_ticks=batch_ticks(course),
            y_ticks=share_ticks(y, 4),
        ),
        note=f"By scikit-learn's definitions, of each batch before it is learnt.{ranked}{losses}{_thinned(course)}",
        key=key,
        table=table_of(["batch", *map(words.metric_name, found)], rows, places=places_of(course)),
        class_="wide steps",
    )


def _expected(expected: ExpectedAccuracy, course: Course) -> Markup:
    """Return how accuracy was foretold and what it turned out to be."""
    true = course.accuracy.get(VOTE, (np.full(len(course), np.nan),))[0]
    if not np.isfinite(course.expected).any():
        return Markup()
    x = course.scale
    y = Scale.around(np.concatenate([true, course.expected]), least=0.05).clipped(-0.005, 1.005)
    plot = Plot(x, y, 150)
    both = np.isfinite(true) & np.isfinite(course.expected)
    shapes = [
        plot.band(course.middle, np.where(both, true, np.nan), np.where(both, course.expected, np.nan), "gap"),
        plot.line(course.middle, true, VOTE),
        plot.line(course.middle, course.expected, "expected"),
    ]
    note = _how_well(expected)
    drawn = plot.draw(
        shapes,
        label=f"Accuracy as it was expected from the votes' confidence, and as it turned out. {note}",
        x_ticks=batch_ticks(course),
        y_ticks=share_ticks(y, 4),
    )
    head = ["batch", "expected", "accuracy", "difference", "confidence"]
    rows = [
        [
            words.batches(int(course.first[place]), int(course.last[place])),
            words.share(course.expected[place]),
            words.share(true[place]),
            f"{100 * (true[place] - course.expected[place]):+.1f}" if both[place] else words.NOTHING,
            words.share(course.confidence[place]),
        ]
        for place in range(len(course))
    ]
    key = [("line expected", "expected before labels came"), ("line vote", "turned out")]
    return figure(
        *("expected-accuracy", "Accuracy while labels are late", drawn),
        note=note,
        key=key,
        table=table_of(head, rows, places=places_of(course)),
        class_="wide steps",
    )


def _how_well(expected: ExpectedAccuracy) -> str:
    """Return what is expected of the next batch and how well that did so far."""
    told = "Expected from the votes' own confidence, corrected by how far it was off lately."
    if expected.mean is None:
        return told
    return (
        f"{told} Next batch: {words.share(expected.mean)} ({words.span(expected.low, expected.high)}). Over the last "
        f"{words.count(expected.n_batches, 'batch', 'batches')} it was off by {words.points(expected.error)} on "
        f"average, and {words.share(expected.hits, 0)} were within the band."
    )
