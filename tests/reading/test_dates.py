"""Dates and durations in files are learnt as they are from data frames: as seconds."""

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from adforest import AdaptiveDecisionForestClassifier
from adforest.reading import read_batches
from encoded_tables import learn_table
from table_files import until_error, write_text

MOMENTS = pd.date_range("2024-01-31", periods=60, freq="31h", unit="us")
FRAME = pd.DataFrame({"when": MOMENTS, "y": np.where(MOMENTS.month > 2, "late", "early")})


def learnt(X):
    encoder, matrix = learn_table(X)
    return encoder.kinds, matrix


def write(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".jsonl":
        frame.assign(when=frame["when"].astype(str)).to_json(path, orient="records", lines=True)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".feather":
        feather.write_feather(pa.Table.from_pandas(frame), path)
    else:
        rows = "".join(f"'{when:%Y-%m-%dT%H:%M:%S}',{y}\n" for when, y in frame.itertuples(index=False))
        path.write_text(f"@relation r\n@attribute when date\n@attribute y {{early,late}}\n@data\n{rows}")


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "feather", "arff"])
@pytest.mark.parametrize("batch_size", [None, 25])
def test_files_and_frames_make_the_same_model(tmp_path, suffix, batch_size):
    write(FRAME[:30], tmp_path / f"1.{suffix}")
    write(FRAME[30:], tmp_path / f"2.{suffix}")
    batches = list(read_batches(tmp_path, target="y", batch_size=batch_size))
    X = pd.concat([batch.X.to_pandas() for batch in batches], ignore_index=True)
    kinds, matrix = learnt(X)
    expected_kinds, expected = learnt(FRAME[["when"]])
    assert kinds == expected_kinds == ("dates",)
    np.testing.assert_array_equal(matrix, expected)
    from_files, from_frames = (AdaptiveDecisionForestClassifier(n_estimators=3, random_state=0) for _ in range(2))
    start = 0
    for batch in batches:
        from_files.partial_fit(batch.X, batch.y)
        part = FRAME[start : start + len(batch.y)]
        from_frames.partial_fit(part[["when"]], part["y"])
        start += len(batch.y)
    np.testing.assert_array_equal(from_files.predict_proba(FRAME[["when"]]), from_frames.predict_proba(FRAME[["when"]]))


@pytest.mark.parametrize(
    ("column", "kind", "seconds"),
    [
        (pa.array([0, 1], pa.date32()), "dates", [0, 86400]),
        (pa.array([0, None], pa.date64()), "dates", [0, np.nan]),
        (pa.array([0, 1_500], pa.timestamp("ms")), "dates", [0, 1.5]),
        (pa.array([0, 1_500], pa.timestamp("ns")), "dates", [0, 1.5e-6]),
        (pa.array([0, 1], pa.timestamp("s", "Europe/Berlin")), "dates with a time zone", [0, 1]),
        (pa.array([0, 1_500], pa.duration("ns")), "durations", [0, 1.5e-6]),
        (pa.array([0, 2], pa.duration("s")), "durations", [0, 2]),
        (pa.array([dt.datetime(9999, 12, 31), None]), "dates", [253402214400, np.nan]),
    ],
)
def test_types_of_parquet(tmp_path, column, kind, seconds):
    parquet.write_table(pa.table({"a": column, "y": [0, 1]}), tmp_path / "x.parquet", store_schema=True)
    (batch,) = read_batches(tmp_path, target="y")
    kinds, matrix = learnt(batch.X)
    assert kinds == (kind,)
    np.testing.assert_allclose(matrix[:, 0], seconds, rtol=1e-15)


def test_days_and_moments_are_one_kind(tmp_path):
    write_text(tmp_path, {"1.csv": "a,y\n2024-01-31,u\n", "2.csv": "a,y\n2024-01-31 12:00:00.25,u\n,u\n"})
    found = [batch.X.column("a").to_pylist() for batch in read_batches(tmp_path, target="y")]
    assert found == [[dt.datetime(2024, 1, 31)], [dt.datetime(2024, 1, 31, 12, 0, 0, 250_000), None]]


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        ("?", r"Pass na_values=\['\?'\] if that stands for a missing value, or categorical=\['a'\]"),
        ("soon", r"Write dates as 2024-01-31 .*; pass na_values=\['soon'\]"),
        ("2024-01-31T12:00Z", "all with a time zone or none"),
        ("7", "Write dates as 2024-01-31"),
    ],
)
def test_what_is_no_date_is_named_by_its_line(tmp_path, value, remedy):
    write_text(tmp_path, {"1.csv": "a,y\n2024-01-31,u\n", "2.csv": f"a,y\n2024-02-01,u\n{value},u\n"})
    found = read_batches(tmp_path, target="y")
    dates = [next(found).X.column("a").to_pylist() for _ in range(2)]
    with pytest.raises(ValueError, match=remedy) as caught:
        next(found)
    assert dates == [[dt.datetime(2024, 1, 31)], [dt.datetime(2024, 2, 1)]]
    place = f"line 3 of '{tmp_path / '2.csv'}' holds {value!r} in column 'a'"
    assert str(caught.value).startswith(f"{place}; expected a date or time, as in other records. ")


def test_dates_do_not_become_numbers_or_get_a_zone(tmp_path):
    parquet.write_table(pa.table({"a": pa.array([0], pa.date32()), "y": [0]}), tmp_path / "1.parquet")
    for other in (pa.array([1]), pa.array([0], pa.timestamp("us", "UTC")), pa.array([0], pa.duration("s"))):
        parquet.write_table(pa.table({"a": other, "y": [0]}), tmp_path / "2.parquet")
        with pytest.raises(ValueError, match=r"column 'a' of '.*2\.parquet' holds .*; expected dates or times"):
            list(read_batches(tmp_path, target="y"))


def test_dates_that_an_arff_file_writes_in_its_own_way_are_refused(tmp_path):
    text = "@relation r\n@attribute d date 'yyyy'\n@attribute y {a}\n@data\n2001,a\n"
    _, _, error = until_error(read_batches(write_text(tmp_path, {"x.arff": text}), target="y"))
    assert "line 5 of" in error
    assert "expected a date such as 2024-01-31" in error
