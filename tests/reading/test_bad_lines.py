import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adforest.reading import read_batches
from table_files import until_error, write_text

ADVICE = (
    "Correct the line (a value that holds the delimiter needs quotes), or pass on_bad_lines='skip' to leave such "
    "lines out."
)
ARFF = "@relation r\n@attribute a real\n@attribute y {u,v}\n@data\n"


@pytest.mark.parametrize("batch_size", [None, 1, 2, 100])
@pytest.mark.parametrize(
    ("line", "found"), [("7", "1 field"), ("7,u,8", "3 fields"), ('"7,u"', "1 field"), ("7,u,", "3 fields")]
)
def test_a_bad_line_is_an_error_after_all_records_before_it(tmp_path, line, found, batch_size):
    path = write_text(tmp_path, {"x.csv": f"a,y\n1,u\n\n2,v\n{line}\n3,u\n"}) / "x.csv"
    message = f"line 5 of '{path}' has {found}; expected 2, one for each column. {ADVICE}"
    assert until_error(read_batches(path, target="y", batch_size=batch_size)) == ([1, 2], ["u", "v"], message)


def test_a_bad_line_that_comes_first(tmp_path):
    path = write_text(tmp_path, {"x.csv": "a,y\n1\n2,v\n"}) / "x.csv"
    assert until_error(read_batches(path, target="y"))[:2] == ([], [])


def test_a_bad_line_of_arff(tmp_path):
    path = write_text(tmp_path, {"x.arff": ARFF + "1,u\n2,v\n3,v,4\n5,u\n"}) / "x.arff"
    message = f"line 7 of '{path}' has 3 fields; expected 2, one for each column. {ADVICE}"
    assert until_error(read_batches(path, target="y")) == ([1, 2], ["u", "v"], message)


@pytest.mark.parametrize("batch_size", [None, 1, 100])
@pytest.mark.parametrize("suffix", ["csv", "arff"])
def test_bad_lines_are_left_out_and_counted_by_choice(tmp_path, suffix, batch_size):
    head = {"csv": "a,y\n", "arff": ARFF}[suffix]
    write_text(tmp_path, {f"1.{suffix}": f"{head}1,u\n2\n2,v\n", f"2.{suffix}": f"{head}3,u,v\n3,u\n4,u,\n"})
    batches = read_batches(tmp_path, target="y", batch_size=batch_size, on_bad_lines="skip")
    assert batches.n_skipped == 0
    line = head.count("\n") + 2
    with pytest.warns(UserWarning, match="left out") as caught:
        assert until_error(batches) == ([1, 2, 3], ["u", "v", "u"], None)
    assert [str(warning.message) for warning in caught] == [
        f"3 lines with a wrong number of fields left out; the first is line {line} of '{tmp_path}/1.{suffix}' with "
        "1 field instead of 2. Look at what wrote it."
    ]
    assert batches.n_skipped == 3
    assert "table_files" in caught[0].filename, "the warning points at the caller's line"


def test_the_count_grows_with_what_was_read(tmp_path):
    write_text(tmp_path, {"1.csv": "a,y\n1\n1,u\n", "2.csv": "a,y\n1\n1\n1,u\n"})
    batches = read_batches(tmp_path, target="y", on_bad_lines="skip")
    assert [(next(batches).number, batches.n_skipped) for _ in range(2)] == [(1, 1), (2, 3)]


def test_lines_are_left_out_but_not_values(tmp_path):
    write_text(tmp_path, {"1.csv": "a,y\n1,u\n", "2.csv": "a,y\n2,v\n3\n\n4,v\nx,v\n"})
    records, _, error = until_error(read_batches(tmp_path, target="y", on_bad_lines="skip"))
    assert records == [1, 2, 4]
    assert error.startswith(f"line 6 of '{tmp_path / '2.csv'}' holds 'x' in column 'a'; expected a number")


READABLE = ["good", "blank", "short", "long", "two lines", "NA"]
LINES = st.sampled_from([*READABLE, "odd", "no class"])


def render(kinds):
    """Return a file with lines of these kinds, and where each begins."""
    texts = {
        "blank": "\n",
        "short": "1\n",
        "long": "1,t,u,9\n",
        "odd": "x,t,u\n",
        "two lines": '{n},"t\nt",v\n',
        "no class": "{n},t,\n",
        "NA": "{n},NA,NA\n",
    }
    text, starts = "a,b,y\n", []
    for n, kind in enumerate(kinds):
        starts.append(text.count("\n") + 1)
        text += texts.get(kind, "{n},t,u\n").format(n=n)
    return text, starts


@given(kinds=st.lists(LINES, max_size=60), block=st.integers(20, 200), batch_size=st.none() | st.integers(1, 30))
@settings(deadline=None, max_examples=150)
def test_whatever_is_wrong_the_records_before_it_come_and_its_line_is_named(tmp_path_factory, kinds, block, batch_size):
    folder = tmp_path_factory.mktemp("lines")
    text, starts = render(kinds)
    write_text(folder, {"1.csv": "a,b,y\n-1,s,s\n", "2.csv": text})
    wrong = next((place for place, kind in enumerate(kinds) if kind in ("short", "long", "odd", "no class")), None)
    good = [n for n, kind in enumerate(kinds[:wrong]) if kind != "blank"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("adforest.reading.csv_reading.BLOCK_BYTES", block)
        patch.setattr("adforest.reading.files._warn_of_empty", lambda file: None)
        records, classes, error = until_error(read_batches(folder, target="y", batch_size=batch_size))
    assert records == [-1, *good]
    assert classes == ["s", *({"two lines": "v", "NA": "NA"}.get(kinds[n], "u") for n in good)]
    if wrong is None:
        assert error is None
    else:
        assert error.startswith(f"line {starts[wrong]} of '{folder / '2.csv'}' ")


@given(kinds=st.lists(st.sampled_from(READABLE), max_size=60), block=st.integers(20, 200))
@settings(deadline=None, max_examples=50)
def test_every_bad_line_is_counted_once(tmp_path_factory, kinds, block):
    folder = tmp_path_factory.mktemp("lines")
    write_text(folder, {"1.csv": "a,b,y\n-1,s,s\n1\n", "2.csv": render(kinds)[0]})
    n_bad = 1 + sum(kind in ("short", "long") for kind in kinds)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("adforest.reading.csv_reading.BLOCK_BYTES", block)
        patch.setattr("adforest.reading.files._warn_of_empty", lambda file: None)
        batches = read_batches(folder, target="y", batch_size=7, on_bad_lines="skip")
        with pytest.warns(UserWarning, match="with a wrong number of fields left out"):
            records, _, error = until_error(batches)
    assert error is None
    assert records == [-1, *(n for n, kind in enumerate(kinds) if kind not in ("blank", "short", "long"))]
    assert batches.n_skipped == n_bad
