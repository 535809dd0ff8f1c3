"""Lines of a log: time and level, formats for programs, and no control characters of names in any of them."""

import json
import re
import shlex

import pyarrow as pa
import pyarrow.csv
import pytest

import adforest
from cli_commands import MOMENT, SMALL, json_lines, month, run, write_months
from table_files import write

HOSTILE = "a\x1b]0;owned\x07\nb\u202e\x9b31m"  # sets the title of a terminal, breaks the line, turns the text round
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")


@pytest.fixture
def folder(tmp_path):
    return write_months(tmp_path / "months", 2)


def hostile_folder(tmp_path):
    folder = write_months(tmp_path / "months", 2)
    table = month(3)
    table = table.set_column(4, "rent", [[HOSTILE] * 20 + table["rent"].to_pylist()[20:]])
    write(table, folder / "month-3\x1b[2J.csv")
    return folder


def learn(capsys, folder, *options):
    return run(capsys, "learn", folder, "-t", "rent", "--drop", "id", "-m", folder.parent / "m.adf", *SMALL, *options)


def fields_of(line):
    return dict(one.split("=", 1) for one in shlex.split(line))


def test_logfmt(capsys, folder):
    (folder / "month-0.csv").write_text("id,size,rooms,street,rent\n")
    code, out, err = learn(capsys, folder, "--log-format", "logfmt")
    assert code == 0
    first, second, end = map(fields_of, out.splitlines())
    reports = adforest.load(folder.parent / "m.adf").history_
    for line, report in zip((first, second), reports, strict=True):
        assert re.fullmatch(MOMENT, line["time"])
        assert (line["level"], line["event"], line["batch"]) == ("info", "batch", str(report.batch))
        assert line["files"] == str(folder / f"month-{report.batch}.csv")
    assert float(second["accuracy_vote"]) == reports[1].accuracy["vote"]
    assert (end["event"], end["batches"]) == ("end", "2")
    warning = fields_of(err)
    assert warning["level"] == "warning"
    assert warning["message"].startswith(f"'{folder}/month-0.csv' holds no records;")


def test_json_lines_on_both_channels(capsys, folder):
    (folder / "month-0.csv").write_text("id,size,rooms,street,rent\n")
    _, out, err = learn(capsys, folder, "--log-format", "json")
    assert [one["event"] for one in json_lines(out)] == ["batch", "batch", "end"]
    (warning,) = json_lines(err)
    assert warning.keys() == {"time", "level", "message"}
    (folder / "month-9.csv").write_text("a,b\n1,2\n")
    code, _, err = learn(capsys, folder, "--log-format", "json")
    assert code == 1
    error = json_lines(err)[-1]
    assert error["level"] == "error"
    assert "month-9.csv" in error["message"]


@pytest.mark.parametrize("options", [(), ("--log-format", "logfmt"), ("--json",)], ids=["text", "logfmt", "json"])
def test_control_characters_of_names_are_escaped(capsys, tmp_path, options):
    folder = hostile_folder(tmp_path)
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\nwhen = "new class"\n')
    code, out, err = learn(capsys, folder, *options, "--alerts", rules)
    assert code == 0
    printed = out + err
    for verb in ("inspect", "evaluate", "explain"):
        more = () if verb == "inspect" else (folder / "month-1.csv",)
        model = (tmp_path / "m.adf",) if verb == "inspect" else ("-m", tmp_path / "m.adf")
        printed += "".join(run(capsys, verb, *more, *model, *(("--json",) if "--json" in options else ()))[1:])
    assert "owned" in printed
    assert not CONTROL.search(printed)
    if "--json" in options:
        assert HOSTILE in json_lines(out)[2]["new_classes"]  # read back, it is the name as it is


def test_errors_escape_control_characters(capsys, tmp_path):
    path = tmp_path / "no\x1b[31m such\x07.csv"
    code, _, err = run(capsys, "learn", path, "-t", "y", "-m", tmp_path / "m.adf")
    assert code == 1
    assert not CONTROL.search(err)
    assert "no\\x1b[31m such\\x07.csv" in err


# --- formulas of spreadsheets


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "plain", "-1", "+3.5e2", "a=b"]
ESCAPED = ["'=1+1", "'+cmd|' /C calc'!A0", "'-2+3", "'@SUM(A1)", "'\t=1", "plain", "-1", "+3.5e2", "a=b"]


@pytest.fixture
def labelled(capsys, tmp_path):
    """A model of which one class is a formula, and records with text that looks like one."""
    table = pa.table({"x": [0.0, 1.0] * 30, "y": ["=cmd()", "fine"] * 30})
    write(table, tmp_path / "learnt.csv")
    run(capsys, "learn", tmp_path / "learnt.csv", "-t", "y", "-m", tmp_path / "m.adf", *SMALL)
    write(pa.table({"x": [0.0, 1.0] * 4 + [0.0], "note": FORMULAS}), tmp_path / "new.parquet")
    return tmp_path


def test_formulas_in_csv_are_text_unless_told_otherwise(capsys, labelled):
    out = labelled / "out.csv"
    command = ("predict", labelled / "new.parquet", "-m", labelled / "m.adf", "--keep", "note", "-f", "-o", out)
    as_text = pyarrow.csv.ConvertOptions(column_types={"note": pa.string()})
    assert run(capsys, *command)[0] == 0
    table = pyarrow.csv.read_csv(out, convert_options=as_text)
    assert table["note"].to_pylist() == ESCAPED
    assert set(table["label"].to_pylist()) == {"'=cmd()", "fine"}
    assert run(capsys, *command, "--no-escape-formulas")[0] == 0
    table = pyarrow.csv.read_csv(out, convert_options=as_text)
    assert table["note"].to_pylist() == FORMULAS
    assert "=cmd()" in table["label"].to_pylist()


def test_other_formats_hold_text_as_it_is(capsys, labelled):
    out = labelled / "out.jsonl"
    assert (
        run(capsys, "predict", labelled / "new.parquet", "-m", labelled / "m.adf", "--keep", "note", "-o", out)[0] == 0
    )
    assert [json.loads(line)["note"] for line in out.read_text().splitlines()] == FORMULAS


# --- time and source in the history


def test_the_history_has_time_and_source(capsys, folder):
    learn(capsys, folder)
    reports = adforest.load(folder.parent / "m.adf").history_
    assert [(report.source, report.rows) for report in reports] == [
        (("month-1.csv",), (1, 60)),
        (("month-2.csv",), (1, 60)),
    ]
    assert all(report.learnt_at is not None for report in reports)
    out = run(capsys, "inspect", folder.parent / "m.adf")[1]
    assert re.search(rf"2  {MOMENT}  .*  month-2\.csv 1 to 60$", out, re.M)


def test_rows_of_pieces(capsys, folder):
    learn(capsys, folder, "--batch-size", "50")
    reports = adforest.load(folder.parent / "m.adf").history_
    assert [report.rows for report in reports] == [(1, 50), (51, 100), (101, 120)]
    assert [report.source for report in reports] == [("month-1.csv",), ("month-1.csv", "month-2.csv"), ("month-2.csv",)]
