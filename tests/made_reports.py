"""Reports of batches that nobody learnt."""

from adforest import BatchReport
from adforest.tracking import History


def report(batch, accuracy=0.8, drift="none", n=10, new=(), **others):
    values = {
        "scenario": "MKC",
        "perturbed": {"permanent": 0.1},
        "action": {"permanent": "repaired"},
        "n_leaves": {"permanent": batch},
        "answering": "permanent",
        "votes": {"permanent": 1.0},
        "seconds": 0.5,
        "confidence": None if accuracy is None else accuracy / 2,
        "n_tested": 0.0 if accuracy is None else float(n),
    }
    accuracies = {} if accuracy is None else {"vote": accuracy, "permanent": accuracy / 2}
    return BatchReport(batch, n, new_classes=new, drift=drift, accuracy=accuracies, **values | others)


def history_of(reports):
    history = History()
    for one in reports:
        history = history.after(one)
    return history
