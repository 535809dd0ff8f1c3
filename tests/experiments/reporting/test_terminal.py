import io
import re
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from chapters import CHAPTER, EMPTY, LONG, METHODS, WIDE, tables
from experiments.reporting.chapter import Table
from experiments.reporting.table_format import format_table
from experiments.reporting.terminal import print_chapter


def printed(chapter, width=100, **options):
    console = Console(file=io.StringIO(), width=width, highlight=False, **options)
    print_chapter(chapter, console)
    return console.file.getvalue()


def test_print_says_everything():
    text = " ".join(printed(CHAPTER).split())
    for said in (CHAPTER.title, CHAPTER.question, *CHAPTER.findings, *CHAPTER.caveats, CHAPTER.command, WIDE.note):
        assert said in text
    assert [text.index(part) for part in ("What came out", "Mean accuracy", "What to doubt", "Again:")] == sorted(
        text.index(part) for part in ("What came out", "Mean accuracy", "What to doubt", "Again:")
    )


@pytest.mark.parametrize("width", [60, 100, 200])
def test_printed_numbers_are_whole_and_lines_fit(width):
    text = printed(replace(CHAPTER, tables=(replace(LONG, columns=LONG.columns[:3] + METHODS[:2]), WIDE)), width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert "…" not in text
    for row in (*format_table(LONG).rows, *format_table(WIDE).rows):
        assert all(cell.text in text for cell in row)


def test_wide_table_is_parted_and_each_part_names_its_rows():
    square = Table("Square", ("data set", *METHODS), tuple((f"row {n}", *[n / 50] * 20) for n in range(25)))
    text = printed(replace(CHAPTER, tables=(square,)))
    parts = text.count("row 24")
    assert parts > 1
    assert text.count("data") - text.count("data sets") == parts  # "data set", on one line or two
    assert text.count("0.480") == 20


def test_word_wider_than_the_terminal_is_folded_not_cut():
    assert printed(replace(EMPTY, tables=(Table("t", ("a", "b"), (("x", "§" * 150),)),))).count("§") == 150


def test_best_is_bold_on_a_terminal_and_starred_elsewhere():
    table = Table("t", ("data set", "ADF-R", "HT"), (("LDPA", 0.5, 0.4), ("EB", 0.1, 0.2)), best="max")
    chapter = replace(EMPTY, tables=(table,))
    plain = printed(chapter)
    assert "*0.500" in plain
    assert "*: the highest of its row." in plain
    assert [line.index("0.") for line in plain.splitlines() if re.search(r"0\.[51]00", line)] == [11, 11]
    styled = printed(chapter, force_terminal=True, color_system="standard")
    assert "\x1b[1m0.500\x1b[0m" in styled
    assert "Bold: the highest of its row." in styled


def test_print_shows_markup_as_it_stands():
    text = printed(replace(EMPTY, findings=("[bold]not bold[/bold] :smile:",)))
    assert "[bold]not bold[/bold] :smile:" in text


def test_empty_chapter_and_empty_table_are_printed():
    assert "What came out" not in printed(EMPTY)
    assert "no rows" in printed(replace(EMPTY, tables=(Table("t", ("a", "b"), ()),)))


def test_print_is_100_columns_wide_where_nobody_watches(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    print_chapter(replace(CHAPTER, findings=("word " * 60,)))
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) == 100
    assert "\x1b" not in said


@given(tables(), st.integers(40, 120))
def test_any_table_fits_the_terminal(table, width):
    text = printed(replace(EMPTY, tables=(table,), command=""), width)
    assert all(cell_len(line) <= width for line in text.splitlines())


def test_missing_extra_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with pytest.raises(ImportError, match=r"needs rich, .*pip install 'adforest\[experiments\]'"):
        print_chapter(EMPTY)
