from itertools import count

import pytest

from experiments.running.measures import log_loss
from experiments.running.protocols import find_protocol
from experiments.specs.methods import make_model
from experiments.specs.run_spec import PREQUENTIAL, MethodSpec, RunSpec, StreamSpec
from experiments.specs.sources import open_stream
from nextbatch import protocols

VANISHING = StreamSpec.of("classes", "vanishing", n_batches=8, batch_size=60)


def evaluate(stream, name):
    run = RunSpec(stream, MethodSpec(name), 0, PREQUENTIAL)
    return find_protocol(run).evaluate(run, None)


@pytest.mark.parametrize("method", ["RF last 3", "ADF-R", "NCMC", "ADF-R paper"])
def test_the_next_batch_is_answered_before_it_is_learnt(method, monkeypatch):
    monkeypatch.setattr(protocols, "process_time", count().__next__)  # a clock that goes on by a second a look
    evaluation = evaluate(VANISHING, method)
    stream = open_stream(VANISHING, 0, None)
    model = make_model(MethodSpec(method), stream, 0)
    assert [row["batch"] for row in evaluation.rows] == list(range(2, 9))
    model.partial_fit(stream.batches[0].X_train, stream.batches[0].y_train)
    for row, batch in zip(evaluation.rows, stream.batches[1:], strict=True):
        assert row["n"] == len(batch.y_train)
        assert row["stage"] == batch.scenario
        assert row["accuracy"] == model.score(batch.X_train, batch.y_train)
        if method == "NCMC":
            assert row["log_loss"] is None
        else:
            expected = log_loss(model.predict_proba(batch.X_train), model.classes_, batch.y_train)
            assert row["log_loss"] == pytest.approx(expected)
        assert (row["train_seconds"], row["predict_seconds"]) == (1, 1)
        model.partial_fit(batch.X_train, batch.y_train)
        assert ("drift" in row) == method.startswith("ADF")
        if method == "ADF-R":
            assert row["drift"] == model.history_[-1].drift
            assert row["accuracy_vote"] == pytest.approx(row["accuracy"])
            assert {"accuracy_permanent", "accuracy_vote"} <= set(row)
    assert evaluation.data_sha256 == stream.digest()


def test_methods_of_numbers_answer_the_next_batch_too():
    rules = StreamSpec.of("drift", "none", concept="rules", n_batches=3, batch_size=60)
    assert evaluate(rules, "CIRF").model.n_features_in_ == 3 + 4 + 6 + 2
