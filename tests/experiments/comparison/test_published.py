import numpy as np
import pytest

from experiments.comparison.published import FOLDER, METHOD_OF_COLUMN, read_published
from experiments.specs.methods import METHODS

TABLES = sorted(path.stem for path in FOLDER.glob("*.csv"))


def test_every_table_is_listed_with_its_source():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert len(TABLES) == 7
    assert all(f"`{table}.csv`" in readme for table in TABLES)
    assert "2101.11828" in readme


@pytest.mark.parametrize("table", TABLES)
def test_tables_can_be_read(table):
    published = read_published(table)
    assert published.labels
    assert all(len(figures) == len(published.labels) for figures in published.figures.values())


@pytest.mark.parametrize(
    ("detail", "overall"),
    [
        ("ldpa_34_batches_accuracy", "overall_accuracy"),
        ("ldpa_28_rearranged_accuracy", "overall_rearranged_accuracy"),
    ],
)
def test_batches_add_up_to_the_overall_table(detail, overall):
    # The paper's own means: a slip of the finger in one of them would show here.
    for name in METHOD_OF_COLUMN:
        mean = np.mean(read_published(detail).figures[name])
        assert mean == pytest.approx(read_published(overall).value("LDPA", name), abs=0.0016), name


def test_what_the_paper_has_not_is_none():
    table = read_published("overall_rearranged_accuracy")
    assert table.value("UIFWA", "ADF-R") == 0.565
    assert table.value("Avila", "ADF-R") is None
    assert table.value("UIFWA", "SRP") is None


def test_published_columns_stand_beside_methods_that_exist():
    assert set(METHOD_OF_COLUMN.values()) <= set(METHODS)
    assert set(METHOD_OF_COLUMN) <= set(read_published("overall_accuracy").figures)
