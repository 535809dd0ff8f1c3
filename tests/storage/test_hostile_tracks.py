"""Files whose history, classes or sketches an enemy wrote: every one is refused."""

from dataclasses import replace

import numpy as np
import pytest

from hostile_edits import put, refuse, replace_array, say
from made_reports import history_of, report
from model_file_parts import Sample, arrays_of, from_arrays
from saved_models import numbers, ours


@pytest.fixture(scope="module")
def sketched(tmp_path_factory):
    return Sample("sketches", tmp_path_factory.mktemp("sketches"))


@pytest.fixture(scope="module")
def long_history(tmp_path_factory):
    return Sample("long history", tmp_path_factory.mktemp("long"))


def edit_row(rows, place, field, value):
    def edit(document, arrays):
        document["history"][rows][place][field] = value

    return edit


def drop(rows, place):
    return lambda document, arrays: document["history"][rows].pop(place)


def repeat_the_last_column(document, arrays):
    for name in ("bounds", "past", "past_squares", "past_unseen", "n_codes"):
        array = arrays[COLUMNS + name]
        arrays[COLUMNS + name] = np.concatenate([array, array[-1:]])
    for name in ("last", "last_unseen", "early", "over_time.missing", "over_time.unseen", "over_time.distance"):
        array = arrays[COLUMNS + name]
        arrays[COLUMNS + name] = np.concatenate([array, array[:, -1:]], axis=1)


COLUMNS, CLASSES = "track.columns.", "track.classes."
EDITS = {
    "bounds out of order": (put(COLUMNS + "bounds", (0, 3), -1e9), "bounds are not in ascending order"),
    "a bound twice": (
        replace_array(COLUMNS + "bounds", lambda a: np.where(np.arange(15) == 3, a[:, 2:3], a)),
        "bounds are not in ascending order",
    ),
    "a bound below all": (put(COLUMNS + "bounds", (0, 0), -np.inf), "bounds are not in ascending order"),
    "no bound": (put(COLUMNS + "bounds", (0, 0), np.nan), "bounds holds numbers that are not finite"),
    "a cell of no category": (put(COLUMNS + "bounds", (2, 14), 4e4), "bounds holds codes that column 2 has not"),
    "fewer than no records": (put(COLUMNS + "past", (0, 0), -1), "past holds numbers from -1"),
    "records without end": (put(COLUMNS + "last", (0, 0, 0), np.inf), "last holds numbers that are not finite"),
    "cells of other columns": (replace_array(COLUMNS + "past", lambda a: a[1:]), "past has the shape"),
    "more columns than there are": (repeat_the_last_column, "more than there may be"),
    "steps out of order": (put(COLUMNS + "last_batches", (0, 0), 1), "last_batches do not follow"),
    "a past to come": (put(COLUMNS + "past_batches", 1, 99), "past_batches holds numbers from"),
    "blocks out of order": (put(COLUMNS + "over_time.batches", (1, 0), 1), "over_time.batches do not follow"),
    "blocks of unequal length": (put(COLUMNS + "over_time.batches", (0, 2), 2), "no blocks of equally many"),
    "more than all are missing": (put(COLUMNS + "over_time.missing", (0, 0), 1.5), "missing holds numbers from"),
    "early records beside counted ones": (
        replace_array(COLUMNS + "early", lambda a: np.full((3, a.shape[1]), np.nan)),
        "samples without bounds, although",
    ),
    "classes that were never seen": (put(CLASSES + "first_batch", 0, 0), "first_batch is after"),
    "a class that went before it came": (put(CLASSES + "last_batch", 0, 0), "first_batch is after"),
    "more records than there were": (put(CLASSES + "n_records", 0, 1400), "n_records are more than there were"),
    "a return of no class": (put(CLASSES + "returns", (0, 0), 3), "returns are those of no class"),
    "a return before it was gone": (put(CLASSES + "returns", (0, 1), 99), "returns are those of no class"),
    "a sustained drift to come": (say("history", "sustained", [99]), "sustained is .99., expected numbers"),
    "drifts out of order": (say("history", "sustained", [3, 2]), "sustained is"),
    "confidence without end": (edit_row("rows", 0, 12, "much"), "confidence in history.rows 1 is 'much'"),
    "another field": (lambda document, arrays: document["history"]["block_fields"].pop(0), "block_fields is"),
    "an answered class that is none": (put("track.prequential.codes", 0, 9), "codes holds numbers from"),
    "a probability above 1": (put("track.prequential.probabilities", (0, 0), 1.5), "probabilities holds numbers from"),
    "no probability": (put("track.prequential.probabilities", (0, 0), np.nan), "probabilities holds numbers that are"),
    "answers to other samples": (
        replace_array("track.prequential.codes", lambda a: a[1:]),
        "probabilities has the shape",
    ),
    "answers of more classes": (
        replace_array("track.prequential.probabilities", lambda a: np.tile(a, (1, 2))),
        "more samples or classes than there may be",
    ),
    "more answers than are kept": (
        lambda document, arrays: arrays.update(
            {name: np.concatenate([arrays[name]] * 2) for name in arrays if name.startswith("track.prequential.")}
        ),
        "more samples or classes than there may be",
    ),
    "a part more": (say("track", "extra", 1), "track.extra is not known"),
}
HISTORY_EDITS = {
    "a block less": (drop("blocks", 5), "no blocks of the 600 batches"),
    "a report less": (drop("rows", 5), "reports of 1600 batches"),
    "the first report less": (drop("rows", 0), "no blocks of the 601 batches"),
    "blocks of three": (edit_row("blocks", 0, 1, 3), "no blocks of the 600"),
    "a block that ends before it begins": (edit_row("blocks", 0, 1, 0), "no blocks of the 600"),
    "an endless accuracy": (edit_row("blocks", 0, 4, {"vote": "x"}), "accuracy in history.blocks 1 is"),
    "a block that is text": (lambda document, arrays: document["history"]["blocks"].append("x"), "blocks 301 is none"),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_is_kept_of_the_stream_is_checked(name, sketched, tmp_path):
    edit, match = EDITS[name]
    document, arrays = arrays_of(sketched)
    edit(document, arrays)
    refuse(from_arrays(sketched, document, arrays), tmp_path / "model.adf", match)


@pytest.mark.parametrize("name", HISTORY_EDITS)
def test_blocks_are_those_of_all_older_batches(name, long_history, tmp_path):
    edit, match = HISTORY_EDITS[name]
    document, arrays = arrays_of(long_history)
    edit(document, arrays)
    refuse(from_arrays(long_history, document, arrays), tmp_path / "model.adf", match)


@pytest.mark.slow
def test_a_file_does_not_grow_with_batches(tmp_path):
    model = ours(n_estimators=2).fit(*numbers(0))
    known, sizes = model._model, []
    history = history_of([])
    for number in range(1, 100_001):
        history = history.after(report(number, drift=("none", "temporary", "sustained")[number % 3], new=("a",)))
        if number in (2_000, 100_000):
            state = replace(known.state, n_calls=number)
            track = replace(known.track, history=history)
            model._model = replace(known, n_batches=number, state=state, track=track)
            model.save(tmp_path / "model.adf")
            sizes.append((tmp_path / "model.adf").stat().st_size)
    assert sizes[1] < 1.2 * sizes[0] < 1_000_000
    assert len(model.history_) == 1_000
    assert sum(len(block) for block in model.history_blocks_) == 99_000
    assert len(model.history_blocks_) <= 512
