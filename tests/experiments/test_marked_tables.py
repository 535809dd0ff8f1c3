"""Tables between marks: filled from results and benchmarks, whatever was there before."""

import json
import os

import pytest

from experiments import benchmark_tables, make_results, marked_tables, page_updates
from experiments.benchmark_tables import benchmark_figure, benchmark_table, read_benchmarks
from experiments.marked_tables import fill_marks, update_pages
from experiments.specs.options import Options
from nextbatch.learners import known_learners
from nextbatch.protocol_list import PROTOCOLS
from nextbatch.results import read_rows, write_rows
from nextbatch.running import Job
from nextbatch.streams import read_recipes

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
    with pytest.raises(LookupError, match=r"no table 'nothing' .* expected one of next batch, ahead on"):
        fill_marks("<!-- table: nothing --><!-- end -->")


def test_benchmarks_say_when_they_were_taken_and_whether_the_code_has_changed_since(tmp_path, monkeypatch):
    path = tmp_path / "record.jsonl"
    monkeypatch.setattr(benchmark_tables, "find_benchmark", lambda measure: read_benchmarks(path).get(LINE["measure"]))
    monkeypatch.setattr(benchmark_tables, "fingerprint_behaviour", lambda method: "0123456789")
    assert benchmark_table([ROW], ["", "a", "b", ""]).endswith("Not measured yet: `make bench`.")
    path.write_text(json.dumps(LINE | ORIGIN))
    read_benchmarks.cache_clear()
    said = benchmark_table([ROW], ["", "a", "b", ""])
    assert "| grow 10 trees | 61 ms | 1.5 s | 24× |" in said
    assert said.endswith("Measured on 2022-02-01 at commit 1a2b3c4, on 2 cores.")
    monkeypatch.setattr(benchmark_tables, "fingerprint_behaviour", lambda method: "9876543210")
    assert "with an earlier version of the code" in benchmark_table([ROW], ["", "a", "b", ""])
    later = LINE | ORIGIN | {"measure": "predict 9 records", "date": "2022-02-03", "commit": "4d5e6f7"}
    path.write_text("\n".join(map(json.dumps, (LINE | ORIGIN, later))))
    read_benchmarks.cache_clear()
    monkeypatch.setattr(benchmark_tables, "find_benchmark", read_benchmarks(path).get)
    said = benchmark_table([(*ROW[:1], name, *ROW[2:]) for name in read_benchmarks(path)], ["", "a", "b", ""])
    assert "Measured on 2022-02-01 at commit 1a2b3c4, with an earlier version" in said
    assert "2 cores: grow 10 trees on 9 x 6. Measured on 2022-02-03 at commit 4d5e6f7" in said
    read_benchmarks.cache_clear()


def test_a_figure_of_a_benchmark_has_its_unit():
    assert benchmark_figure("predict one record", "seconds").endswith("µs")
    with pytest.raises(LookupError, match=r"no 'hours' of 'predict one record'; it has measure, seconds"):
        benchmark_figure("predict one record", "hours")
    with pytest.raises(LookupError, match="no 'seconds' of 'nothing'"):
        benchmark_figure("nothing", "seconds")


def test_make_results_leaves_chapters_of_this_version_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(make_results, "is_current", lambda chapter: chapter.study != "datasets")
    monkeypatch.setattr(make_results, "find_jobs", lambda runs, options: [])
    monkeypatch.setattr(make_results, "find_old_runs", lambda: {"rf-all": 25})
    monkeypatch.setattr(make_results, "find_old_benchmarks", lambda: ["grow 10 trees"])
    make_results.make_results(Options(out=tmp_path), seeds=None, budget=None, is_listed_only=True)
    *chapters, runs, benchmarks = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in chapters] == ["chapter", "datasets", "all"]
    assert runs.endswith("by learner: rf-all 25")
    assert benchmarks.endswith("grow 10 trees")


def test_adforest_is_run_again_by_the_benchmark_s_own_command(tmp_path, monkeypatch):
    asked = []
    row = next(iter(read_rows(page_updates.RUNS))) | {"learner": "adforest", "protocol": "next-batch"}
    write_rows(tmp_path / "runs.csv", [row | {"seed": "1"}, row | {"protocol": "delay-1"}])
    monkeypatch.setattr(make_results, "RUNS", tmp_path)
    monkeypatch.setattr(make_results, "main", lambda words: asked.append(words) or len(asked) - 1)
    monkeypatch.setenv("NEXTBATCH_DATA", "")  # for what follows to be undone
    monkeypatch.delenv("NEXTBATCH_DATA")
    options = Options(data=tmp_path / "data")
    make_results.run_adforest(options)
    assert " ".join(asked[0]).endswith("--learners adforest --jobs 1 --protocols delay-1,next-batch --seeds 2")
    assert os.environ["NEXTBATCH_DATA"] == str(tmp_path / "data")
    with pytest.raises(ValueError, match="nextbatch could not run adforest"):
        make_results.run_adforest(options)


def test_runs_of_the_benchmark_by_other_code_are_told(tmp_path):
    row = next(iter(read_rows(page_updates.RUNS)))
    current = Job(PROTOCOLS["next-batch"], read_recipes()["noise"], known_learners()["prior-last"], "prior-last")
    row |= {"protocol": "next-batch", "stream": "noise", "learner": "prior-last", "seed": "0", "size": "full"}
    row |= {"version": known_learners()["prior-last"].version()}
    write_rows(tmp_path / "runs.csv", [row | {"fingerprint": current.fingerprint()}])
    assert page_updates.find_old_runs(tmp_path) == {}
    write_rows(tmp_path / "runs.csv", [row | {"fingerprint": "0123456789abcdef"}, row | {"learner": "gone"}])
    assert page_updates.find_old_runs(tmp_path) == {"prior-last": 1, "gone": 1}


def test_lines_of_benchmarks_by_other_code_are_told(monkeypatch):
    lines = {"grow": {"behaviour": "0123456789"}, "predict": {"behaviour": "9876543210"}}
    monkeypatch.setattr(page_updates, "read_benchmarks", lambda: lines)
    monkeypatch.setattr(page_updates, "fingerprint_behaviour", lambda method: "9876543210")
    assert page_updates.find_old_benchmarks() == ["grow"]


def test_the_table_of_the_benchmark_is_that_of_its_runs(tmp_path):
    page = tmp_path / "README.md"
    page.write_text("<!-- nextbatch -->\nold\n<!-- end -->\n")
    assert page_updates.write_benchmark_table(page) == ["README.md"]
    assert page_updates.write_benchmark_table(page) == []
    marked = page.read_text().strip()
    assert marked in (page_updates.CHECKOUT / "README.md").read_text(encoding="utf-8"), "run: make pages"


def test_drawings_that_changed_are_named(tmp_path, monkeypatch):
    (tmp_path / "draw.py").write_text(
        "import sys, pathlib\npathlib.Path(__file__).with_name('a.svg').write_text(sys.argv[1])\n"
    )
    (tmp_path / "a.svg").write_text("before")
    monkeypatch.setattr(page_updates, "DRAWINGS", [("draw.py", "a.svg", ["after"])])
    assert page_updates.write_drawings(tmp_path) == ["a.svg"]
    assert page_updates.write_drawings(tmp_path) == []
