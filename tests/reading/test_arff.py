import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import arff as scipy_arff

from adforest.reading import read_batches
from adforest.reading.arff import split_values
from table_files import as_arff, quoted, write_text

ARFF = """@RELATION 'weather report'
% a comment
@attribute 'out look'{sunny, 'very "wet"', "it's", '?'}
@Attribute\ttemp REAL
@attribute note string
@attribute y {0,1}

@DATA
sunny, 85.5 ,'hot, dry',0
'very "wet"',?,?,1
% another comment

"it's" , -1e3 , "a\\tb" , 0
'?',+2,'?','1'
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_arff_names_values_and_gaps(tmp_path, newline, mark):
    (batch,) = read_batches(write_text(tmp_path, {"x.arff": mark + ARFF.replace("\n", newline)}), target="y")
    assert batch.X.to_pydict() == {
        "out look": ["sunny", 'very "wet"', "it's", "?"],
        "temp": [85.5, None, -1000, 2],
        "note": ["hot, dry", None, "a\tb", "?"],
    }
    assert batch.y.tolist() == ["0", "1", "0", "1"]


@given(rows=st.lists(st.tuples(st.floats(-1e6, 1e6) | st.none(), st.sampled_from(["low", "high", "very high"]))))
@settings(deadline=None, max_examples=20)
def test_arff_reads_what_scipy_reads(tmp_path_factory, rows):
    columns = {"a": [row[0] for row in rows] + [0.5], "rent": [row[1] for row in rows] + ["low"]}
    path = tmp_path_factory.mktemp("arff") / "x.arff"
    path.write_text(as_arff(pa.table(columns)).replace("'a'", "a").replace("'rent'", "rent"))  # scipy keeps the quotes
    (batch,) = read_batches(path, target="rent")
    records, _ = scipy_arff.loadarff(path)
    np.testing.assert_array_equal(batch.X["a"].to_numpy(), records["a"])
    assert batch.y.tolist() == [name.decode() for name in records["rent"]]


@given(values=st.lists(st.none() | st.text("ab ü,'\"\\?%{}"), min_size=1))
def test_quoted_arff_values_come_back(values):
    assert split_values(" , ".join(map(quoted, values))) == values


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{0 sunny, 3 1}", r"line 15 of '.*x\.arff' is sparse .*; expected one value an attribute\. Make .* dense"),
        ("sunny,1,a", r"line 15 of .* has 3 fields; expected 4, one for each column\."),
        ("sunny,1,'a,0", r"line 15 of .* quotes do not match"),
        ("windy,1,a,0", r"line 15 of .* holds 'windy' for attribute 'out look'; expected one of the 4 values declared"),
        ("sunny,warm,a,0", r"line 15 of .* holds 'warm' for attribute 'temp'; expected a number, or \? where"),
        ("sunny,1,a,?", r"line 15 of '.*x\.arff' has no value in the target column 'y'"),
    ],
)
def test_bad_arff_records_are_named_by_their_line(tmp_path, line, message):
    batches = read_batches(write_text(tmp_path, {"x.arff": f"{ARFF}{line}\n"}), target="y")
    assert next(batches).y.tolist() == ["0", "1", "0", "1"], "the records before it are delivered"
    with pytest.raises(ValueError, match=message):
        next(batches)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@relation r\n@atribute a real\n@data\n", r"line 2 of .* reads '@atribute a real'; expected @relation"),
        ("@relation r\n@attribute a relational\n", r"line 2 of .* reads .*; expected @attribute, a name, and numeric"),
        ("@relation r\n@data\n1\n", r"line 2 of .* reads '@data'; expected .* after at least one of these, @data"),
        ("@relation r\n@attribute a {b, 'c}\n", "line 2 of .*Correct the line"),
        ("@relation r\n@attribute a real\n", "has no line that says @data"),
    ],
)
def test_bad_arff_headers_are_refused_at_once(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_batches(write_text(tmp_path, {"x.arff": text}), target="y")


@pytest.mark.parametrize("value", ["2.5", "99999999999999999999", "1e3", "x"])
def test_arff_integers_are_whole(tmp_path, value):
    text = "@relation r\n@attribute a real\n@attribute y integer\n@data\n1,7\n1,{}\n"
    assert next(read_batches(write_text(tmp_path, {"x.arff": text.format(8)}), target="y")).y.tolist() == [7, 8]
    batches = read_batches(write_text(tmp_path, {"x.arff": text.format(value)}), target="y")
    assert next(batches).y.tolist() == [7]
    with pytest.raises(ValueError, match=rf"line 6 of .* holds '{value}' for attribute 'y'; expected an integer"):
        next(batches)
