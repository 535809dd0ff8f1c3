"""What goes into a graph and what comes out: names, text, dates, missing values, labels of every kind."""

import numpy as np
import onnx
import pandas as pd
import pytest

from adforest import AdaptiveDecisionForestClassifier
from adforest.integrations.onnx import to_onnx
from exported_models import LABELS, assert_same_answers, feed, run
from rated_films import ratings

TYPES = {onnx.TensorProto.STRING: "text", onnx.TensorProto.DOUBLE: "double"}


def inputs_of(graph):
    return {one.name: TYPES[one.type.tensor_type.elem_type] for one in graph.graph.input}


def frame(seed, n=200, n_names=8):
    rng = np.random.default_rng(seed)
    code = rng.integers(0, n_names, n)
    X = pd.DataFrame({"name": [f"é{one}" for one in code], "grade": code * 0.5, "size": rng.normal(size=n)})
    return X, np.where(rng.random(n) < 0.1, 0, (code % 3 + (X["size"] > 0)).to_numpy())


def learnt(X, y, **parameters):
    return AdaptiveDecisionForestClassifier(4, random_state=0, **parameters).fit(X, y)


def test_each_column_of_a_table_is_an_input_of_its_name():
    X, y = frame(0)
    graph = to_onnx(learnt(X, y))
    assert inputs_of(graph) == {"name": "text", "grade": "double", "size": "double"}
    shapes = [[place.dim_value for place in one.type.tensor_type.shape.dim] for one in graph.graph.input]
    assert shapes == [[0, 1]] * 3


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (None, ["x0", "x1", "x2"]),
        ([0, 1, 2], ["x0", "x1", "x2"]),
        ([3, 1, 2], ["3", "1", "2"]),
        ([("a", 1), ("a", 2), ("b", 1)], ["('a', 1)", "('a', 2)", "('b', 1)"]),
        (["X", "Sum_1", "constant_0"], ["X", "Sum_1", "constant_0"]),
    ],
)
def test_columns_without_names_are_numbered_and_others_written_out(names, expected):
    X, y = frame(0)
    table = X.to_numpy(object) if names is None else X.set_axis(pd.Index(names), axis=1)
    model = learnt(table, y)
    graph = to_onnx(model)
    assert list(inputs_of(graph)) == expected
    assert_same_answers(model, table, *run(graph, feed(X.set_axis(expected, axis=1))))


def test_numbers_of_a_data_frame_are_inputs_of_their_own():
    X, y = frame(0)
    model = learnt(X[["grade", "size"]], y)
    graph = to_onnx(model)
    assert inputs_of(graph) == {"grade": "double", "size": "double"}
    assert_same_answers(model, X[["grade", "size"]], *run(graph, feed(X[["grade", "size"]])))


@pytest.mark.parametrize("max_categories", [None, 4])
@pytest.mark.parametrize("column", ["name", "grade"])
def test_unseen_categories_and_missing_values_take_the_sides_they_take_in_the_model(column, max_categories):
    X, y = frame(0)
    model = learnt(X, y, categorical_features=["name", "grade"], max_categories=max_categories)
    fresh, _ = frame(1, n_names=12)
    fresh.loc[::3, column] = None
    codes = model._model.encoder.translate(fresh)
    assert len(np.unique(codes[:, list(X).index(column)])) == (9 if max_categories is None else 5)
    assert_same_answers(model, fresh, *run(to_onnx(model), feed(fresh)))


def test_a_value_that_is_no_longer_frequent_is_grouped_in_the_graph_too():
    model = AdaptiveDecisionForestClassifier(4, max_categories=3, random_state=0)
    for first in (0, 4, 8):
        X, y = frame(first)
        codes = np.random.default_rng(first).integers(first, first + 4, len(X))
        X["name"] = [f"é{code}" for code in codes]
        model.partial_fit(pd.concat([X] * (1 + first)), np.tile(y, 1 + first))
    X["name"] = [f"é{place % 14}" for place in range(len(X))]
    assert_same_answers(model, X, *run(to_onnx(model), feed(X)))


def test_codes_that_were_given_back_have_no_value_in_a_graph(monkeypatch):
    monkeypatch.setattr("adforest.encoding.categories.MAX_VALUES", 6)
    model = AdaptiveDecisionForestClassifier(4, random_state=0)
    for first in (0, 4, 8):
        X, y = frame(first, n_names=4)
        X["name"] = [f"é{first + int(name[1:])}" for name in X["name"]]
        model.partial_fit(X, y)
    assert len(model._model.encoder.categories[0].index_of) <= 6
    X["name"] = [f"é{place % 14}" for place in range(len(X))]
    assert_same_answers(model, X, *run(to_onnx(model), feed(X)))


def test_missing_text_can_be_chosen_and_must_not_be_a_category():
    X, y = frame(0)
    X.loc[X["name"] == "é1", "name"] = ""
    model = learnt(X, y, max_categories=4)
    with pytest.raises(ValueError, match=r"'' is a category of column 'name', .* Pass another missing_text\."):
        to_onnx(model)
    fresh = X.copy()
    fresh.loc[::4, "name"] = None
    graph = to_onnx(model, missing_text="<none>")
    assert_same_answers(model, fresh, *run(graph, feed(fresh, missing_text="<none>")))
    with pytest.raises(TypeError, match="missing_text is None; expected the text"):
        to_onnx(model, missing_text=None)


@pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
def test_dates_and_durations_are_seconds(zone):
    rng = np.random.default_rng(0)
    seconds = rng.integers(0, 10**7, 300)
    X = pd.DataFrame({"when": pd.to_datetime(seconds, unit="s", utc=True), "span": pd.to_timedelta(seconds % 999, "s")})
    X["when"] = X["when"].dt.tz_convert(zone)
    y = seconds // 10**6 % 2 + (seconds % 999 > 500)
    X.loc[::7, "when"] = None
    model = learnt(X, y)
    graph = to_onnx(model)
    assert inputs_of(graph) == {"when": "double", "span": "double"}
    when = np.where(np.arange(300) % 7 == 0, np.nan, seconds).astype(np.float64)
    fed = {"when": when[:, None], "span": (seconds % 999).astype(np.float64)[:, None]}
    assert_same_answers(model, X, *run(graph, fed))


def test_columns_without_any_value_take_whatever_comes():
    X, y = frame(0)
    X = X.assign(void=None, later=np.nan)
    model = learnt(X, y, categorical_features=["name", "void"])
    graph = to_onnx(model)
    assert inputs_of(graph) == dict.fromkeys(X, "double") | {"name": "text"}
    expected = model.predict_proba(X)
    for value in (np.nan, 5.0):
        fed = feed(X[["name", "grade", "size"]]) | {name: np.full((200, 1), value) for name in ("void", "later")}
        np.testing.assert_allclose(run(graph, fed)[1], expected, atol=1e-6)


def test_columns_that_came_later_are_inputs_too():
    X, y = frame(0)
    model = AdaptiveDecisionForestClassifier(4, column_changes="allow", random_state=0).partial_fit(X[["name"]], y)
    model.partial_fit(*frame(1))
    assert_same_answers(model, X, *run(to_onnx(model), feed(X)))


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        (LABELS["text"][:3], object),
        (LABELS["text"][:3].astype(str), object),
        (np.array(["a", "b\0", "b"], dtype=object), object),
        (LABELS["int"][:3].astype(np.int8), np.int64),
        (np.array([5, 2**63 + 1, 2**64 - 1], dtype=np.uint64), np.uint64),
        (np.array([5, 1, 3], dtype=np.uint64), np.int64),
        (np.array([False, True, True]), np.bool_),
        (LABELS["float"][:3].astype(np.float32), np.float64),
    ],
)
def test_labels_come_out_as_what_they_are(labels, dtype):
    X, y = frame(0)
    model = learnt(X, labels[y % 3])
    label, probabilities = run(to_onnx(model), feed(X))
    assert label.dtype == dtype
    assert_same_answers(model, X, label, probabilities)


def test_outputs_can_be_called_otherwise():
    X, y = frame(0)
    graph = to_onnx(learnt(X, y), output_names=("class", "shares"))
    assert [one.name for one in graph.graph.output] == ["class", "shares"]


@pytest.mark.parametrize("names", [("a", "a"), ("a",), ("", "b"), (1, "b")])
def test_output_names_that_are_no_names(names):
    X, y = frame(0)
    with pytest.raises(ValueError, match=r"output_names is .*; expected two different texts"):
        to_onnx(learnt(X, y), output_names=names)


def test_a_column_cannot_be_called_as_an_output_is():
    X, y = frame(0)
    model = learnt(X.rename(columns={"size": "label"}), y)
    with pytest.raises(ValueError, match=r"column 'label' is called as an output is\. Pass other output_names"):
        to_onnx(model)
    assert "label" in inputs_of(to_onnx(model, output_names=("class", "shares")))


def test_a_column_without_a_name_to_write_is_refused():
    X, y = frame(0)
    with pytest.raises(ValueError, match=r"1 columns would be inputs of the name ''.* Rename the columns"):
        to_onnx(learnt(X.rename(columns={"size": ""}), y))


@pytest.mark.parametrize("place", ["category", "label"])
def test_text_that_is_no_unicode_is_refused(place):
    X, y = frame(0)
    X, y = X.to_numpy(object), y.astype(str).astype(object)
    if place == "category":
        X[0, 0] = "\ud800"
    else:
        y[0] = "\ud800"
    with pytest.raises(ValueError, match=r"holds '\\ud800', which cannot be written as UTF-8 .* ONNX knows no other"):
        to_onnx(learnt(X, y))


@pytest.mark.parametrize("parameters", [{}, {"max_categories": 120}, {"categorical_features": ["user", "film"]}])
def test_class_rates_of_categories_are_tables_in_the_graph(parameters):
    batches, (last, _) = (found := ratings(8, n_users=150, n_films=150, classes=("a", "b", "c")))[:-1], found[-1]
    strange = last.copy()
    strange.loc[:20, "user"], strange.loc[10:40, "film"] = None, "never seen"
    if "categorical_features" in parameters:  # categories that are numbers
        batches = [(X.assign(user=X["user"].str[1:].astype(float)), y) for X, y in batches]
        strange["user"] = strange["user"].str[1:].astype(float)
        strange.loc[50:60, "user"] = -7.0
    model = AdaptiveDecisionForestClassifier(4, random_state=0, **parameters)
    for X, y in batches:
        model.partial_fit(X, y)
    assert len(model._model.encoder.rate_columns) > 2
    graph = to_onnx(model)
    assert list(inputs_of(graph)) == ["user", "film", "number"]
    assert_same_answers(model, strange, *run(graph, feed(strange)))
