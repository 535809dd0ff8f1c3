"""Text that reads as numbers, booleans or dates is learnt as categories, but never silently."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from adforest import AdaptiveDecisionForestClassifier
from adforest.encoding.text_columns import read_as
from adforest.reading import read_batches
from encoded_tables import extend_table, learn_table
from table_files import write_text

RNG = np.random.default_rng(0)
NUMBERS = RNG.uniform(-5_000, 5_000, 400).round(2)
DAYS = pd.date_range("2024-01-01", periods=400)
GERMAN = str.maketrans(",.", ".,")

WRITTEN = {  # texts, and what they stand for
    "plain": ([f"{x}" for x in NUMBERS], NUMBERS),
    "thousands": ([f"{x:,.2f}" for x in NUMBERS], NUMBERS),
    "decimal comma": ([f"{x:.2f}".translate(GERMAN) for x in NUMBERS], NUMBERS),
    "both": ([f"{x:,.2f}".translate(GERMAN) for x in NUMBERS], NUMBERS),
    "spaces": ([f"{x:,.2f}".replace(",", " ") for x in NUMBERS], NUMBERS),
    "currency": ([f"${abs(x):,.2f}" for x in NUMBERS], abs(NUMBERS)),
    "per cent": ([f"{x}%" for x in NUMBERS], NUMBERS),
    "codes": ([f"{n:05d}" for n in range(400)], np.arange(400.0)),
    "with gaps": (["n/a", "?", *(f"{x}" for x in NUMBERS)], np.append([np.nan, np.nan], NUMBERS)),
    "booleans": (["true", "False", "TRUE"], np.array([1.0, 0.0, 1.0])),
    "days": ([str(day)[:10] for day in DAYS], DAYS.to_numpy()),
    "moments": ([f"{day:%Y-%m-%dT%H:%M:%S}" for day in DAYS], DAYS.to_numpy()),
    "moments in a zone": ([f"{day:%Y-%m-%d %H:%M:%S}+00:00" for day in DAYS], DAYS.to_numpy()),
    "German days": ([f"{day:%d.%m.%Y}" for day in DAYS], DAYS.to_numpy()),
    "American days": ([f"{day:%m/%d/%Y}" for day in DAYS], DAYS.to_numpy()),
}


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("dtype", ["object", "str", "string"])
def test_the_cure_does_what_it_says(written, dtype):
    texts, meant = WRITTEN[written]
    X = pd.DataFrame({"a": pd.Series(texts, dtype=dtype)})
    reading = read_as(list(dict.fromkeys(texts)), "X['a']")
    cured = eval(reading.cure, {"pd": pd, "X": X})
    if reading.kind == "dates":
        cured = cured.dt.tz_localize(None)
    np.testing.assert_array_equal(cured.astype(meant.dtype).to_numpy(), meant)


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_text_that_reads_as_something_else_is_named_once(written, frame):
    texts = WRITTEN[written][0]
    X = frame({"size": [float(i) for i in range(len(texts))], "a": texts})
    with pytest.warns(UserWarning, match="reads as") as caught:
        encoder, _ = learn_table(X)
    (warning,) = [str(one.message) for one in caught]
    shown = ", ".join(map(repr, [text for text in texts if text not in ("n/a", "?")][:3]))
    assert "column 'a' of batch 1 holds text that reads as" in warning
    assert f"({shown})" in warning
    assert warning.endswith(
        "make the column a category, X['a'].astype('category'), or list it in categorical_features."
    )
    extend_table(encoder, X, batch=2)


@pytest.mark.parametrize(
    "texts",
    [
        ["low", "high"],
        ["A1", "B2", "C3"],
        ["-", "none"],
        ["1", "2", "many", "few"],
        ["10-20", "20-30"],
        ["12:30", "13:45"],
        ["192.168.0.1", "10.0.0.1"],
        ["3.11.7", "3.12.0"],
        ["yes", "no"],
        ["2024-Q1", "2024-Q2"],
    ],
)
def test_names_are_names(texts):
    assert read_as(texts, "X['a']") is None


def test_categories_that_the_user_chose_are_not_doubted():
    codes = ["01234", "99999", "01234"]
    chosen = [
        pd.DataFrame({"zip": pd.Categorical(codes)}),
        pl.DataFrame({"zip": pl.Series(codes, dtype=pl.Categorical)}),
        pl.DataFrame({"zip": pl.Series(codes, dtype=pl.Enum(["01234", "99999"]))}),
        pa.table({"zip": pa.array(codes).dictionary_encode()}),
    ]
    for X in chosen:
        assert learn_table(X)[0].category_values(0) == ["01234", "99999"]
        many = pa.table({"zip": pa.chunked_array([pa.array(codes * 500).dictionary_encode()])})
    assert learn_table(many)[0].category_values(0) == ["01234", "99999"]
    learn_table(pd.DataFrame({"zip": codes}), ["zip"])


def test_a_column_is_judged_when_its_kind_is_decided():
    encoder, _ = learn_table(pd.DataFrame({"a": [1.0, 2.0], "b": [None, None]}))
    with pytest.warns(UserWarning, match=r"column 'b' of batch 2 .* reads as numbers \('1,5', '2,5'\)"):
        encoder, _ = extend_table(encoder, pd.DataFrame({"a": [1.0, 2.0], "b": ["1,5", "2,5"]}), batch=2)
    extend_table(encoder, pd.DataFrame({"a": [1.0, 2.0], "b": ["1,5", "3,5"]}), batch=3)


def test_one_warning_is_enough():
    # It would be said as well that the column identifies samples: drop it.
    texts = [f"{x}" for x in range(200)]
    with pytest.warns(UserWarning, match="reads as numbers") as caught:
        learn_table(pd.DataFrame({"a": texts}))
    assert len(caught) == 1


def test_the_warning_points_at_the_caller_and_the_cure_helps():
    y = np.where(NUMBERS > 0, "high", "low")
    X = pd.DataFrame({"a": [f"{x:,.2f}" for x in NUMBERS]})
    model = AdaptiveDecisionForestClassifier(n_estimators=5, random_state=0)
    with pytest.warns(UserWarning, match="reads as numbers") as caught:
        model.fit(X[:200], y[:200])
    assert caught[0].filename == __file__
    cured = X.assign(a=pd.to_numeric(X["a"].str.replace(",", ""), errors="coerce"))
    right = AdaptiveDecisionForestClassifier(n_estimators=5, random_state=0).fit(cured[:200], y[:200])
    assert right.score(cured[200:], y[200:]) > 0.95 > model.score(X[200:], y[200:]) + 0.2


def test_one_mark_in_a_column_of_numbers_names_the_way_out():
    X = pd.DataFrame({"a": pd.Series([1.5, "n/a", 2.5, "?"], dtype=object)})
    with pytest.raises(TypeError) as caught:
        learn_table(X)
    assert str(caught.value) == (
        "column 'a' of batch 1 holds numbers (1.5) and text ('n/a', '?'); expected all numbers or all text. If they "
        "are numbers, convert the column with pd.to_numeric(..., errors='coerce'), which makes the text missing; if "
        "they are categories, convert the whole column to text."
    )
    assert learn_table(X.apply(pd.to_numeric, errors="coerce"))[0].kinds == ("numbers",)


def test_a_thousand_values_are_looked_at():
    texts = [f"{x}" for x in range(1_000)] + [f"name {x}" for x in range(10_000)]
    assert read_as(texts, "X['a']").kind == "numbers"


# --- the same from files


def test_columns_listed_for_the_reader_are_not_doubted(tmp_path):
    write_text(tmp_path, {"1.csv": "zip,y\n01234,a\n99999,b\n", "2.csv": "zip,y\n01234,a\n55555,b\n"})
    model = AdaptiveDecisionForestClassifier(n_estimators=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for batch in read_batches(tmp_path, target="y", categorical=["zip"], batch_size=3):
            model.partial_fit(batch.X, batch.y)
    assert model._model.encoder.category_values(0) == ["01234", "99999", "55555"]


def test_nominal_attributes_are_not_doubted(tmp_path):
    text = "@relation r\n@attribute a {1, 2}\n@attribute y {u, v}\n@data\n1,u\n2,v\n"
    (batch,) = read_batches(write_text(tmp_path, {"x.arff": text}), target="y")
    assert learn_table(batch.X)[0].category_values(0) == ["1", "2"]


def test_files_that_hold_numbers_as_text_are_told_of(tmp_path):
    write_text(tmp_path, {"x.jsonl": '{"a": "1.5", "y": "u"}\n{"a": "2.5", "y": "v"}\n'})
    (batch,) = read_batches(tmp_path, target="y")
    with pytest.warns(UserWarning, match=r"column 'a' of batch 1 holds text that reads as numbers \('1.5', '2.5'\)"):
        learn_table(batch.X)
