"""What reports say of a batch: the metrics of what the model would have answered, referee scikit-learn."""

import warnings
from inspect import signature

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier, load
from adforest.adaptation import scoring
from adforest.adaptation.tuning import TUNING

ADAPTIVE, PAPER = AdaptiveDecisionForestClassifier, PaperADFClassifier
KINDS = [
    (ADAPTIVE, {}),
    (ADAPTIVE, {"answer_for": "everything"}),
    (ADAPTIVE, {"class_weight": "balanced"}),
    (ADAPTIVE, {"class_weight": {"b": 5.0}, "answer_for": "everything"}),
    (ADAPTIVE, {"base_forest": "sysfor"}),
    (ADAPTIVE, {"base_forest": "hoeffding", "class_weight": "balanced"}),
    (ADAPTIVE, {"memory_size": 0}),
    (ADAPTIVE, {"memory_size": 300, "splitting": "isat"}),
    (PAPER, {"min_samples_leaf": 1}),
    (PAPER, {"min_samples_leaf": 1, "class_weight": "balanced"}),
    (PAPER, {"min_samples_leaf": 1, "voting": "soft", "base_forest": "hoeffding"}),
]
KNOWS_CLASSES = "scale_by_half" in signature(metrics.brier_score_loss).parameters  # from scikit-learn 1.7 on
SIZES = (400, 80, 3, 700, 1, 40, 30, 60, 400)  # small ones wait for each other, large ones are judged by a sample


def expected(model, X, y):
    """Return what scikit-learn says of a model's answers; classes that it does not know have a probability of 0."""
    classes = np.union1d(model.classes_, y)
    shares = np.zeros((len(y), len(classes)))
    shares[:, np.isin(classes, model.classes_)] = model.predict_proba(X)
    found = {"accuracy": model.score(X, y), "confidence": shares.max(axis=1).mean(), "n_tested": len(y)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class that is answered need not be among the labels
        found["balanced_accuracy"] = metrics.balanced_accuracy_score(y, model.predict(X))
        found["log_loss"] = metrics.log_loss(y, shares, labels=classes)
        if KNOWS_CLASSES:
            found["brier_score"] = metrics.brier_score_loss(y, shares, labels=classes)
    is_ranked = len(classes) == 2 and len(np.unique(y)) == 2
    found["roc_auc"] = metrics.roc_auc_score(y == classes[1], shares[:, 1]) if is_ranked else None
    found["average_precision"] = metrics.average_precision_score(y == classes[1], shares[:, 1]) if is_ranked else None
    return found


def assert_reported(report, found):
    assert report.accuracy["vote"] == found.pop("accuracy")
    for name, value in found.items():
        close = None if value is None else pytest.approx(value, rel=1e-12, abs=1e-12)
        assert getattr(report, name) == close, name


def stream(classes, seed=0, sizes=SIZES):
    """Yield batches whose rules change halfway, and in which classes come and go."""
    rng = np.random.default_rng(seed)
    for number, n in enumerate(sizes):
        there = classes if number % 3 else classes[:2]
        y = rng.choice(there, n, p=rng.dirichlet(np.ones(len(there))))
        _, code = np.unique(np.append(classes, y), return_inverse=True)
        place = (code[len(classes) :] + 2 * (number > len(sizes) // 2)) % (len(classes) + 1)
        yield np.column_stack([place + rng.normal(size=n), rng.normal(size=n).round(1), rng.integers(0, 3, n)]), y


@pytest.mark.parametrize(("kind", "parameters"), KINDS)
@pytest.mark.parametrize("classes", [["b", "a"], ["d", "b", "c", "a"]])
@pytest.mark.parametrize("has_weights", [False, True])
def test_reports_say_how_the_batch_would_have_been_answered(kind, parameters, classes, has_weights):
    model, rng = kind(n_estimators=4, random_state=0, **parameters), np.random.default_rng(1)
    for number, (X, y) in enumerate(stream(classes)):
        weight = rng.choice([0.5, 1.0, 4.0], len(y)) if has_weights else None
        found = expected(model, X, y) if number else None
        before = model.predict(X) == y if number else None
        model.partial_fit(X, y, sample_weight=weight)
        report = model.history_[-1]
        if found is None:
            assert (report.log_loss, report.roc_auc, report.accuracy.get("vote")) == (None, None, None)
            continue
        assert_reported(report, found)
        is_weighted = has_weights or "class_weight" in parameters
        assert set(report.weighted_accuracy) == (set(report.accuracy) if is_weighted else set())
        if has_weights and "class_weight" not in parameters:
            assert report.weighted_accuracy["vote"] == pytest.approx(np.average(before, weights=weight))


@settings(max_examples=30, deadline=None)
@given(data=st.data(), n_classes=st.integers(2, 3), answer_for=st.sampled_from(["next_batch", "everything"]))
def test_ties_are_broken_as_predict_does(data, n_classes, answer_for):
    # Few trees, samples and values on purpose: classes have the same votes often. They come in any order.
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    names = np.array(data.draw(st.permutations("abc")))[:n_classes]
    model = ADAPTIVE(n_estimators=2, random_state=0, answer_for=answer_for)
    for number, n in enumerate(data.draw(st.lists(st.integers(1, 12), min_size=2, max_size=8))):
        X = rng.integers(0, 2, (n, 2)).astype(float)
        y = names[rng.integers(0, min(1 + number, n_classes), n)]
        found = expected(model, X, y) if number and len(np.union1d(model.classes_, y)) > 1 else None
        model.partial_fit(X, y)
        if found is not None:
            assert_reported(model.history_[-1], found)


def test_parameters_count_as_they_are_when_the_batch_comes():
    model = ADAPTIVE(4, random_state=0)
    for number, (X, y) in enumerate(stream(["a", "b"])):
        model.set_params(answer_for="everything" if number % 2 else "next_batch")
        found = expected(model, X, y) if number else None
        model.partial_fit(X, y)
        if found is not None:
            assert_reported(model.history_[-1], found)
            if number % 2:
                assert model.history_[-1].accuracy["vote"] == model.history_[-1].accuracy["permanent"]


def test_categories_and_columns_that_are_new_are_answered_as_predict_does():
    import pandas as pd

    rng = np.random.default_rng(0)
    model = ADAPTIVE(4, random_state=0, column_changes="allow")
    for number in range(6):
        y = rng.integers(0, 2, 200)
        words = np.array(["v", "w", "x", "y", "z"])[(y + rng.integers(0, 2, 200) + number) % 5]
        X = pd.DataFrame({"word": words, "number": y + rng.normal(size=200)})
        if number > 2:
            X["more"] = y + rng.normal(size=200)
        found = expected(model, X, y) if number else None
        model.partial_fit(X, y)
        if found is not None:
            assert_reported(model.history_[-1], found)


GROUPINGS = [
    *[(kind, grouping) for kind in (ADAPTIVE, PAPER) for grouping in ({"max_categories": 4}, {"min_frequency": 20})],
    (PAPER, {"min_frequency": 0.05}),
    (ADAPTIVE, {"max_categories": 6, "min_frequency": 0.02}),
    (ADAPTIVE, {"min_frequency": 15, "answer_for": "everything"}),
]


def words(sizes, seed=0):
    """Yield batches of a column of ever other words; a class goes with each."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    for number, n in enumerate(sizes):
        word = rng.integers(0, 3 + number, n) * rng.integers(1, 3, n) + number * (rng.random(n) < 0.3)
        y = (word + (rng.random(n) < 0.2)) % 3
        yield pd.DataFrame({"word": np.char.add("w", word.astype(str)), "number": rng.normal(size=n)}), y


@pytest.mark.parametrize(("kind", "grouping"), GROUPINGS)
def test_categories_that_a_batch_makes_frequent_are_answered_as_infrequent(kind, grouping):
    model, n_regrouped = kind(n_estimators=4, random_state=0, **grouping), 0
    for number, (X, y) in enumerate(words((200, 200, 200, 9, 30, 200, 900, 200, 200))):
        before = model._model.encoder if number else None
        found = expected(model, X, y) if number else None
        answers = model.predict_proba(X) if number else None
        model.partial_fit(X, y)
        if found is None:
            continue
        assert_reported(model.history_[-1], found)
        if model.history_[-1].drift != "sustained":
            np.testing.assert_array_equal(model.prequential_.y_proba[-len(y) :], answers.astype(np.float32))
        was, now = (encoder.translate(X)[:, 0] for encoder in (before, model._model.encoder))
        n_regrouped += (was < before.n_categories[0]).any() and not np.array_equal(was, now, equal_nan=True)
    assert n_regrouped


def test_grouping_that_changes_between_batches_is_that_of_then():
    model = ADAPTIVE(4, random_state=0)
    for number, (X, y) in enumerate(words([200] * 9)):
        model.set_params(max_categories=(None, 4, 3, None, 2)[number % 5])
        found = expected(model, X, y) if number else None
        model.partial_fit(X, y)
        if found is not None:
            assert_reported(model.history_[-1], found)


def test_drawn_samples_of_regrouped_categories_are_answered_as_predict_does():
    model = ADAPTIVE(4, random_state=0, min_frequency=0.05, max_samples=1_000)
    for number, (X, y) in enumerate(words([2_000] * 5)):
        answers = model.predict_proba(X).astype(np.float32).tolist() if number else None
        model.partial_fit(X, y)
        if answers is not None:
            told = {(label, *row) for label, row in zip(y.tolist(), answers, strict=True)}
            kept = model.prequential_
            n = int(model.history_[-1].n_tested)
            rows = zip(kept.y_true.tolist()[-n:], kept.y_proba.tolist()[-n:], strict=True)
            assert {(label, *row) for label, row in rows} <= told


def test_accuracy_is_that_of_all_samples_however_many(monkeypatch):
    def learnt():
        rng = np.random.default_rng(0)
        model = ADAPTIVE(4, random_state=0)
        for _ in range(3):
            y = rng.integers(0, 3, 4 * TUNING.max_judged)
            model.partial_fit(rng.normal(size=(len(y), 2)) + y[:, None], y)
        return model

    whole = learnt().history_[-1]
    assert whole.n_tested == 4 * TUNING.max_judged
    monkeypatch.setattr(scoring, "PART", 700)
    in_parts = learnt().history_[-1]
    assert (in_parts.accuracy, in_parts.log_loss) == (whole.accuracy, whole.log_loss)
    assert in_parts.brier_score == whole.brier_score


def test_forests_alone_answer_uncorrected_where_the_permanent_one_answers_for_everything():
    models = [ADAPTIVE(4, random_state=0, answer_for=which) for which in ("next_batch", "everything")]
    rng = np.random.default_rng(0)
    for p in [0.4] * 6 + [0.0] * 4:
        y = (rng.random(300) < p).astype(int)
        X = np.c_[rng.normal(size=(300, 2)), 2 * y + rng.normal(size=300)]
        for model in models:
            model.partial_fit(X, y)
    next_batch, everything = (model.history_[-1].accuracy for model in models)
    assert next_batch["permanent"] > everything["permanent"], "the last batches had one class only"
    assert everything["permanent"] == everything["vote"] < 0.95


def test_only_the_report_is_another_one_where_parameters_are_about_answers():
    """What decides is what it was: judged for the next batch, whatever the model is asked for."""
    one, other = (ADAPTIVE(4, random_state=0, answer_for=which) for which in ("next_batch", "everything"))
    for X, y in stream(["a", "b", "c"]):
        one.partial_fit(X, y)
        other.partial_fit(X, y)
    other.set_params(answer_for="next_batch")
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    assert [report.drift for report in one.history_] == [report.drift for report in other.history_]


def test_metrics_are_in_the_frame_and_in_the_file(tmp_path):
    model = ADAPTIVE(4, random_state=0, class_weight="balanced")
    for X, y in stream(["a", "b"], sizes=(200, 200, 200)):
        model.partial_fit(X, y)
    names = ["balanced_accuracy", "log_loss", "brier_score", "roc_auc", "average_precision"]
    frame = model.history_frame()
    assert frame[names].iloc[1:].notna().all(axis=None)
    assert frame[names].iloc[0].isna().all()
    assert frame["weighted_accuracy_vote"].iloc[-1] == model.history_[-1].weighted_accuracy["vote"]
    model.save(tmp_path / "m.adf")
    assert load(tmp_path / "m.adf").history_ == model.history_
