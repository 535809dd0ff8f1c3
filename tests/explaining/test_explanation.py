"""What people see of an explanation, and which samples can be asked about."""

import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from adforest import AdaptiveDecisionForestClassifier, Explanation, PaperADFClassifier
from mixed_streams import mixed_model, probes
from whole_models import FRAME, RENT

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def model():
    return mixed_model("adaptive", "random_forest")


@pytest.fixture(scope="module")
def explanation(model):
    return model.explain(probes())


@pytest.fixture(scope="module")
def houses():
    return AdaptiveDecisionForestClassifier(random_state=0).fit(FRAME, RENT).explain(FRAME.assign(kind="castle"))


def test_repr_is_one_short_line(explanation):
    assert repr(explanation) == (
        "Explanation of 27 samples: 4 features, 3 classes, forests permanent, active, temporary, newest"
    )
    assert repr(explanation.forests["newest"]).startswith("ForestAnswers of 3 trees on 27 samples, mean weight 0.")


def test_names_and_values_are_those_of_the_table(houses):
    assert houses.feature_names.tolist() == ["area", "kind", "beds"]
    assert houses.values(1) == [250.0, None, 3.0]
    assert houses.classes.tolist() == ["high", "low"]


def test_values_are_decoded(explanation):
    given = [list(row) for row in probes()]
    given[-1][2] = None  # a kind that was never learnt
    assert [explanation.values(sample) for sample in range(len(explanation))] == given
    assert explanation.values(-1) == given[-1]


def test_rows_begin_with_the_roots_and_go_by_size(explanation):
    rows = explanation.rows(3)
    assert rows[0]["feature"] == "(roots)"
    assert set(rows[0]) == {"feature", "value", "contribution_a", "contribution_m", "contribution_z"}
    for k, value in enumerate(explanation.classes):
        total = sum(row[f"contribution_{value}"] for row in rows)
        assert total == pytest.approx(explanation.probabilities[3, k], abs=1e-9)
    sizes = [abs(row[f"contribution_{explanation.predictions[3]}"]) for row in rows[1:]]
    assert sizes == sorted(sizes, reverse=True)
    assert len(rows) == 5


def test_frame_is_the_rows(explanation):
    pd.testing.assert_frame_equal(explanation.frame(2), pd.DataFrame(explanation.rows(2)))


def test_without_pandas_an_error_says_what_to_do(explanation, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install pandas, or make another kind of table of explanation\.rows"):
        explanation.frame()


def test_text_adds_up(explanation):
    lines = explanation.text(5).splitlines()
    name, share = lines[0].removeprefix("sample 5: ").split()
    assert name == explanation.predictions[5]
    assert float(share) == pytest.approx(explanation.confidence[5], abs=1e-3)
    assert lines[1].startswith("  forests by weight: ")
    assert lines[2].startswith("  batches that made the leaves: ")
    assert sum(float(line.split()[-1]) for line in lines[3:]) == pytest.approx(float(share), abs=4e-3)


def test_text_of_another_class_and_of_few_features(explanation):
    full, short = explanation.text(5, "a", None).splitlines(), explanation.text(5, "a", max_features=1).splitlines()
    assert full[0] == short[0] == f"sample 5: a {explanation.probabilities[5, 0]:.3f}"
    assert len(full) == 3 + 5
    assert len(short) == 3 + 3
    assert short[-1].split()[:3] == ["3", "other", "features"]


def test_batches_share_the_vote(model, explanation):
    for sample in range(len(explanation)):
        found = explanation.batches(sample)
        assert list(found) == sorted(found)
        assert sum(found.values()) == pytest.approx(1)
        assert set(found) <= set(range(1, model.history_[-1].batch + 1))
    assert len(explanation.batches(0)) > 1


@pytest.mark.parametrize(("sample", "error"), [(27, IndexError), (-28, IndexError), ("x", TypeError), (1.0, TypeError)])
def test_samples_that_are_not_there(explanation, sample, error):
    with pytest.raises(error, match=r"sample is .*(0 to 26|index)"):
        explanation.rows(sample)


def test_a_class_that_was_never_learnt(explanation):
    with pytest.raises(ValueError, match="class_value is 'b'; expected one of the classes learnt: 'a', 'm', 'z'"):
        explanation.text(0, "b")


def test_a_snapshot_explains_as_the_model_did(model, explanation):
    found = model.snapshot().explain(probes())
    np.testing.assert_array_equal(found.contributions, explanation.contributions)
    np.testing.assert_array_equal(found.probabilities, explanation.probabilities)


def test_an_explanation_can_be_pickled(explanation):
    copy = pickle.loads(pickle.dumps(explanation))
    assert isinstance(copy, Explanation)
    assert copy.text(3) == explanation.text(3)


def test_what_cannot_be_explained(model):
    with pytest.raises(ValueError, match="not fitted"):
        PaperADFClassifier().explain([[1]])
    with pytest.raises(ValueError, match=r"columns|features"):
        model.explain([[1.0]])


def test_a_class_that_was_declared_but_never_seen_is_given_nothing():
    model = AdaptiveDecisionForestClassifier(random_state=0).partial_fit(
        [[1], [2]], ["b", "c"], classes=["a", "b", "c"]
    )
    found = model.explain([[1]])
    assert found.probabilities.shape == (1, 3)
    assert not found.contributions[:, :, 0].any()
    assert found.bias[0, 0] == 0


# --- the SHAP library


class Drawn(SimpleNamespace):
    """What SHAP would be given."""

    def __init__(self, values, **more):
        super().__init__(values=values, **more)


def test_what_shap_is_given(explanation, houses, monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", SimpleNamespace(Explanation=Drawn))
    given = houses.to_shap()
    np.testing.assert_allclose(given.base_values + given.values.sum(axis=1), houses.probabilities, atol=1e-9)
    assert given.feature_names == ["area", "kind", "beds"]
    assert given.output_names == ["high", "low"]
    assert given.data[1].tolist() == houses.values(1)
    numbers = AdaptiveDecisionForestClassifier(random_state=0).fit(np.eye(4), [0, 1, 0, 1]).explain(np.eye(4)).to_shap()
    assert (numbers.data.dtype, numbers.output_names) == (np.float64, ["0", "1"])


def test_without_shap_it_is_said_what_to_install(houses, monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ImportError, match=r"Explanation\.to_shap\(\) needs shap, .* with pip install shap\.$"):
        houses.to_shap()


@pytest.mark.filterwarnings("ignore")  # SHAP's own
def test_shap_draws_it(houses):
    shap, plt = pytest.importorskip("shap", exc_type=ImportError), pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    found = houses.to_shap()
    assert found[0, :, "high"].shape == (3,)
    try:
        shap.plots.waterfall(found[0, :, "high"], show=False)
        shap.plots.beeswarm(found[:, :, "high"], show=False)
        assert plt.get_fignums()
    finally:
        plt.close("all")
