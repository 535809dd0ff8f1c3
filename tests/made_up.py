"""Results made up for tests: what an experiment computes from figures is checked on figures one can follow."""

from experiments.comparison.results import Results
from experiments.running.records import RunRecord


def make_results(runs, rows_of):
    """Return results with the rows that a function makes for each run."""
    return Results({run: RunRecord("key", {}, {}, "", {}, {}, "", "", "", 0.0, rows_of(run)) for run in runs})


def make_rows(accuracies, **columns):
    """Return rows with these accuracies; other columns are the same all along, or lists."""
    common = {"n_train": 100, "n_test": 50, "train_seconds": 0.5, "predict_seconds": 0.1, "retention": 0.5}
    common |= {"bytes": 1000, "drift": "none", "answering": "permanent", "leaves_permanent": 10, "nodes_permanent": 19}
    common |= {"accuracy_permanent": 0.5, "accuracy_active": 0.5, "accuracy_temporary": None, "stage": "MKC-1"}
    return [
        {"batch": i + 1, "accuracy": accuracy}
        | {name: value[i] if isinstance(value, list) else value for name, value in (common | columns).items()}
        for i, accuracy in enumerate(accuracies)
    ]


def check_chapter(chapter, name):
    """Assert what holds of every chapter."""
    assert chapter.name == name
    assert chapter.question.endswith("?")
    assert len(chapter.findings) >= 2
    for sentence in (*chapter.findings, *chapter.caveats):
        assert sentence.endswith(".")
        assert "nan" not in sentence
    for table in chapter.tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}
