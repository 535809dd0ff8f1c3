"""Measures, ranks and protocols against slow, obvious twins, scikit-learn and SciPy."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import bootstrap
from sklearn.metrics import average_precision_score

from nextbatch import protocols
from nextbatch.measures import Scores
from nextbatch.protocol_list import BUDGET, PROTOCOLS
from nextbatch.protocols import arrange, evaluate
from nextbatch.ranks import make_board, paired_interval
from nextbatch.results import COLUMNS


class Diary:
    """Predicts the class it learnt last, and writes down what it is asked and taught."""

    def reset(self):
        self.events = []

    def partial_fit(self, X, y):
        self.events.append(("learn", X["t"].tolist(), y.tolist()))
        self.last = y[-1]

    def predict_proba(self, X):
        self.events.append(("predict", X["t"].tolist()))
        return pd.DataFrame({self.last: np.ones(len(X))})


def make_batches(labels, size):
    y = np.array(labels, dtype=object)
    X = pd.DataFrame({"t": np.arange(float(len(y)))})
    return [(X.iloc[i : i + size].reset_index(drop=True), y[i : i + size]) for i in range(0, len(y), size)]


def count_all(batches, probabilities, columns):
    scores = Scores([y for _, y in batches])
    for k, (_, y) in enumerate(batches):
        found = pd.DataFrame(probabilities[k], columns=columns) if k else None
        scores.count(found, y, y, 0.0, 0.0)
    return scores.summary()


def test_average_precision_is_scikit_learns_mean_over_rare_classes():
    rng = np.random.default_rng(1)
    # 5 % is rare; "seldom" comes fewer than 10 times, which is too few; the learner has no column for "rarer".
    labels = rng.permutation(["often"] * 600 + ["other"] * 326 + ["rare"] * 50 + ["rarer"] * 20 + ["seldom"] * 4)
    batches = make_batches(labels, 100)
    columns = ["often", "other", "rare", "seldom"]
    given = [rng.dirichlet(np.ones(4), 100) for _ in batches]
    found = count_all(batches, given, columns)["rare_average_precision"]
    truth, p = labels[100:], np.concatenate(given[1:]).astype(np.float32)
    expected = [
        average_precision_score(truth == name, p[:, columns.index(name)] if name in columns else np.zeros(len(p)))
        for name in ("rare", "rarer")
    ]
    assert found == pytest.approx(np.mean(expected), abs=1e-6)


def test_kappas_compare_with_the_last_known_label_and_with_the_most_frequent_known_one():
    rng = np.random.default_rng(2)
    labels = rng.choice(["a", "b", "c"], 300, p=[0.5, 0.3, 0.2])
    batches = make_batches(labels, 30)
    given = [rng.dirichlet(np.ones(3), 30) for _ in batches]
    found = count_all(batches, given, ["a", "b", "c"])
    right = no_change = majority = 0
    for i in range(30, 300):
        start = i // 30 * 30  # of the batch: what came before is known
        past = list(labels[:start])
        right += "abc"[given[i // 30][i - start].argmax()] == labels[i]
        no_change += past[-1] == labels[i]
        majority += max("abc", key=past.count) == labels[i]
    assert found["kappa_no_change"] == pytest.approx((right - no_change) / (270 - no_change))
    assert found["kappa_majority"] == pytest.approx((right - majority) / (270 - majority))


def rows_of(table, families, failed=()):
    blank = dict.fromkeys(COLUMNS, "")
    return [
        blank
        | {"protocol": "next-batch", "stream": stream, "learner": learner, "seed": "0", "family": families[learner]}
        | {"status": "timeout" if (learner, stream) in failed else "ok", "accuracy": str(value)}
        for learner, values in table.items()
        for stream, value in zip("stuv", values, strict=True)
    ]


def test_regret_is_against_the_best_refit_of_each_stream():
    table = {
        "refit-1": [0.9, 0.5, 0.7, 0.6],
        "refit-2": [0.8, 0.6, 0.75, 0.99],  # its last run failed and counts with the rule
        "adforest": [0.95, 0.55, 0.7, 0.45],
        "prior-all": [0.3, 0.3, 0.3, 0.3],
    }
    families = {"refit-1": "refit", "refit-2": "refit", "adforest": "stream", "prior-all": "trivial"}
    board = make_board(rows_of(table, families, {("refit-2", "v")}), "next-batch", list("stuv"))
    found = {line.name: line for line in board.lines}
    best = [0.9, 0.6, 0.75, 0.6]
    for name in ("refit-1", "adforest", "prior-all"):
        assert found[name].regret == pytest.approx(np.mean(np.subtract(best, table[name]))), name
    assert found["refit-2"].regret == pytest.approx(np.mean(np.subtract(best, [0.8, 0.6, 0.75, 0.3])))
    # Paired: what stands behind the first is the mean of differences on the same streams.
    difference = np.subtract(table["adforest"], table["refit-1"])
    assert found["refit-1"].behind == (0.0, 0.0, 0.0)
    assert found["adforest"].behind == pytest.approx(paired_interval(difference))


def test_paired_intervals_are_scipys():
    differences = np.random.default_rng(3).normal(0.02, 0.05, 25)
    mean, low, high = paired_interval(differences)
    expected = bootstrap(
        (differences,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(4)
    ).confidence_interval
    assert mean == pytest.approx(np.sum(differences) / 25)
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=0.002)
    assert paired_interval(differences) == (mean, low, high)


@pytest.mark.parametrize("delay", [1, 5])
def test_labels_come_as_many_batches_late_as_the_protocol_says(delay):
    diary = Diary()
    batches = make_batches(list("ab") * 20, 4)
    found = evaluate(diary, batches, PROTOCOLS[f"delay-{delay}"])
    times = [X["t"].tolist() for X, _ in batches]
    expected = []
    for k in range(10):
        if k > delay:  # labels of batch 0 are there
            expected.append(("predict", times[k]))
        if k >= delay:
            expected.append(("learn", times[k - delay], batches[k - delay][1].tolist()))
    assert diary.events == expected
    assert found["n_batches"] == 9 - delay


def test_with_equal_time_batches_wait_and_are_learnt_joined(monkeypatch):
    clock = {"now": 0.0}
    monkeypatch.setattr(protocols, "process_time", lambda: clock["now"])

    class Slow(Diary):
        def partial_fit(self, X, y):
            super().partial_fit(X, y)
            clock["now"] += 3 * BUDGET  # as much as 3,000 samples may take

    diary = Slow()
    batches = make_batches(["a"] * 8_000, 1_000)
    found = evaluate(diary, batches, PROTOCOLS["equal-time"])
    learnt = [[int(event[1][0]), int(event[1][-1]) + 1] for event in diary.events if event[0] == "learn"]
    # The first batch is learnt at once, and uses up the time of batches 0 to 2; those that wait come together.
    assert learnt == [[0, 1_000], [1_000, 3_000], [3_000, 6_000]]
    assert sum(event[0] == "predict" for event in diary.events) == 7
    assert found["late"] == pytest.approx(5 / 7)


def test_rules_know_the_labels_that_came_whether_or_not_the_learner_had_time_for_them(monkeypatch):
    clock = {"now": 0.0}
    monkeypatch.setattr(protocols, "process_time", lambda: clock["now"])

    class Constant(Diary):
        """Predicts the same, however late it learns."""

        def __init__(self, seconds):
            self.seconds = seconds

        def partial_fit(self, X, y):
            super().partial_fit(X, y)
            clock["now"] += self.seconds

        def predict_proba(self, X):
            return pd.DataFrame({"a": np.ones(len(X))})

    labels = np.random.default_rng(6).choice(["a", "b", "c"], 8_000, p=[0.4, 0.3, 0.3])
    found = [evaluate(Constant(one), make_batches(labels, 500), PROTOCOLS["equal-time"]) for one in (0.0, 5 * BUDGET)]
    late = [one.pop("late") for one in found]
    costs = ("seconds_per_batch", "seconds_by_batch", "peak_mb", "mb_by_batch")
    seconds, *_ = zip(*([one.pop(name) for name in costs] for one in found), strict=True)
    assert late[0] == 0 < late[1]
    assert seconds[0] < seconds[1]
    assert found[0] == found[1]


def test_of_equal_accuracies_a_rule_is_first_and_means_are_of_the_same_streams():
    table = {"river": [0.9, 0.5, 0.5, 0.5], "prior-all": [0.9, 0.6, 0.3, 0.3], "adforest": [0.8, 0.7, 0.7, 0.7]}
    rows = rows_of(table, {"river": "stream", "prior-all": "trivial", "adforest": "stream"}, {("adforest", "v")})
    rows = [row | {"log_loss": "0.5", "new_class_recall": "0.5" if row["stream"] == "s" else ""} for row in rows]
    board = make_board(rows, "next-batch", list("stuv"))
    assert [board.winner(stream) for stream in "stuv"] == ["prior-all", "adforest", "adforest", "river"]
    found = {line.name: line.means for line in board.lines}
    assert "log_loss" not in found["adforest"]  # its failed run has none
    assert found["river"]["log_loss"] == found["adforest"]["new_class_recall"] == 0.5


def test_classes_arrive_one_after_the_other_over_the_first_half():
    rng = np.random.default_rng(5)
    labels = rng.choice(list("abcde"), 2_000, p=[0.3, 0.3, 0.2, 0.1, 0.1])
    batches = make_batches(labels, 100)  # 20: three classes arrive at 2.5, 5 and 7.5, rounded
    found = arrange(batches, PROTOCOLS["new-classes"])
    counts = {name: list(labels).count(name) for name in "abcde"}
    present = sorted(counts, key=counts.get)[-2:]
    later = [name for name in dict.fromkeys(labels) if name not in present]
    arrival = dict(zip(later, [2, 5, 8], strict=True))
    for k, ((X, y), (_, whole)) in enumerate(zip(found, batches, strict=True)):
        keep = [i for i in range(100) if arrival.get(whole[i], 0) <= k]
        assert y.tolist() == whole[keep].tolist()
        assert X["t"].tolist() == [100 * k + i for i in keep]


def test_recall_of_new_classes_counts_the_five_batches_after_the_first_with_it():
    # "new" is first learnt with batch 2, so it is new in batches 3 to 7; every second sample of it is predicted.
    labels = [["a"] * 10] * 2 + [["a"] * 5 + ["new"] * 5] * 8
    batches = make_batches(np.concatenate(labels), 10)
    given = [np.column_stack([np.ones(10), np.zeros(10)]) for _ in batches]
    for k in range(3, 8):
        given[k][5 : 5 + (k - 2)] = [0, 1]  # 1, 2, 3, 4, 5 of five
    for k in (8, 9):
        given[k][5:] = [0, 1]  # no longer new: must not count
    assert count_all(batches, given, ["a", "new"])["new_class_recall"] == pytest.approx(15 / 25)
