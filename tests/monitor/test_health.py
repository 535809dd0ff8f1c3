"""Whether a model is said to be well, along simulated streams and for each rule alone."""

from dataclasses import replace

import numpy as np
import pytest

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from adforest.monitor import ModelView
from adforest.monitor.column_drift import ColumnView
from adforest.monitor.expectation import steps_of
from adforest.monitor.health import freshness_of, health_at, health_of, trend_of
from adforest.monitor.model_view import ClassView
from made_reports import report

N_BATCHES, CHANGE = 26, 14


def stream(change=None, *, n=300, seed=0, n_batches=N_BATCHES):
    """Yield batches of two classes; something changes from batch 14 on."""
    rng = np.random.default_rng(seed)
    for number in range(1, n_batches + 1):
        X = rng.normal(size=(n, 5))
        y = ((X[:, 0] + 0.5 * X[:, 1] > 0) ^ (rng.random(n) < 0.1)).astype(int)
        if number >= CHANGE:
            if change == "rules":
                y = 1 - y
            elif change == "values":
                X[:, 0] += 3
            elif change == "gaps":
                X[rng.random(n) < 0.5, 0] = np.nan
            elif change == "class":
                y[X[:, 2] > 1] = 2
            elif change == "useless column":
                X[:, 4] += 5
        yield X, y


def healths(model, batches):
    found = []
    for X, y in batches:
        found.append(ModelView.from_estimator(model.partial_fit(X, y)).health)
    return found


def ours(seed=0):
    return AdaptiveDecisionForestClassifier(n_estimators=6, random_state=seed)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [60, 300])
def test_a_stream_without_change_is_ok_at_nearly_all_batches(n, seed):
    found = healths(ours(seed), stream(n=n, seed=seed, n_batches=40))
    assert sum(one.level != "ok" for one in found) <= 2, [one.reason for one in found if one.level != "ok"]
    assert found[0].reason.startswith("No problem found yet; 1 batch")
    assert "no drift" in found[-1].reason


def test_records_one_by_one_are_ok_too():
    model = ours().partial_fit(*next(stream(n=3_000)))
    rng = np.random.default_rng(5)
    for _ in range(400):
        X = rng.normal(size=(1, 5))
        model.partial_fit(X, (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int))
    assert ModelView.from_estimator(model).health.level == "ok"


def test_other_rules_are_told_at_once_and_pass():
    found = [one.level for one in healths(ours(), stream("rules"))]
    assert set(found[: CHANGE - 1]) == {"ok"}
    assert "critical" in found[CHANGE - 1 : CHANGE + 2]
    assert found[-3:] == ["ok"] * 3


def test_the_papers_forests_too():
    model = PaperADFClassifier(n_estimators=6, random_state=0)
    found = healths(model, stream("rules"))
    assert "critical" in [one.level for one in found[CHANGE - 1 : CHANGE + 2]]
    assert any(finding.kind == "accuracy" for finding in found[CHANGE].findings)
    assert found[-1].level == "ok"


@pytest.mark.parametrize(("change", "kind"), [("values", "column"), ("gaps", "missing"), ("class", "class")])
def test_what_has_changed_is_named(change, kind):
    found = healths(ours(), stream(change))
    assert found[CHANGE - 2].level == "ok"
    told = [finding for one in found[CHANGE - 1 : CHANGE + 2] for finding in one.findings if finding.kind == kind]
    assert told
    assert {finding.column for finding in told} == {None if kind == "class" else "x[0]"}
    assert {"class": "Class 2", "missing": "missing", "column": "x[0]"}[kind] in told[0].sentence


def test_a_column_that_does_not_matter_may_move():
    model = ours()
    found = healths(model, stream("useless column"))
    view = ModelView.from_estimator(model)
    moved = next(one for one in view.columns if one.position == 4)
    assert max(distance or 0 for distance in moved.distance_by_block) > 0.8
    assert {one.level for one in found[CHANGE - 1 :]} == {"ok"}


# --- each rule alone


def reports(*accuracies, n=200, **last):
    """Return reports of some accuracies of the vote; the last one may have other fields."""
    found = [report(k, one, n=n) for k, one in enumerate(accuracies, start=1)]
    return [*found[:-1], replace(found[-1], **last)]


def classes(*sizes, **changes):
    return [
        replace(ClassView(name, "present", 1, 9, n, 0, n, 100 * n), **changes)
        for name, n in zip("abc", sizes, strict=False)
    ]


def column(**changes):
    figures = {"distance": 0.0, "usual_distance": 0.0, "importance": 1.0, "impact": 0.0, "bins": (), "outside": 0.0}
    figures |= {"missing": 0.0, "unseen": 0.0, "missing_before": 0.0, "unseen_before": 0.0}
    over_time = dict.fromkeys(("missing_by_block", "unseen_by_block", "distance_by_block"), ())
    return ColumnView(
        **{"name": "size", "position": 0, "kind": "numbers", "n_categories": None} | figures | over_time | changes
    )


def health(history, *, columns=(), sizes=(500, 500), known=None):
    return health_of(history, steps_of(history), list(columns), known or classes(*sizes))


def kinds(found):
    return [(one.kind, one.level) for one in found.findings]


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ([0.9] * 3, []),
        ([0.87] * 3, []),
        ([0.83] * 3, [("accuracy", "warning")]),
        ([0.9, 0.9, 0.5], [("accuracy", "critical")]),
        ([0.99] * 3, []),
    ],
)
def test_accuracy_is_compared_with_its_own_past(last, expected):
    assert kinds(health(reports(*[0.9] * 10, *last))) == expected


def test_accuracy_that_always_varies_must_fall_further():
    calm, wild = [0.8] * 12, [0.9, 0.7] * 6
    assert kinds(health(reports(*calm, *[0.72] * 3))) == [("accuracy", "warning")]
    assert kinds(health(reports(*wild, *[0.72] * 3))) == []


def test_an_accuracy_long_ago_is_forgotten():
    assert kinds(health(reports(*[0.95] * 20, *[0.8] * 5))) == [("accuracy", "critical")]
    assert kinds(health(reports(*[0.95] * 20, *[0.8] * 150))) == []


def test_few_batches_are_not_compared():
    found = health(reports(0.9, 0.9, 0.1))
    assert found.level == "ok"
    assert "3 batches are too few" in found.reason
    assert trend_of(steps_of(reports(*[0.9] * 5))) is None


@pytest.mark.parametrize(
    ("accuracy", "expected"),
    [(0.9, []), (0.81, [("chance", "warning")]), (0.72, [("chance", "warning")]), (0.6, [("chance", "critical")])],
)
def test_naming_the_most_frequent_class_is_what_accuracy_must_beat(accuracy, expected):
    assert kinds(health(reports(*[accuracy] * 10), sizes=(800, 200))) == expected


def test_drift_is_watched_and_acted_on_if_it_costs():
    assert kinds(health(reports(*[0.9] * 10, drift="temporary"))) == [("drift", "warning")]
    assert kinds(health(reports(*[0.9] * 10, drift="sustained"))) == [("drift", "warning")]
    found = health(reports(*[0.9] * 10, *[0.7] * 3, drift="sustained"))
    assert kinds(found) == [("accuracy", "critical"), ("drift", "critical")]
    passed = reports(*[0.9] * 10, drift="sustained") + [report(k, 0.9, n=200) for k in range(11, 16)]
    assert kinds(health(passed)) == []
    waiting = report(11, 0.9, n=200, action={"permanent": "waiting"})
    assert kinds(health([*reports(*[0.9] * 10, drift="temporary"), waiting])) == [("drift", "warning")]


def test_new_and_returned_classes_are_named():
    found = health(reports(*[0.9] * 9), known=[*classes(500, 450), *classes(50, status="new")])
    assert kinds(found) == [("class", "warning")]
    assert found.reason == "Class a was never seen before."
    found = health(reports(*[0.9] * 9), known=classes(300, 300, 300, status="returned", n_returns=1))
    assert found.reason == "Classes a, b, c: each has returned after it was gone."
    assert not kinds(health(reports(*[0.9] * 9), known=classes(300, 300, status="returned", n_returns=2))), "as usual"


def test_columns_count_if_they_moved_more_than_usual_and_matter():
    history = reports(*[0.9] * 9)
    others = [column(name=f"other {k}", position=k, importance=0.05) for k in (1, 2, 3)]
    moved = column(distance=0.3, importance=0.85)
    assert kinds(health(history, columns=[moved, *others])) == [("column", "warning")]
    assert not kinds(health(history, columns=[replace(moved, distance=0.09), *others]))
    assert not kinds(health(history, columns=[replace(moved, usual_distance=0.2), *others]))
    assert not kinds(health(history, columns=[replace(moved, importance=0.1), *others]))


@pytest.mark.parametrize("kind", ["missing", "unseen"])
def test_more_missing_values_and_unseen_categories(kind):
    history = reports(*[0.9] * 9)
    before = {f"{kind}_before": 0.1}
    assert not kinds(health(history, columns=[column(**{kind: 0.14}, **before)]))
    assert kinds(health(history, columns=[column(**{kind: 0.2}, **before)])) == [(kind, "warning")]
    assert kinds(health(history, columns=[column(**{kind: 0.4}, **before)])) == [(kind, "critical")]
    unimportant = [column(**{kind: 0.4}, importance=0.1, **before), column(importance=0.9)]
    assert kinds(health(history, columns=unimportant)) == [(kind, "warning")]
    assert not kinds(health(history, columns=[column(**{kind: 0.9, f"{kind}_before": None})]))


def test_the_worst_comes_first():
    found = health(reports(*[0.9] * 10, *[0.7] * 3, drift="temporary"), columns=[column(unseen=0.1)])
    assert [one.level for one in found.findings] == ["critical", "warning", "warning"]
    assert found.level == "critical"
    assert (
        found.reason
        == found.findings[0].sentence
        == "Accuracy on new batches fell from 0.90 to 0.70 (batches 11 to 13)."
    )


# --- when it last learnt

DAY = 86_400.0


def paused(*pauses):
    """Return reports of batches with some days between them."""
    moments = np.cumsum([1.7e9, *(DAY * one for one in pauses)]).tolist()
    return [replace(one, learnt_at=at) for one, at in zip(reports(*[0.9] * len(moments)), moments, strict=True)]


def verdict(found, days):
    """Return the verdict some days after the last batch."""
    return health_at(health(found), freshness_of(found), found[-1].learnt_at + DAY * days)


@pytest.mark.parametrize(
    ("pauses", "days", "level"),
    [
        ([1.0] * 9, 2.9, "ok"),
        ([1.0] * 9, 3.1, "warning"),
        ([1.0] * 9, 31, "critical"),
        ([1.0, 1.0, 3.0] * 3, 8.9, "ok"),  # weekends
        ([1.0, 1.0, 3.0] * 3, 9.1, "warning"),
        ([30.0] * 9, 80, "ok"),
        ([0.0] * 9, 29, "ok"),  # learnt in one go: nothing is known of pauses
        ([0.0] * 9, 31, "warning"),
        ([0.0] * 9, 400, "critical"),
        ([], 400, "critical"),
    ],
)
def test_a_model_that_learns_no_more_is_not_well(pauses, days, level):
    found = verdict(paused(*pauses), days)
    assert found.level == level
    assert ("age" in [one.kind for one in found.findings]) == (level != "ok")


def test_it_says_since_when():
    found = verdict(paused(1.0, 1.0, 1.0), 400)
    assert found.reason == "It has learnt nothing for 400 days, since 2023-11-17 22:13 UTC."
    later = health_at(found, freshness_of(paused(1.0, 1.0, 1.0)), 1.7e9 + 3 * DAY)
    assert later.level == "ok"


def test_models_of_versions_that_kept_no_times_are_not_judged_by_them():
    found = reports(*[0.9] * 5)
    assert health_at(health(found), freshness_of(found), 1.7e9).level == "ok"


def test_a_view_is_judged_by_the_clock():
    model = AdaptiveDecisionForestClassifier(n_estimators=2, random_state=0)
    for X, y in stream(n_batches=3):
        model.partial_fit(X, y)
    view = ModelView.from_estimator(model)
    assert view.freshness.learnt_at == model.history_[-1].learnt_at
    assert view.health.level == "ok"
    assert view.at(view.freshness.learnt_at + 400 * DAY).health.level == "critical"
