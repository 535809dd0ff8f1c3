import io
import json
import sys
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import adforest
from adforest import AdaptiveDecisionForestClassifier
from adforest.cli.batch_files import about_records
from cli_commands import SMALL, json_lines, learnt, learnt_here, month, run, write_months
from table_files import FORMATS, write


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = write_months(tmp_path_factory.mktemp("learnt") / "months")
    return learnt_here(folder)


def read(path):
    if path.suffix == ".jsonl":
        return pa.Table.from_pylist([json.loads(line) for line in path.read_text().splitlines()])
    return parquet.read_table(path) if path.suffix == ".parquet" else csv.read_csv(path)


@pytest.mark.parametrize(
    ("suffix", "out"), [*((one, "parquet") for one in FORMATS if "arff" not in one), ("csv", "csv"), ("jsonl", "jsonl")]
)
def test_answers_are_those_of_the_model(capsys, tmp_path, model, suffix, out):
    table = month(9)
    write(table, tmp_path / f"new.{suffix}")
    target = tmp_path / f"answers.{out}"
    code, told, err = run(capsys, "predict", tmp_path / f"new.{suffix}", "-m", model, "-o", target)
    assert (code, err) == (0, "")
    assert told.startswith(f"{target}: 60 records in ")
    found, loaded = read(target), adforest.load(model)
    X = table.drop(["id", "rent"])
    shares = loaded.predict_proba(X)
    assert found.column_names == ["label", "probability_high", "probability_low", "probability_middle", "confidence"]
    assert found["label"].to_pylist() == loaded.predict(X).tolist()
    np.testing.assert_allclose(np.column_stack(found.columns[1:4]), shares, rtol=1e-12)
    np.testing.assert_allclose(found["confidence"], shares.max(axis=1), rtol=1e-12)


def test_columns_are_kept_and_probabilities_left_out(capsys, tmp_path, model):
    write(month(9), tmp_path / "new.csv")
    options = ("--keep", "id", "--keep", "rooms", "--no-probabilities", "-o", tmp_path / "a.parquet")
    assert run(capsys, "predict", tmp_path / "new.csv", "-m", model, *options)[0] == 0
    found = read(tmp_path / "a.parquet")
    assert found.column_names == ["id", "rooms", "label", "confidence"]
    assert found["id"].to_pylist() == [str(one) for one in month(9)["id"].to_pylist()]


def test_many_pieces_and_files_make_one_table(capsys, tmp_path, model):
    table = pa.concat_tables([month(number, n=70_000) for number in (7, 8)])
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=10_000)
    parquet.write_table(month(9), tmp_path / "b.parquet")
    code, out, _ = run(capsys, "predict", tmp_path / "*.parquet", "-m", model, "-o", tmp_path / "o.parquet", "--json")
    (told,) = json_lines(out)
    assert (code, told["records"], sum(told["labels"].values())) == (0, 140_060, 140_060)
    found = read(tmp_path / "o.parquet")
    both = pa.concat_tables([table, month(9)])
    assert found["label"].to_pylist() == adforest.load(model).predict(both.drop(["id", "rent"])).tolist()


def test_standard_input_and_output(capsys, tmp_path, model, monkeypatch):
    write(month(9), tmp_path / "new.csv")
    sent = io.BytesIO((tmp_path / "new.csv").read_bytes())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=sent))
    code, out, err = run(capsys, "predict", "-", "-m", model)
    assert (code, err) == (0, "")
    found = csv.read_csv(io.BytesIO(out.encode()))
    assert found.num_rows == 60


@pytest.mark.parametrize("kind", ["booleans", "whole numbers", "floats"])
def test_labels_keep_their_type(capsys, tmp_path, kind):
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    y = {"booleans": x > 0, "whole numbers": (x > 0) * 7, "floats": (x > 0) * 2.0}[kind]
    parquet.write_table(pa.table({"x": x, "y": y}), tmp_path / "x.parquet")
    run(capsys, "learn", tmp_path / "x.parquet", "-t", "y", "-m", tmp_path / "m.adf", *SMALL)
    run(capsys, "predict", tmp_path / "x.parquet", "-m", tmp_path / "m.adf", "-o", tmp_path / "o.parquet")
    found = read(tmp_path / "o.parquet")["label"]
    assert set(found.to_pylist()) == set(y.tolist())
    assert found.type == pa.array(y).type


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "o.txt"], "--out is 'o.txt'; expected a name that ends in .parquet or .csv or .jsonl, or - for CSV"),
        (
            ["-o", "there.csv"],
            "'there.csv' is there already. Name another file with --out, or replace it with --force.",
        ),
        (["-o", "o.csv", "--keep", "label"], "--keep names 'label', which is the name of a column of predictions."),
        (["-o", "o.csv", "--keep", "no"], "line 1 of 'new.csv' lacks 'no', which is to be kept; its columns are 'id'"),
    ],
)
def test_options_that_cannot_be(capsys, tmp_path, monkeypatch, model, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.csv").write_text("old")
    table = month(9)
    write(table.append_column("label", table["rent"]), tmp_path / "new.csv")
    code, out, err = run(capsys, "predict", "new.csv", "-m", model, *options)
    assert (code, out) == (1, "")
    assert err.startswith(f"adforest: {message}")
    assert (tmp_path / "there.csv").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.csv", "there.csv"]


def test_an_error_leaves_no_half_of_a_file(capsys, tmp_path, model):
    write(month(8), tmp_path / "1.csv")
    (tmp_path / "2.csv").write_text('"size","rooms","street"\nwide,2,"Ring"\n')
    (tmp_path / "o.csv").write_text("old")
    code, _, err = run(capsys, "predict", tmp_path / "[12].csv", "-m", model, "-o", tmp_path / "o.csv", "--force")
    assert code == 1
    assert "line 2 of" in err
    assert "holds 'wide' in column 'size'; expected a number" in err
    assert (tmp_path / "o.csv").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.csv", "2.csv", "o.csv"]


def test_files_without_records(capsys, tmp_path, model):
    (tmp_path / "x.csv").write_text("size,rooms,street\n")
    code, out, err = run(capsys, "predict", tmp_path / "x.csv", "-m", model, "-o", tmp_path / "o.csv")
    assert (code, out) == (1, "")
    assert err == "adforest: there are no records in these files; expected at least one. Name other files.\n"
    assert not (tmp_path / "o.csv").exists()


def test_models_of_arrays_find_no_columns(capsys, tmp_path):
    AdaptiveDecisionForestClassifier(2).fit(np.eye(4), [0, 1, 0, 1]).save(tmp_path / "m.adf")
    write(month(8), tmp_path / "1.csv")
    for verb, *options in (["predict"], ["explain"], ["evaluate", "-t", "rent"], ["learn", "-t", "rent"]):
        code, _, err = run(capsys, verb, tmp_path / "1.csv", "-m", tmp_path / "m.adf", *options)
        assert code == 1
        assert err.startswith("adforest: the columns that this model learnt have no names, so they are not found in")


def test_columns_may_lack_if_the_model_allows_it(capsys, tmp_path):
    folder = write_months(tmp_path / "months", 2)
    path = learnt(capsys, folder)
    (tmp_path / "x.csv").write_text("size\n50\n")
    code, _, err = run(capsys, "predict", tmp_path / "x.csv", "-m", path)
    assert code == 1
    assert "line 1 of" in err
    assert "lacks 'rooms', 'street'; expected the columns of the model" in err
    model = adforest.load(path)
    model.set_params(column_changes="allow").save(path)
    assert run(capsys, "predict", tmp_path / "x.csv", "-m", path)[0] == 0


def test_how_many_records_there_are_is_told_at_a_glance(tmp_path):
    for suffix in ("parquet", "csv", "jsonl"):
        write(month(9, n=500), tmp_path / f"x.{suffix}")
        assert about_records([tmp_path / f"x.{suffix}"]) == pytest.approx(500, rel=0.02)
    write(month(9), tmp_path / "x.csv.gz")
    assert about_records([tmp_path / "x.csv", tmp_path / "x.csv.gz"]) is None
    (tmp_path / "no.parquet").write_text("none")
    assert about_records([tmp_path / "no.parquet"]) is None
