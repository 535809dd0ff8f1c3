import json
from dataclasses import replace

import pytest

from chapters import CHAPTERS, GAPPY, INF, LONG, METHODS, NAN, SETS, WIDE
from experiments.reporting.chapter import Chapter, Table
from experiments.reporting.table_format import format_table


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_chapter_survives_json(chapter):
    assert Chapter.from_json(chapter.to_json()) == chapter
    without_nan = replace(chapter, tables=tuple(table for table in chapter.tables if table is not GAPPY))
    assert Chapter.from_json(json.loads(json.dumps(without_nan.to_json()))) == without_nan


def shown(*cells, **options):
    (row,) = format_table(Table("", tuple(map(str, range(len(cells)))), (cells,), **options)).rows
    return [cell.text for cell in row]


def best_of(*cells, best="max", digits=3):
    (row,) = format_table(Table("", tuple(map(str, range(len(cells)))), (cells,), digits, best)).rows
    return [place for place, cell in enumerate(row) if cell.is_best]


def test_cells_are_shown_with_their_digits():
    assert shown("x", 0.12345, 1234.5, 164860, "a  b\n", digits=2) == ["x", "0.12", "1,234.50", "164,860", "a b"]
    assert shown("x", None, NAN, INF, -INF, -0.0001) == ["x", "–", "–", "∞", "-∞", "0.000"]


def test_best_is_the_highest_or_the_lowest():
    assert best_of("x", 0.3, 0.5, None, NAN, 0.4) == [2]
    assert best_of("x", 0.3, 0.5, best="min") == [1]
    assert best_of("x", 0.3, 0.5, best="") == []


def test_what_looks_the_same_as_the_best_is_best_too():
    assert best_of("x", 0.8004, 0.7996, 0.7) == [1, 2]
    assert best_of("x", "0.803 ± 0.004", "0.803 ± 0.010", "0.790 ± 0.001") == [1, 2]


def test_there_is_no_best_without_a_contest():
    assert best_of("x", 0.8, "words", None) == []


def test_counts_do_not_compete_with_measures():
    assert best_of(7, 3000, 0.8, 0.7) == [2]
    assert best_of("x", 3000, 2000) == [1]
    assert best_of(900, 3, 2) == [1]  # the first column names the row


def test_table_wider_than_long_lies_on_its_side():
    grid = format_table(WIDE)
    assert grid.heads == ("", *SETS)
    assert [row[0].text for row in grid.rows] == list(METHODS)
    assert [[cell.is_best for cell in row[1:]] for row in grid.rows] == [[True] * 6] + [[False] * 6] * 19
    assert grid.best == "the highest of its column"
    assert format_table(LONG).heads == LONG.columns


def test_numeric_columns_hold_numbers_and_dashes_only():
    assert format_table(LONG).is_numeric == (True, False, True, True, True)
    assert format_table(GAPPY).is_numeric == (False, True, True, False)
    assert format_table(Table("", ("a", "b"), ())).is_numeric == (False, False)


def test_row_with_too_few_cells_is_refused():
    with pytest.raises(ValueError, match=r"'Short' has 3 columns but a row of 2 cells"):
        format_table(Table("Short", ("a", "b", "c"), (("x", 1.0),)))
