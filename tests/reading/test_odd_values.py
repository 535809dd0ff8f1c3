import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv, parquet

from adforest.encoding.odd_values import NumberFormat, are_nearly_numbers, is_missing_mark
from adforest.reading import read_batches
from table_files import joined, until_error, write_text

PLAIN = NumberFormat(".", None)
NUMBERS = "".join(f"{n},u\n" for n in range(20))
TEXT = "or categorical=['a'] to read the column as text."
REMEDIES = {
    "?": f"Pass na_values=['?'] if that stands for a missing value, {TEXT}",
    " - ": f"Pass na_values=[' - '] if that stands for a missing value, {TEXT}",
    "None": f"Pass na_values=['None'] if that stands for a missing value, {TEXT}",
    "1,000": f"Pass thousands=',' if it is a number, {TEXT}",
    "-12,345.5": f"Pass thousands=',' if it is a number, {TEXT}",
    "1 000": f"Pass thousands=' ' if it is a number, {TEXT}",
    "1,5": f"Pass decimal=',' if it is a number, {TEXT}",
    "1.000,5": f"Pass decimal=',' and thousands='.' if it is a number, {TEXT}",
    "10%": f"Write it as a plain number, {TEXT.replace('or ', 'or pass ', 1)}",
    "-$1,000.50": f"Write it as a plain number, {TEXT.replace('or ', 'or pass ', 1)}",
    "many": "Correct the value, pass na_values=['many'] if it stands for a missing one, or categorical=['a'] to read "
    "the whole column as text.",
}


# --- the messages


@pytest.mark.parametrize("batch_size", [None, 7])
@pytest.mark.parametrize("value", REMEDIES)
def test_an_odd_value_in_the_first_file_is_named_at_once(tmp_path, value, batch_size):
    path = write_text(tmp_path, {"x.csv": f'a,y\n{NUMBERS}\n\n"{value}",u\n{NUMBERS}'}) / "x.csv"
    with pytest.raises(ValueError) as caught:
        read_batches(path, target="y", batch_size=batch_size)
    assert str(caught.value) == (
        f"line 24 of '{path}' holds {value!r} in column 'a'; expected a number, as in other records. {REMEDIES[value]}"
    )


@pytest.mark.parametrize("batch_size", [None, 7, 1000])
@pytest.mark.parametrize("value", REMEDIES)
def test_an_odd_value_in_a_later_file_is_named_after_the_records_before_it(tmp_path, value, batch_size):
    odd = f'y,a\nu,1\nv,2\nu,"{value}"\nu,3\n'
    write_text(tmp_path, {"1.csv": f"a,y\n{NUMBERS}", "2.csv": f"a,y\n{NUMBERS}", "17.csv": odd})
    records, classes, error = until_error(read_batches(tmp_path, target="y", batch_size=batch_size))
    assert records == [*range(20), *range(20), 1, 2]
    assert classes == ["u"] * 41 + ["v"]
    assert error == (
        f"line 4 of '{tmp_path / '17.csv'}' holds {value!r} in column 'a'; expected a number, as in other records. "
        f"{REMEDIES[value]}"
    )


def test_names_and_texts_of_any_kind_survive_the_second_look(tmp_path):
    header = '"a ""b"", c","",a,"x\ny",y\n'
    write_text(tmp_path, {"1.csv": header + "t,1,1,1,u\n", "2.csv": header + '"t ""q"", NA",,2,3,NA\n,2,?,4,v\n'})
    batches = read_batches(tmp_path, target="y")
    assert next(batches).X.column_names == ['a "b", c', "", "a", "x\ny"]
    batch = next(batches)
    assert batch.X.to_pylist() == [{'a "b", c': 't "q", NA', "": None, "a": 2, "x\ny": 3}]
    assert batch.y.tolist() == ["NA"]
    with pytest.raises(ValueError, match=r"line 4 of '.*2\.csv' holds '\?' in column 'a'"):
        next(batches)


def test_all_marks_at_hand_are_named_together(tmp_path):
    write_text(tmp_path, {"x.csv": f"a,y\n{NUMBERS * 3}-,u\nNA,u\n?,u\n-,u\nnone,u\nsix,u\n"})
    with pytest.raises(ValueError, match=r"line 62 .* holds '-' .* Pass na_values=\['-', '\?', 'none'\] if"):
        read_batches(tmp_path, target="y")


def test_options_that_errors_name_help(tmp_path):
    text = 'a,b,y\n"1,000",?,u\n"-1,234,567.5",2,v\n2.5,-,NA\n,NA,v\n'
    batches = read_batches(write_text(tmp_path, {"x.csv": text}), target="y", thousands=",", na_values=["?", "-"])
    expected = {"a": [1000, -1234567.5, 2.5, None], "b": [None, 2, None, None]}
    assert joined(batches) == (expected, ["u", "v", "NA", "v"])
    X, _ = joined(read_batches(tmp_path, target="y", categorical=["a", "b"]))
    assert X == {"a": ["1,000", "-1,234,567.5", "2.5", None], "b": ["?", "2", "-", None]}
    write_text(tmp_path, {"x.csv": "a;y\n1.000,5;u\n2;u\n"})
    assert joined(read_batches(tmp_path, target="y", decimal=",", thousands="."))[0] == {"a": [1000.5, 2]}


def test_thousands_are_groups_of_three(tmp_path):
    write_text(tmp_path, {"1.csv": 'a,y\n"1,000",u\n', "2.csv": 'a,y\n2,u\n"1,00",u\n'})
    records, _, error = until_error(read_batches(tmp_path, target="y", thousands=","))
    assert records == [1000, 2]
    assert error.startswith(f"line 3 of '{tmp_path / '2.csv'}' holds '1,00' in column 'a'; expected a number")


def test_numbers_with_a_decimal_comma_are_never_text(tmp_path):
    write_text(tmp_path, {"x.csv": "a;y\n" + "1,5;u\n" * 20})
    with pytest.raises(ValueError, match=r"line 2 .* holds '1,5' .* Pass decimal=',' if it is a number"):
        read_batches(tmp_path, target="y")
    assert joined(read_batches(tmp_path, target="y", decimal=","))[0] == {"a": [1.5] * 20}


# --- the rule


@pytest.mark.parametrize(
    ("values", "as_feature", "as_target"),
    [
        (["1"] * 9 + ["x"], True, True),
        (["1"] * 8 + ["x"], False, False),
        (["1", "x"], False, False),
        (["1", "?", "?", "?"], True, True),
        (["?", "-"], False, False),
        (["+", "-"], False, False),
        (["10%", "20%"], True, False),
        (["1,000", "?"], True, False),
        (["low", "high"], False, False),
        (["[0-10)", "[10-20)"], False, False),
        (["01.02.2024", "03.02.2024"], False, False),
        (["10.0.0.1", "10.0.0.2"], False, False),
        (["030 123 456"], False, False),
        (["12", "12a", "13"], False, False),
        ([], False, False),
    ],
)
def test_which_columns_are_nearly_numbers(values, as_feature, as_target):
    assert are_nearly_numbers(values, PLAIN, is_target=False) == as_feature
    assert are_nearly_numbers(values, PLAIN, is_target=True) == as_target


@given(value=st.floats(allow_nan=False) | st.integers(-(10**15), 10**15))
def test_what_python_writes_is_a_number_and_grouped_it_needs_thousands(value):
    assert PLAIN.is_number(str(value))
    assert not is_missing_mark(str(value))
    if math.isfinite(value) and 1000 <= abs(value) < 1e15:
        assert PLAIN.settings_for(f"{value:,}") == {"thousands": ","}
        assert NumberFormat(".", ",").is_number(f"{value:,}")


@given(value=st.text("+-.019eEinfINFatyx% \t\x0c_٣", min_size=1))
@settings(deadline=None, max_examples=500)
def test_what_the_rule_calls_a_number_arrow_calls_a_number(value):
    text = pa.BufferReader(f"a\n{value}\n".encode())
    options = csv.ConvertOptions(column_types={"a": pa.float64()}, null_values=[])
    try:
        csv.read_csv(text, convert_options=options)
    except pa.ArrowInvalid:
        assert not PLAIN.is_number(value)
    else:
        assert PLAIN.is_number(value)


def test_a_column_that_simply_is_text_stays_text(tmp_path):
    lines = [f"{n if n % 5 else f'A{n}'},{'x?-'[n % 3]},{n if n % 2 else 'odd'}\n" for n in range(99)]
    (batch,) = read_batches(write_text(tmp_path, {"x.csv": "".join(["a,b,y\n", *lines])}), target="y")
    assert {str(kind) for kind in batch.X.schema.types} == {"string"}
    assert batch.y[0] == "odd"


def test_files_that_know_their_types_are_believed(tmp_path):
    parquet.write_table(pa.table({"a": ["1", "2", "?"], "y": ["1", "2", "?"]}), tmp_path / "x.parquet")
    assert joined(read_batches(tmp_path, target="y")) == ({"a": ["1", "2", "?"]}, ["1", "2", "?"])


# --- classes


def test_a_class_may_be_called_na(tmp_path):
    write_text(tmp_path, {"1.csv": "a,b,y\n1,NA,NA\n2,null,u\n", "2.csv": 'a,b,y\n3,n,null\n4,None,None\n5,NaN,"NA"\n'})
    X, y = joined(read_batches(tmp_path, target="y"))
    assert y == ["NA", "u", "null", "None", "NA"]
    assert X["b"] == [None, None, "n", "None", None]


def test_a_class_called_na_in_a_late_block(tmp_path):
    classes = np.array(["low", "high"])[np.arange(100_000) % 2].astype(object)
    classes[[60_000, 99_999]] = "NA", "null"
    write_text(tmp_path, {"x.csv": "a,y\n" + "".join(f"{n},{name}\n" for n, name in enumerate(classes))})
    assert joined(read_batches(tmp_path, target="y", batch_size=999)) == ({"a": list(range(100_000))}, classes.tolist())


def test_empty_classes_and_na_values_are_missing_even_where_na_is_a_class(tmp_path):
    path = write_text(tmp_path, {"x.csv": "a,y\n1,NA\n2,u\n3,none\n4,\n"}) / "x.csv"
    message = " in the target column 'y'; every record needs its class. Fill it in, remove the record, or "
    message += "pass unlabelled='skip' to leave such records out."
    found = until_error(read_batches(path, target="y"))
    assert found == ([1, 2, 3], ["NA", "u", "none"], f"line 5 of '{path}' has no value{message}")
    assert until_error(read_batches(path, target="y", na_values=["none"]))[:2] == ([1, 2], ["NA", "u"])


@pytest.mark.parametrize("batch_size", [None, 1])
def test_classes_that_are_numbers_but_for_na(tmp_path, batch_size):
    path = write_text(tmp_path, {"x.csv": "a,y\n1,0\n\n2,NA\n3,1\n"}) / "x.csv"
    found = until_error(read_batches(path, target="y", batch_size=batch_size))
    assert found == (
        [1],
        [0],
        f"line 4 of '{path}' holds 'NA' in the target column 'y', where it stands for a missing value; every record "
        "needs its class. Pass categorical=['y'] if it is a class, remove the record, or pass unlabelled='skip' to "
        "leave such records out.",
    )
    assert joined(read_batches(path, target="y", categorical=["y"]))[1] == ["0", "NA", "1"]


def test_classes_that_are_numbers_but_for_marks(tmp_path):
    path = write_text(tmp_path, {"x.csv": "a,y\n1,0\n2,?\n3,1\n"}) / "x.csv"
    with pytest.raises(ValueError) as caught:
        read_batches(path, target="y")
    assert str(caught.value) == (
        f"line 3 of '{path}' holds '?' in column 'y'; expected an integer, as in other records. Pass "
        "categorical=['y'] if it is a class, or correct or remove the record."
    )
