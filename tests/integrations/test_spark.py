"""The forest on a local Spark with Python workers of its own: the same model as without Spark, and its answers."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import adforest
from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from documents import run_section
from parted_batches import cut, evenly, mixed_batch, saved
from rated_films import ratings
from spark_frames import framed, needs_java, session

pytest.importorskip("pyspark", reason="pyspark is not installed: run make test-spark")

from pyspark.sql import functions

from adforest.integrations.spark import SparkAdaptiveDecisionForest

pytestmark = [needs_java, pytest.mark.filterwarnings("default")]  # the warnings are Spark's own


def texts(y):
    """Return labels as a column of text has them."""
    return pd.Series(y, dtype=object)


def learnt_here(batches, **parameters):
    model = AdaptiveDecisionForestClassifier(5, random_state=0, **parameters)
    for X, y, weight in batches:
        model.partial_fit(X, texts(y), sample_weight=weight)
    return model


def learnt_there(frames, weight_col=None, **parameters):
    model = SparkAdaptiveDecisionForest(5, random_state=0, **parameters)
    for df in frames:
        model.partial_fit(df, "label", weight_col)
    return model


@pytest.fixture(scope="module")
def batches():
    return [mixed_batch(number) for number in range(5)]


@pytest.fixture(scope="module")
def here(batches):
    return learnt_here(batches)


@pytest.mark.parametrize("n_parts", [1, 2, 7, 13])
def test_the_model_is_the_same_from_any_partitions(batches, here, n_parts):
    there = learnt_there([framed(evenly(batch, n_parts)) for batch in batches])
    X = mixed_batch(9)[0]
    np.testing.assert_array_equal(there.predict_proba(X), here.predict_proba(X))
    assert saved(there) == saved(here)


def test_class_rates_of_categories():
    batches = [(X, y, None) for X, y in ratings(6, n=600, n_users=150, n_films=150, says=2.0)]
    schema, frames = "user string, film string, number double, label string", []
    for X, y, _ in batches:
        rows = list(X.assign(label=y).itertuples(index=False, name=None))
        frames.append(session().createDataFrame(session().sparkContext.parallelize(rows, 5), schema))
    here, there = learnt_here(batches), learnt_there(frames)
    assert here._model.encoder.rate_columns
    assert saved(there) == saved(here)


def test_it_is_the_same_with_weights_empty_partitions_and_a_sample(monkeypatch):
    monkeypatch.setattr("adforest.integrations._spark_parts.FAN_IN", 2)  # counts are merged on workers, twice
    batches = [mixed_batch(number, 1_500, weighed=True) for number in range(3)]
    frames = [framed(cut(batch, [0, 10, 10, 1_200])) for batch in batches]
    here, there = learnt_here(batches, max_samples=1_000), learnt_there(frames, "weight", max_samples=1_000)
    assert saved(there) == saved(here)
    assert saved(there) != saved(learnt_here(batches).set_params(max_samples=1_000))


def test_trees_are_the_same_that_are_built_on_workers(monkeypatch, batches):
    monkeypatch.setattr("adforest.growers.spreading.WORTH_SENDING", 1)
    there = learnt_there([framed(evenly(batch, 3)) for batch in batches[:2]])
    monkeypatch.undo()
    assert saved(there) == saved(learnt_here(batches[:2]))


def test_a_model_goes_on_wherever_it_is_taken(tmp_path, batches, here):
    frames = [framed(evenly(batch, 2)) for batch in batches]
    model = SparkAdaptiveDecisionForest.from_local(learnt_here(batches[:1]))
    model = pickle.loads(pickle.dumps(model.partial_fit(frames[1], "label")))
    model.partial_fit(frames[2], "label").save(tmp_path / "model.adf")
    model = SparkAdaptiveDecisionForest.load(tmp_path / "model.adf").partial_fit(frames[3], "label").to_local()
    assert type(model) is AdaptiveDecisionForestClassifier
    assert type(adforest.load(tmp_path / "model.adf")) is AdaptiveDecisionForestClassifier
    assert saved(model.partial_fit(batches[4][0], texts(batches[4][1]))) == saved(here)


def test_fit_forgets(batches, here):
    model = SparkAdaptiveDecisionForest.from_local(here).fit(framed(evenly(batches[0], 2)), "label")
    assert saved(model) == saved(learnt_here(batches[:1]))
    assert here.history_[-1].batch == 5


def test_answers_are_those_of_the_local_model(here):
    X, y, _ = mixed_batch(9)
    df = framed(evenly((X, y, None), 3)).withColumn("a.b `c`", functions.lit(1))
    answered = SparkAdaptiveDecisionForest.from_local(here).transform(df)
    assert answered.columns == [*df.columns, "prediction", "probability", "confidence"]
    found, shares = answered.toPandas(), here.predict_proba(X)
    assert found["prediction"].tolist() == here.predict(X).tolist()
    np.testing.assert_array_equal(np.stack(found["probability"]), shares)
    np.testing.assert_array_equal(found["confidence"], shares.max(axis=1))
    assert found["label"].tolist() == y.tolist()
    assert set(found["a.b `c`"]) == {1}


@pytest.mark.parametrize(
    ("labels", "kind"), [([True, False], "boolean"), ([3, 70_000], "bigint"), ([1.0, 2.0], "double")]
)
def test_predictions_are_of_the_type_of_the_labels(labels, kind):
    df = session().createDataFrame([(float(n), labels[n % 2]) for n in range(40)], f"x double, label {kind}")
    answered = SparkAdaptiveDecisionForest(5, random_state=0).fit(df, "label").transform(df)
    assert dict(answered.dtypes)["prediction"] == kind
    assert set(answered.toPandas()["prediction"]) == set(labels)


def test_answers_are_lazy_and_read_the_samples_once(tmp_path, here):
    log, (X, y, _) = Path(tmp_path) / "log", mixed_batch(9, 500)

    def logged(batches):
        for batch in batches:
            with log.open("a") as file:
                file.write(f"{batch.num_rows}\n")
            yield batch

    df = framed(evenly((X, y, None), 2))
    model = SparkAdaptiveDecisionForest.from_local(here)
    answered = model.transform(df.mapInArrow(logged, df.schema))
    model.fit(df.limit(50), "label")
    assert not log.exists()
    assert [row.prediction for row in answered.collect()] == here.predict(X).tolist()
    assert sum(map(int, log.read_text().split())) == 500


def test_scores_are_those_of_the_local_model(here):
    X, y, weight = mixed_batch(9, weighed=True)
    df, model = framed(cut((X, y, weight), [100, 100, 120])), SparkAdaptiveDecisionForest.from_local(here)
    assert model.score(df, "label") == here.score(X, y)
    assert model.score(df, "label", "weight") == pytest.approx(here.score(X, y, weight), rel=1e-15)


def test_answers_may_lack_columns_if_the_model_may(batches, here):
    df = framed(evenly(batches[4], 2)).drop("town")
    model = SparkAdaptiveDecisionForest.from_local(here)
    with pytest.raises(ValueError, match="df has no column 'town'; its columns are 'size', 'count', 'late'"):
        model.transform(df)
    found = model.set_params(column_changes="allow").transform(df).toPandas()
    local = model.to_local()
    assert found["prediction"].tolist() == local.predict(batches[4][0].drop(columns="town")).tolist()


def spoilt(column, value):
    """Return a DataFrame of four partitions, one value of which is wrong."""
    parts = [
        tuple(None if one is None else one.copy() for one in part) for part in evenly(mixed_batch(1, weighed=True), 4)
    ]
    X, y, weight = parts[2]
    if column == "label":
        parts[2] = (X, np.where(np.arange(len(y)) == 5, value, y.astype(object)), weight)
    elif column == "weight":
        weight[5] = value
    else:
        X.loc[X.index[5], column] = value
    return framed(parts)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("size", np.inf, r"'size' of partition 2 of batch 2"),
        ("label", None, r"labels of partition 2 of batch 2"),
        ("weight", -1.0, r"sample_weight of partition 2 of batch 2 is -1.0 for sample 5"),
    ],
)
def test_an_error_names_the_partition_and_leaves_the_model(batches, column, value, message):
    model = SparkAdaptiveDecisionForest.from_local(learnt_here(batches[:1]))
    before = saved(model)
    with pytest.raises(ValueError, match=message) as raised:
        model.partial_fit(spoilt(column, value), "label", "weight")
    assert "java" not in str(raised.value).lower()
    assert len(str(raised.value)) < 400
    assert saved(model) == before


def test_a_batch_without_samples_is_an_error(batches):
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        SparkAdaptiveDecisionForest().partial_fit(framed(evenly(batches[0], 2)).limit(0), "label")


def test_columns_that_do_not_fit_are_named(batches, here):
    df, model = framed(evenly(batches[0], 2)), SparkAdaptiveDecisionForest.from_local(here)
    with pytest.raises(ValueError, match="df has no column 'class'; its columns are 'size'"):
        model.partial_fit(df, "class")
    with pytest.raises(ValueError, match="df has 2 columns named 'label'"):
        model.partial_fit(df.select("*", "label"), "label")
    with pytest.raises(TypeError, match="column 'pair' holds array<double>; expected numbers, text"):
        model.partial_fit(df.withColumn("pair", functions.array("size", "size")), "label")
    with pytest.raises(ValueError, match="df has a column 'confidence' already"):
        model.transform(df.withColumn("confidence", functions.lit(1)))
    with pytest.raises(TypeError, match="the labels of partition 0 of these samples are numbers"):
        model.score(df.withColumn("label", functions.lit(1)), "label")


def test_what_is_no_frame_of_samples(here):
    model, X = SparkAdaptiveDecisionForest.from_local(here), mixed_batch(9)[0]
    with pytest.raises(TypeError, match=r"df is a pandas.DataFrame; expected a DataFrame of Spark"):
        model.partial_fit(X, "town")
    with pytest.raises(TypeError, match=r"df is a stream, which has no end. Learn from a stream with foreach_batch"):
        model.partial_fit(session().readStream.format("rate").load(), "value")
    with pytest.raises(TypeError, match="model is of type PaperADFClassifier"):
        SparkAdaptiveDecisionForest.from_local(PaperADFClassifier())


def test_the_examples_of_the_page_run():
    session()
    names = run_section("Learn and predict", "docs/spark.md")
    assert names["accuracy"] == 1
    assert names["local"].classes_.tolist() == ["off", "work"]
    assert names["predicted"].columns[-3:] == ["prediction", "probability", "confidence"]
