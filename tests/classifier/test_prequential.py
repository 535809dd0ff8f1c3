"""What samples were answered before they were learnt: the model's own answers of then, in bounded space."""

import pickle

import numpy as np
import pytest

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier, load
from adforest.adaptation import scoring
from adforest.adaptation.scoring import MAX_KEPT, MAX_PROBABILITIES
from golden_model_files import FOLDER
from saved_models import CASES

ADAPTIVE, PAPER = AdaptiveDecisionForestClassifier, PaperADFClassifier
KINDS = [
    (ADAPTIVE, {}),
    (ADAPTIVE, {"answer_for": "everything"}),
    (ADAPTIVE, {"base_forest": "hoeffding", "class_weight": "balanced"}),
    (PAPER, {"min_samples_leaf": 1}),
    (PAPER, {"min_samples_leaf": 1, "voting": "soft"}),
]
SIZES = (300, 80, 3, 900, 1, 40, 30, 60, 1_200)  # small ones wait for each other, together they are more than are kept
CLASSES = np.array(["d", "b", "c", "a"])


def stream(n_classes=4, sizes=SIZES, seed=0):
    """Yield batches of clusters, one a class; the last class comes late."""
    rng = np.random.default_rng(seed)
    for number, n in enumerate(sizes):
        code = rng.integers(0, n_classes if number > 2 else n_classes - 1, n)
        yield rng.normal(size=(n, 2)) + 2 * code[:, np.newaxis], CLASSES[code]


def in_all_classes(model, probabilities, classes):
    """Return probabilities with columns of zeros for classes that a model does not know yet."""
    found = np.zeros((len(probabilities), len(classes)), dtype=np.float32)
    found[:, np.isin(classes, model.classes_)] = probabilities
    return found


@pytest.mark.parametrize(("kind", "parameters"), KINDS)
def test_they_are_what_the_model_answered(kind, parameters, monkeypatch):
    monkeypatch.setattr(scoring, "PART", 700)  # large batches are answered in parts
    model = kind(n_estimators=3, random_state=0, **parameters)
    y_true, y_proba = [], []
    for X, y in stream():
        if y_true or hasattr(model, "classes_"):
            y_true.append(y)
            y_proba.append(in_all_classes(model, model.predict_proba(X), np.sort(CLASSES)))
        model.partial_fit(X, y)
        found = model.prequential_
        assert "sustained" not in {report.drift for report in model.history_}
        n = min(MAX_KEPT, sum(map(len, y_true)))
        assert found.y_proba.shape == (n, len(model.classes_))
        assert found.y_proba.dtype == np.float32
        if n:
            assert found.y_true.tolist() == np.concatenate(y_true)[-n:].tolist()
            known = np.isin(np.sort(CLASSES), model.classes_)
            np.testing.assert_array_equal(found.y_proba, np.concatenate(y_proba)[-n:, known])
    assert n == MAX_KEPT


def test_they_follow_the_parameters_of_then():
    model = ADAPTIVE(3, random_state=0)
    batches = list(stream(sizes=(300, 300, 300)))
    for number, (X, y) in enumerate(batches):
        model.set_params(answer_for="everything" if number == 2 else "next_batch")
        expected = model.predict_proba(X) if number else None
        model.partial_fit(X, y)
    np.testing.assert_array_equal(model.prequential_.y_proba[-300:], expected.astype(np.float32))


def test_samples_of_weight_0_are_not_among_them():
    (X, y), (X_next, y_next) = stream(sizes=(300, 100))
    model = ADAPTIVE(3, random_state=0).partial_fit(X, y)
    model.partial_fit(X_next, y_next, sample_weight=np.arange(100) % 2)
    assert model.prequential_.y_true.tolist() == y_next[1::2].tolist()


@pytest.mark.parametrize("n_classes", [2, 50, 51, 300])
def test_there_are_fewer_of_many_classes(n_classes):
    rng, model = np.random.default_rng(0), ADAPTIVE(1, random_state=0, max_depth=2)
    for n in (3 * n_classes, 1_500, 1_500):
        y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)]
        model.partial_fit(rng.normal(size=(n, 1)), y)
    kept = model._model.track.prequential
    assert len(kept.codes) == min(MAX_KEPT, MAX_PROBABILITIES // n_classes)
    assert kept.probabilities.size <= MAX_PROBABILITIES
    assert kept.codes.base is None, "no view keeps a whole batch"
    assert kept.probabilities.base is None
    assert model.prequential_.y_true.tolist()[-5:] == y.tolist()[-5:]


def test_classes_that_come_make_room_by_dropping_the_oldest():
    rng, model = np.random.default_rng(0), ADAPTIVE(1, random_state=0, max_depth=2)
    for n_classes, n in ((50, 500), (50, 2_000), (400, 400)):
        y = np.r_[np.arange(n_classes), rng.integers(0, 50, n - n_classes)]
        model.partial_fit(rng.normal(size=(n, 1)), y)
    found = model.prequential_
    assert found.y_proba.shape == (250, 400)
    assert not found.y_proba[:, 50:].any(), "nobody knew them"
    np.testing.assert_allclose(found.y_proba.sum(axis=1), 1, rtol=1e-5)


def swapped(n_before, n_after, n=300, n_swapped=2):
    """Yield batches of two clusters whose classes change places."""
    rng = np.random.default_rng(0)
    for number in range(n_before + n_after):
        y = rng.integers(0, n_swapped, n)
        yield rng.normal(size=(n, 2)) + 4 * y[:, np.newaxis], (n_swapped - 1 - y if number >= n_before else y)


def test_an_abrupt_change_forgets_what_was_answered_before_it():
    model, sizes, starts = ADAPTIVE(4, random_state=0), [], []
    for X, y in swapped(4, 4):
        model.partial_fit(X, y)
        sizes.append(len(model.prequential_.y_true))
        starts.append(model._model.state.regime_start)
    assert starts == [1] * 5 + [6] * 3, "batch 6 shows the change"
    assert model.history_[-1].drift == "temporary"
    assert sizes == [0, 300, 600, 900, 1200, 0, 300, 600], "what batch 6 was answered was by the old rules too"


@pytest.mark.parametrize("model", [ADAPTIVE(4, random_state=0), PAPER(4, random_state=0)], ids=["ours", "paper"])
def test_a_sustained_drift_forgets_what_was_answered_before_it(model):
    sizes = {}
    for X, y in swapped(4, 10):
        model.partial_fit(X, y)
        sizes[model.history_[-1].batch] = len(model.prequential_.y_true)
    [sustained] = [report.batch for report in model.history_ if report.drift == "sustained"]
    assert [sizes[sustained + later] for later in range(-1, 3)] == [sizes[sustained - 1], 0, 300, 600]
    assert sizes[sustained - 1] > 0


def test_a_temporary_drift_forgets_nothing():
    model, n = PAPER(4, random_state=0), 0
    for number, (X, y) in enumerate(swapped(4, 2)):
        model.partial_fit(X, y)
        n += len(y) if number else 0
    assert model.history_[-1].drift == "temporary"
    assert len(model.prequential_.y_true) == n


def test_drawn_samples_are_those_that_were_answered():
    (X, y), (X_next, y_next) = stream(sizes=(300, 3_000))
    model = ADAPTIVE(2, random_state=0, max_samples=1_000).partial_fit(X, y)
    expected = model.predict_proba(X_next).astype(np.float32)
    model.partial_fit(X_next, y_next)
    found = model.prequential_
    assert 800 < len(found.y_true) == model.history_[-1].n_tested < 1_200
    rows = {(label, *row) for label, row in zip(y_next.tolist(), expected.tolist(), strict=True)}
    assert {(label, *row) for label, row in zip(found.y_true.tolist(), found.y_proba.tolist(), strict=True)} <= rows


# --- copies, files, pickles


@pytest.mark.parametrize("name", ["a new class", "declared", "small batches", "paper", "balanced", "text", "one batch"])
@pytest.mark.parametrize("samples", [True, False])
def test_files_and_snapshots_have_them(name, samples, tmp_path):
    model = CASES[name]().model
    model.save(tmp_path / "model.adf", samples=samples)
    for other in (load(tmp_path / "model.adf"), model.snapshot(), pickle.loads(pickle.dumps(model))):
        assert other.prequential_.y_true.tolist() == model.prequential_.y_true.tolist()
        np.testing.assert_array_equal(other.prequential_.y_proba, model.prequential_.y_proba)
    assert model.prequential_.y_proba.shape[1] == len(model.classes_)
    assert bool(len(model.prequential_.y_true)) == (name != "one batch")


def test_files_of_before_have_none():
    for path in sorted(FOLDER.glob("schema-1-*.adf")):
        model = load(path)
        assert model.prequential_.y_true.shape == (0,)
        assert model.prequential_.y_proba.shape == (0, len(model.classes_))


def test_a_snapshot_does_not_change_while_the_model_learns():
    batches = list(stream(sizes=(300, 300, 300)))
    model = ADAPTIVE(3, random_state=0).partial_fit(*batches[0]).partial_fit(*batches[1])
    snapshot = model.snapshot()
    before = snapshot.prequential_
    assert snapshot._model.track.prequential is model._model.track.prequential, "shared, not copied"
    model.prequential_.y_proba[:] = 7
    model.partial_fit(*batches[2])
    np.testing.assert_array_equal(snapshot.prequential_.y_proba, before.y_proba)
    assert len(model.prequential_.y_true) == 600


def test_there_are_none_before_fit():
    assert not hasattr(ADAPTIVE(), "prequential_")
