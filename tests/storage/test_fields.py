"""What is written of each object: all its fields, or a reason why not; values that JSON has no notation for."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import adforest
from adforest import AdaptiveDecisionForestClassifier, BatchReport, ModelFileError
from adforest.adaptation.boxes import Box
from adforest.adaptation.class_mix import ClassMix, MixChanges
from adforest.adaptation.evidence import Evidence, OobBias
from adforest.adaptation.memory import Memory
from adforest.adaptation.recent_samples import RecentSamples
from adforest.adaptation.state import ForestState, State
from adforest.encoding import LabelTable, TableEncoder
from adforest.encoding.categories import Categories
from adforest.encoding.rates import CategoryRates
from adforest.forest import Forest, Samples, Tree
from adforest.forest.packed import PackedRows
from adforest.origins import Origins
from adforest.snapshot import FittedForests
from adforest.storage import encoders, evidence_fields, models, origin_fields, state_fields, track_fields, tree_fields
from adforest.storage.values import decode, encode, text_array
from adforest.tracking import BatchBlock, ClassLives, ColumnSketches, History, Prequential, Track
from adforest.tracking.history import FiguresOverTime
from experiments.rivals import RefitForestClassifier
from saved_models import numbers, ours


def names(fields):
    return {field.name for field in fields}


# By class: fields that are written by a line each, and those that are written or found again in another way.
WRITTEN = {
    Memory: (names(state_fields.MEMORY), {"values"}),
    PackedRows: (names(state_fields.VALUES), set()),
    # Made anew where they pay; what waits is whole batches, and was scored already.
    Samples: (names(state_fields.PENDING), {"codes", "totals", "regrouped"}),
    ClassMix: (names(state_fields.CLASS_MIX), set()),
    Box: (names(state_fields.BOX), {"categories"}),
    Forest: (names(state_fields.FOREST), {"trees", "leaf_of"}),
    ForestState: (names(state_fields.FOREST_STATE), {"forest", "box"}),
    State: (
        names(state_fields.STATE),
        {
            "settings",
            "memory",
            "forests",
            "evidence",
            "pending",
            "class_mix",
            "recent",
            "recency",
        },  # settings: parameters
    ),
    Evidence: (
        names(evidence_fields.EVIDENCE),
        {"voters", "weights", "shrinkage", "oob_bias", "mix_changes", "calibration"},
    ),
    MixChanges: (set(), {"changed", "kept", "in_a_row"}),
    OobBias: (set(), {"errors"}),
    RecentSamples: (names(state_fields.RECENT), set()),
    Tree: (
        names(tree_fields.FIELDS) - {"n_nodes", "n_words", "n_rows", "threshold", "left", "split"},
        {"nodes", "row_start", "n_leaves", "_before", "_sums"},
    ),
    TableEncoder: (
        names(encoders.ENCODER),
        {"names", "kinds", "categories", "warned_of", "estimator_name", "recycled_codes", "is_plain"}
        | {"rates", "rate_columns", "n_added"},
    ),
    CategoryRates: (names(encoders.RATES_FIELDS), {"classes"}),
    Categories: (names(encoders.CATEGORIES_FIELDS), {"index_of"}),
    LabelTable: (set(), {"by_arrival", "classes", "order"}),
    BatchReport: (set(track_fields.FIELDS), set()),
    BatchBlock: (set(track_fields.BLOCK_FIELDS), set()),
    History: (set(), {"reports", "blocks", "sustained"}),
    ClassLives: (names(track_fields.LIVES), set()),
    ColumnSketches: (names(track_fields.SKETCHES), {"over_time"}),
    FiguresOverTime: (names(track_fields.OVER_TIME), set()),
    Prequential: (names(track_fields.PREQUENTIAL), set()),
    Track: (set(), {"history", "classes", "columns", "prequential"}),
    FittedForests: (names(models.MODEL), {"encoder", "labels", "state", "track", "fixed", "origins"}),
    Origins: (
        names([origin_fields.DIGESTS, origin_fields.SIZES, origin_fields.EPOCH, origin_fields.POSITION]),
        {"target", "reading", "stream", "rule_counts", "alerts"},
    ),
}


@pytest.mark.parametrize("kind", WRITTEN, ids=lambda kind: kind.__name__)
def test_every_field_is_written(kind):
    by_line, otherwise = WRITTEN[kind]
    assert {field.name for field in dataclasses.fields(kind)} == by_line | otherwise, (
        f"{kind.__name__} has a field that model files lack: add a line in adforest.storage, see docs/model-files.md"
    )
    assert not by_line & otherwise


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        2**70,
        -1.5,
        math.inf,
        -math.inf,
        "text\ud800\0",
        [1, [2.0, "a"]],
        (1, ("a", None)),
        {1: 2.0, "a": [1], (1, 2): None},
    ],
    ids=repr,
)
def test_values_come_back_as_they_were(value):
    found = decode(encode(value, "value"), "value")
    assert found == value
    assert type(found) is type(value)


def test_nan_comes_back():
    assert math.isnan(decode(encode(np.float32("nan"), "value"), "value"))


@pytest.mark.parametrize(
    "array",
    [
        np.array([True, False]),
        np.array([1, 2], dtype=np.int16),
        np.array([2**63], dtype=np.uint64),
        np.array(["a", "bc"]),
        np.array(["a", "b"], dtype=object),
        np.array([], dtype=int),
        pd.Index(["a", "b"]),
        pd.Series([1, 2]),
    ],
    ids=repr,
)
def test_arrays_come_back_as_arrays(array):
    found = decode(encode(array, "value"), "value")
    assert isinstance(found, np.ndarray)
    assert found.tolist() == np.asarray(array).tolist()


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", 1j, np.zeros((2, 2)), pd.Timestamp("2024-01-01")], ids=repr)
def test_other_values_cannot_be_saved(value):
    with pytest.raises(ModelFileError, match="this parameter is"):
        encode(value, "this parameter")


@pytest.mark.parametrize(
    "value",
    [{}, {"a": 1}, {"float": 1}, {"tuple": 1}, {"dict": [[1]]}, {"dict": [[[], 1]]}, {"array": [1], "dtype": "O"}],
)
def test_what_stands_for_no_value(value):
    with pytest.raises(ModelFileError):
        decode(value, "value")


def test_one_long_text_does_not_make_many_short_ones_long():
    with pytest.raises(ModelFileError, match="too long"):
        text_array(["a"] * 30_000 + ["b" * 10_000], "the classes")
    assert text_array(["a", "b" * 10_000], "the classes").tolist() == ["a", "b" * 10_000]


# --- what cannot be saved


def test_a_model_that_learnt_nothing(tmp_path):
    with pytest.raises(NotFittedError):
        ours().save(tmp_path / "model.adf")
    assert not list(tmp_path.iterdir())


def test_classes_of_others(tmp_path):
    class Mine(AdaptiveDecisionForestClassifier):
        pass

    with pytest.raises(ModelFileError, match=r"Mine is none of .*\. Pickle the model instead"):
        Mine(n_estimators=2).fit(*numbers(0)).save(tmp_path / "model.adf")
    assert not hasattr(RefitForestClassifier(), "save")


def test_names_that_a_file_cannot_hold_leave_the_old_file(tmp_path):
    path = tmp_path / "model.adf"
    model = ours().fit(*numbers(0))
    model.save(path)
    before = path.read_bytes()
    X = pd.DataFrame(numbers(0)[0], columns=pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"]))
    with pytest.raises(ModelFileError, match=r"a column's name is Timestamp.*which a model file cannot hold"):
        ours().fit(X, numbers(0)[1]).save(path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["model.adf"]


def test_parameters_that_are_none(tmp_path):
    model = ours().fit(*numbers(0)).set_params(window_size="long")
    with pytest.raises(ValueError, match=r"window_size of .* is 'long'"):
        model.save(tmp_path / "model.adf")


def test_classes_of_a_type_that_is_too_wide(tmp_path):
    X, y = numbers(0)
    model = ours().fit(X, y.astype(np.longdouble))
    if model.classes_.dtype.itemsize > 8:
        with pytest.raises(ModelFileError, match="Use int64 or text"):
            model.save(tmp_path / "model.adf")


def test_a_path_may_be_text(tmp_path):
    model = ours().fit(*numbers(0))
    model.save(f"{tmp_path}/model.adf")
    assert adforest.load(f"{tmp_path}/model.adf").n_features_in_ == 3
