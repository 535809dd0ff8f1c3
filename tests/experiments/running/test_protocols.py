import gc
from itertools import count

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from experiments.comparison.results import Results
from experiments.running import timing
from experiments.running.protocols import evaluate_holdout, find_protocol
from experiments.running.runner import run_all
from experiments.running.timing import cpu_seconds_without_gc
from experiments.specs.methods import make_model
from experiments.specs.options import Options
from experiments.specs.run_spec import (
    HOLDOUT,
    LONG_STREAM,
    RECALL,
    RESET_AT_CHANGES,
    TIMED,
    MethodSpec,
    RunSpec,
    StreamSpec,
)
from experiments.specs.sources import open_stream

ABRUPT = StreamSpec.of("drift", "abrupt", concept="rules", n_batches=12, batch_size=60)
VANISHING = StreamSpec.of("classes", "vanishing", n_batches=8, batch_size=60)


def evaluate(stream, method, kind, seed=0):
    run = RunSpec(stream, method if isinstance(method, MethodSpec) else MethodSpec(method), seed, kind)
    return find_protocol(run).evaluate(run, None)


def column(evaluation, name):
    return [row.get(name) for row in evaluation.rows]


def test_runs_are_evaluated_by_holdout_unless_told():
    assert find_protocol(RunSpec(ABRUPT, MethodSpec("RF all"))).evaluate is evaluate_holdout
    with pytest.raises(ValueError, match="there is no protocol 'odd'; expected one of holdout"):
        find_protocol(RunSpec(ABRUPT, MethodSpec("RF all"), protocol="odd"))


def test_who_is_told_knows_what_came_since_the_change_and_nothing_else():
    told = evaluate(ABRUPT, "RF all", RESET_AT_CHANGES)
    assert column(told, "batch") == list(range(1, 13))
    assert column(told, "stage") == list("AAABBBCCCDDD")
    batches = open_stream(ABRUPT, 0, None).batches
    for first in (0, 3, 9):
        model = make_model(MethodSpec("RF all"), open_stream(ABRUPT, 0, None), 0)
        for place in range(first, first + 3):
            model.partial_fit(batches[place].X_train, batches[place].y_train)
            assert told.rows[place]["accuracy"] == model.score(batches[place].X_test, batches[place].y_test)
    kept = evaluate(ABRUPT, "RF all", HOLDOUT)
    assert np.mean(column(kept, "accuracy")[3:]) < np.mean(column(told, "accuracy")[3:]) - 0.1


def test_recall_is_measured_for_every_class_seen_so_far():
    evaluation = evaluate(VANISHING, "RF all", RECALL)
    stream = open_stream(VANISHING, 0, None)
    model = make_model(MethodSpec("RF all"), stream, 0)
    for batch in stream.batches:
        model.partial_fit(batch.X_train, batch.y_train)
    assert {name for name in evaluation.rows[-1] if "recall" in name} == {f"recall_{value}" for value in range(5)}
    for value in (0, 3):
        tests = [batch.X_test[batch.y_test == value] for batch in stream.batches]
        assert sum(map(len, tests)) > 20
        expected = np.mean(model.predict(np.concatenate(tests)) == value)
        assert evaluation.rows[-1][f"recall_{value}"] == pytest.approx(expected)
    last = stream.batches[-1]
    assert evaluation.rows[-1]["accuracy"] == pytest.approx(model.score(last.X_test, last.y_test))


def test_recall_of_a_class_begins_when_it_comes():
    evaluation = evaluate(StreamSpec.of("classes", "new", n_batches=5, batch_size=60), "RF batch", RECALL)
    assert [value is None for value in column(evaluation, "recall_4")] == [True] * 3 + [False] * 2
    assert evaluation.rows[3]["recall_4"] > 0.5


def test_seconds_are_taken_beside_scikit_learn_s_forest_of_as_many_trees(monkeypatch):
    sizes = []

    class Watched(RandomForestClassifier):
        def fit(self, X, y):
            sizes.append(self.n_estimators)
            return super().fit(X, y)

    monkeypatch.setattr(timing, "RandomForestClassifier", Watched)
    monkeypatch.setattr(timing, "process_time", count().__next__)
    evaluation = evaluate(VANISHING, MethodSpec.of("ADF-R", n_estimators=3), TIMED)
    assert sizes == [10, 3, 3, 3, 3] * 8 + [3, 3]
    for name in ("train_seconds", "batch_of_10_seconds", "batch_seconds", "last_3_seconds", "last_3_alike_seconds"):
        assert column(evaluation, name) == [1] * 8
    for name in ("all_seconds", "all_alike_seconds"):
        assert [seconds is None for seconds in column(evaluation, name)] == [True] * 7 + [False]
    assert evaluation.model.history_[-1].batch == 8


@pytest.mark.parametrize("enabled", [True, False])
def test_no_garbage_is_collected_while_the_clock_runs(enabled, monkeypatch):
    monkeypatch.setattr(timing, "process_time", count().__next__)  # a clock that goes on by a second a look
    states = []

    def work():
        states.append(gc.isenabled())

    def fail():
        raise KeyError("stop")

    try:
        if not enabled:
            gc.disable()
        assert cpu_seconds_without_gc(work) == 1
        states.append(gc.isenabled())
        with pytest.raises(KeyError, match="stop"):
            cpu_seconds_without_gc(fail)
        assert [*states, gc.isenabled()] == [False, enabled, enabled]
    finally:
        gc.enable()


def test_an_endless_stream_is_followed_without_being_kept():
    spec = StreamSpec.of("drift", "gradual", concept="sea", n_batches=6, batch_size=50)
    evaluation = evaluate(spec, "ADF-R", LONG_STREAM)
    usual = evaluate(spec, "ADF-R", HOLDOUT)
    assert column(evaluation, "accuracy") == column(usual, "accuracy")
    for name in ("nodes_permanent", "nodes_active", "nodes_temporary", "nodes_newest", "drift"):
        assert column(evaluation, name) == column(usual, name)
    assert all(value > 1e6 for value in column(evaluation, "resident_bytes"))
    assert evaluation.data_sha256 == evaluate(spec, "RF batch", LONG_STREAM).data_sha256
    assert evaluation.data_sha256 != evaluate(spec, "RF batch", LONG_STREAM, seed=1).data_sha256


def test_what_runs_alone_comes_last_and_is_told_apart(tmp_path):
    timed = RunSpec(VANISHING, MethodSpec("RF batch"), 0, TIMED)
    usual = RunSpec(VANISHING, MethodSpec("RF batch"), 0)
    order = []
    results = Results(run_all([timed, usual], Options(out=tmp_path), lambda run, seconds: order.append(run)))
    assert order == [usual, timed]
    assert results.seeds(VANISHING, MethodSpec("RF batch")) == [0]
    assert "batch_seconds" not in results.rows(VANISHING, MethodSpec("RF batch"))[0]
    assert "batch_seconds" in results.with_protocol(TIMED).rows(VANISHING, MethodSpec("RF batch"))[0]
    assert usual.describe() == {name: value for name, value in timed.describe().items() if name != "protocol"}
    again = []
    run_all([timed, usual], Options(out=tmp_path), lambda run, seconds: again.append(run))
    assert again == []
