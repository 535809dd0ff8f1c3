"""Tables between marks: filled from results and benchmarks, whatever was there before."""

import json

import pytest

from experiments import make_results, marked_tables
from experiments.marked_tables import benchmark_table, fill_marks, read_benchmarks, update_pages
from experiments.specs.options import Options

ROW = ("", "grow 10 trees", "seconds", "", "sklearn_seconds", "times_faster")
LINE = {"measure": "grow 10 trees on 9 x 6", "seconds": 0.0614, "sklearn_seconds": 1.5, "times_faster": 24.4}
ORIGIN = {"date": "2022-02-01", "commit": "1a2b3c4", "machine": "2 cores", "behaviour": "0123456789"}


def test_what_is_between_marks_is_replaced_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(marked_tables, "TABLES", {"t": lambda: "| 1 |", "sum": lambda a, b: str(int(a) + int(b))})
    page = tmp_path / "README.md"
    text = "before\n\n<!-- table: t -->\n\n{}\n\n<!-- end -->\n\n<!-- table: sum | 1 | 2 -->{}<!-- end -->.\n"
    page.write_text(text.format("old", "?"))
    assert update_pages(tmp_path) == ["README.md"]
    assert page.read_text() == text.format("| 1 |", "3")
    assert update_pages(tmp_path) == []


def test_an_unknown_table_is_named():
    with pytest.raises(LookupError, match=r"no table 'nothing' .* expected one of next batch, one sample"):
        fill_marks("<!-- table: nothing --><!-- end -->")


def test_benchmarks_say_when_they_were_taken_and_whether_the_code_has_changed_since(tmp_path, monkeypatch):
    path = tmp_path / "record.jsonl"
    monkeypatch.setattr(marked_tables, "find_benchmark", lambda measure: read_benchmarks(path).get(LINE["measure"]))
    monkeypatch.setattr(marked_tables, "fingerprint_behaviour", lambda method: "0123456789")
    assert benchmark_table([ROW], ["", "a", "b", ""]).endswith("Not measured yet: `make bench`.")
    path.write_text(json.dumps(LINE | ORIGIN))
    read_benchmarks.cache_clear()
    said = benchmark_table([ROW], ["", "a", "b", ""])
    assert "| grow 10 trees | 61 ms | 1.5 s | 24× |" in said
    assert said.endswith("Measured on 2022-02-01 at commit 1a2b3c4, on 2 cores.")
    monkeypatch.setattr(marked_tables, "fingerprint_behaviour", lambda method: "9876543210")
    assert "with an earlier version of the code" in benchmark_table([ROW], ["", "a", "b", ""])
    read_benchmarks.cache_clear()


def test_make_results_leaves_chapters_of_this_version_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(make_results, "is_current", lambda chapter: chapter.study != "datasets")
    monkeypatch.setattr(make_results, "find_jobs", lambda runs, options: [])
    make_results.make_results(Options(out=tmp_path), seeds=None, budget=None, is_listed_only=True)
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["chapter", "datasets", "all"]
