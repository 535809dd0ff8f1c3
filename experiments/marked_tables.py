"""Tables in pages of plain Markdown, written between marks: ``<!-- table: NAME -->`` and ``<!-- end -->``.

``python -m experiments pages`` writes all of them anew, from docs/results.md and benchmarks/record.jsonl.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from experiments.reporting.results_page import PageChapter, PageTable, find_chapter
from experiments.running.behaviour import fingerprint_behaviour
from experiments.specs.run_spec import MethodSpec

CHECKOUT = Path(__file__).parents[1]
RECORD = CHECKOUT / "benchmarks" / "record.jsonl"  # what `make bench` found, a line per measure
MARKED = re.compile(r"(<!-- table: (?P<name>[^>]+?) -->)(?P<text>.*?)(<!-- end -->)", re.DOTALL)
EARLIER = "with an earlier version of the code"
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

# Who is compared with ADF-R on the next batch.
NEXT_BATCH = {
    **dict.fromkeys(("RF batch", "RF last 3"), "its own random forest refitted on the last batches"),
    "RF all": "its own random forest refitted on everything",
    "sklearn RF all": "scikit-learn's refitted on everything",
    "LightGBM all": "LightGBM refitted on everything",
    "ARF": "River's adaptive random forest",
}
ONE_SAMPLE = {
    "ADF-R": "adforest (ADF-R)",
    "No change": "the last label",
    "Markov": "the most frequent successor of the last label",
    "ARF": "River's adaptive random forest, 10 trees",
    "LeveragingBag": "River's leveraging bagging",
    "ARF (MOA)": "MOA's adaptive random forest",
}
OTHERS = {"HAT": "River's adaptive Hoeffding tree"}
# What the table of costs shows: its row, the measure, our figure, the other's name and figure, and how they compare.
COSTS: tuple[tuple[str, str, str, str, str, str], ...] = (
    ("", "grow 10 trees on 160,000 x 6", "seconds", "", "sklearn_seconds", "times_faster"),
    ("", "accuracy on 20,000 fresh records after 160,000", "accuracy", "", "sklearn_accuracy", "points_above"),
    ("", "grow 10 trees on 4,000 x 6", "seconds", "", "sklearn_seconds", "times_faster"),
    ("", "accuracy on 20,000 fresh records after 4,000", "accuracy", "", "sklearn_accuracy", "points_above"),
    ("", "grow 10 SysFor trees on 4,000 x 6", "seconds", "random forest: ", "random_forest_seconds", "times_slower"),
    (
        "samples per second, a Hoeffding tree on 100,000 x 6",
        "Hoeffding tree on 100,000 x 6",
        *("records_per_second", "River: ", "river_records_per_second", "times_faster"),
    ),
    ("", "n_jobs=2 on 160,000 x 6", "seconds", "one thread: ", "one_thread_seconds", "times_faster"),
    ("", "predict 100,000 records", "seconds", "", "sklearn_seconds", "times_faster"),
    ("", "predict one record", "seconds", "", "sklearn_seconds", "times_faster"),
    (
        "predict_proba of 100,000 samples by all forests after 8 batches, 20 trees",
        "the vote of 100,000 records in ONNX Runtime",
        *("our_seconds", "ONNX Runtime, our export: ", "seconds", "share_of_ours"),
    ),
    (
        "... of one sample",
        "the vote of one record in ONNX Runtime",
        *("our_seconds", "ONNX Runtime: ", "seconds", "share_of_ours"),
    ),
    *(
        (
            f"partial_fit along LDPA, 10 trees, memory_size={size}, per batch",
            f"partial_fit along LDPA, memory_size={size}",
            *("seconds_per_batch", "refitted on the last 3: ", "sklearn_last_3_seconds", "share_of_last_3"),
        )
        for size in ("100000", "None")
    ),
    *(
        (
            f"partial_fit of {size} with a memory of 100,000 x 10, mean of 2,000 batches",
            f"a batch of {size} with a memory of 100,000 x 10, mean of 2,000",
            *("milliseconds", "", "", ""),
        )
        for size in (1, 5, 20)
    ),
    (
        "partial_fit of 100 samples after `fit` of 2,000,000 x 20",
        "a batch of 100 after a fit of 2,000,000 x 20",
        *("first_seconds", "later ones: ", "later_seconds", ""),
    ),
    (
        "`adforest predict` from Parquet to Parquet, 10 columns, 10 trees, one core, rows per second",
        "adforest predict, Parquet to Parquet",
        *("records_a_second", "without its start: ", "records_a_second_without_start", ""),
    ),
    ("save a model", "save and load, with records", "save_seconds", "load it: ", "load_seconds", ""),
)
SCALE = (
    ("learning", "learn 10,000,000 x 10 in 5 batches", "seconds", "", "local_seconds", "times"),
    ("learning, CPU seconds of all processes", "learn 10,000,000 x 10 in 5 batches", "", "", "", "cpu_times"),
    ("scoring 10 million samples", "score 10,000,000 records", "seconds", "", "local_seconds", "times"),
    ("bytes moved", "bytes moved", "megabytes", "by the formula ", "formula_megabytes", "times"),
    (
        "client and scheduler, 100,000 samples drawn from each batch",
        "memory of client and scheduler",
        *("megabytes", "with a tenth of the samples ", "megabytes_tenth", "times"),
    ),
)


def update_pages(root: Path = CHECKOUT) -> list[str]:
    """Write the marked tables of all pages anew, and return the pages that changed."""
    changed = []
    for page in find_pages(root):
        before = page.read_text(encoding="utf-8")
        after = fill_marks(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            changed.append(page.relative_to(root).as_posix())
    return changed


def find_pages(root: Path = CHECKOUT) -> list[Path]:
    """Return the pages that may have marks."""
    pages = [root / "README.md", root / "paper" / "paper.md", *sorted((root / "docs").rglob("*.md"))]
    return [page for page in pages if page.is_file()]


def fill_marks(text: str, tables: dict[str, Callable[..., str]] | None = None) -> str:
    r"""Return a page with what belongs between its marks.

    Examples
    --------
    >>> fill_marks("a <!-- table: sum | 1 | 2 -->?<!-- end -->", {"sum": lambda a, b: str(int(a) + int(b))})
    'a <!-- table: sum | 1 | 2 -->3<!-- end -->'
    """
    known = TABLES if tables is None else tables

    def fill(found: re.Match[str]) -> str:
        name, *arguments = (part.strip() for part in found["name"].split("|"))
        if name not in known:
            raise LookupError(f"there is no table {name!r} to put between marks; expected one of {', '.join(known)}")
        made = known[name](*arguments)
        space = "\n\n" if found["text"].startswith("\n") else ""
        return f"{found[1]}{space}{made}{space}{found[4]}"

    return MARKED.sub(fill, text)


# Tables of chapters


def next_batch_sentence() -> str:
    """Return on how many real streams ADF-R has the highest accuracy, and who is ahead of it on the others."""
    accuracy = find_chapter("The next batch").table("Accuracy on the next batch, real streams")
    streams = [head for head in accuracy.heads[1:] if head != "mean"]
    ahead_by: dict[str, dict[str, float]] = {}
    for stream in streams:
        numbers = {name: accuracy.number(name, stream) or 0.0 for name in NEXT_BATCH}
        best = max(numbers, key=numbers.__getitem__)
        points = 100 * (numbers[best] - (accuracy.number("ADF-R", stream) or 0.0))
        if points > 0:
            ahead_by.setdefault(NEXT_BATCH[best], {})[stream] = points
    n_ahead = len(streams) - sum(map(len, ahead_by.values()))
    said = [f"On {_count(len(streams))} real streams `adforest` has the highest accuracy on {_count(n_ahead)}"]
    for name, points_by in ahead_by.items():
        up_to = "up to " if len(points_by) > 1 else ""
        said.append(f"{name} is ahead on {' and '.join(points_by)} by {up_to}{max(points_by.values()):.1f} points")
    return "; ".join(said) + "."


def one_sample_table() -> str:
    """Return accuracies where each label is learnt before the next sample, and who is ahead where we are not."""
    chapter = find_chapter("One sample at a time")
    accuracy = chapter.table("Accuracy, one sample at a time")
    streams = ["elec2", "outdoor", "covtype", "labels in a cycle", "labels in runs", "independent labels"]
    said = []
    for stream in streams:
        numbers = {name: accuracy.number(name, stream) for name in accuracy.rows}
        best = max(numbers, key=lambda name: numbers[name] or 0.0)
        if best != "ADF-R" and best not in ONE_SAMPLE:
            said.append(f"{OTHERS.get(best, best)} has {_short(numbers[best])} on {stream}")
    others = f"Of the methods that are not shown, {'; '.join(said)}. " if said else ""
    return "\n\n".join([_as_markdown(accuracy, streams, ONE_SAMPLE), f"{others}{_origin(chapter)}"])


def _as_markdown(table: PageTable, columns: list[str], methods: dict[str, str]) -> str:
    """Return rows of a table, the highest of each column in bold."""
    best = {one: max(table.number(name, one) or 0.0 for name in methods) for one in columns}
    rows = [
        [said, *(_bold(_short(number := table.number(name, one)), number == best[one]) for one in columns)]
        for name, said in methods.items()
    ]
    return _lines([["", *columns], ["---"] * (len(columns) + 1), *rows])


def _origin(chapter: PageChapter) -> str:
    """Return where a table comes from."""
    if chapter.is_of_earlier_version or chapter.provenance is None:
        return f"(`{chapter.command}`, measured {EARLIER}.)"
    return f"(`{chapter.command}`, {chapter.provenance.date}, commit {chapter.provenance.commit}.)"


# Benchmarks


@cache
def read_benchmarks(path: Path = RECORD) -> dict[str, dict[str, Any]]:
    """Return the lines of the record of benchmarks by measure."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return {line["measure"]: line for line in map(json.loads, text.splitlines())}


def find_benchmark(measure: str) -> dict[str, Any] | None:
    """Return the line of a measure, by its name or how that begins; None if it was never recorded."""
    lines = read_benchmarks()
    return next((line for name, line in lines.items() if name == measure or name.startswith(f"{measure}, ")), None) or (
        next((line for name, line in lines.items() if name.startswith(measure)), None)
    )


def benchmark_table(rows: Iterable[tuple[str, str, str, str, str, str]], heads: list[str]) -> str:
    """Return rows of benchmarks as a table, and when they were taken."""
    rows = list(rows)
    return _lines([heads, ["---"] * len(heads), *map(_benchmark_row, rows)]) + "\n\n" + _taken(row[1] for row in rows)


def _benchmark_row(row: tuple[str, str, str, str, str, str]) -> list[str]:
    """Return the cells of a benchmark."""
    said, measure, ours, other, theirs, ratio = row
    line = find_benchmark(measure)
    compared = _quantity(line, theirs)
    name = said or measure.replace("records", "samples").replace("record", "sample").replace("fresh", "new")
    return [name, _quantity(line, ours), f"{other}{compared}" if compared else "", _quantity(line, ratio)]


def _quantity(line: dict[str, Any] | None, field: str) -> str:
    """Return a figure with the unit that its field's name says."""
    if not field:
        return ""
    value = None if line is None else line.get(field)
    if value is None:
        return "–"
    if "milliseconds" in field:
        return _seconds(value / 1e3)
    if "per_second" in field or "a_second" in field:
        return f"{value:,.0f}"
    if "seconds" in field:
        return _seconds(value)
    if "megabytes" in field:
        return f"{value / 1e3:.2f} GB" if value >= 1e3 else f"{value:.0f} MB"
    if field.startswith("points"):
        return f"{value:+.1f} points"
    if "times" in field or field.startswith("share"):
        return f"{value:.2f}×" if value < 10 else f"{value:.0f}×"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def _seconds(value: float) -> str:
    """Return seconds in a unit that suits them.

    Examples
    --------
    >>> [_seconds(value) for value in (22e-6, 0.00065, 0.0614, 11.31, 75.0)]
    ['22 µs', '0.65 ms', '61 ms', '11.3 s', '75 s']
    """
    factor, unit = next(((f, u) for f, u in ((1.0, "s"), (1e3, "ms")) if value * f >= 0.1), (1e6, "µs"))
    scaled = value * factor
    digits = 2 if scaled < 1 else 1 if scaled < 20 and unit == "s" else 0
    return f"{scaled:.{digits}f} {unit}"


def _taken(measures: Iterable[str]) -> str:
    """Return when and at which commits some benchmarks were taken, and whether the code has changed since."""
    lines = [line for measure in dict.fromkeys(measures) if (line := find_benchmark(measure)) is not None]
    if not lines:
        return "Not measured yet: `make bench`."
    dates, commits = ({line[key]: None for line in lines} for key in ("date", "commit"))
    now = fingerprint_behaviour(MethodSpec("ADF-R"))
    earlier = f", {EARLIER}" if any(line["behaviour"] != now for line in lines) else ""
    machine = "; ".join(dict.fromkeys(line["machine"] for line in lines))
    return f"Measured on {', '.join(dates)} at commit {', '.join(commits)}{earlier}, on {machine}."


# Figures as text


def _short(value: float | None) -> str:
    """Return a figure between 0 and 1 without its zero.

    Examples
    --------
    >>> _short(0.7764), _short(0.02), _short(None)
    ('.776', '.020', '')
    """
    text = "" if value is None else f"{value:.3f}"
    return text.removeprefix("0") if value is not None and value < 1 else text


def _bold(text: str, is_bold: bool) -> str:
    return f"**{text}**" if is_bold and text else text


def _count(number: int) -> str:
    return NUMBERS[number] if number < len(NUMBERS) else str(number)


def _lines(rows: Iterable[list[str]]) -> str:
    """Return rows as a Markdown table."""
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


TABLES: dict[str, Callable[..., str]] = {
    "next batch": next_batch_sentence,
    "one sample": one_sample_table,
    "costs": lambda: benchmark_table(COSTS, ["", "adforest", "scikit-learn's RandomForest, 10 trees", ""]),
    "scale": lambda: benchmark_table(SCALE, ["", "Dask", "local", ""]),
}
