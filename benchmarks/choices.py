"""Measure the choices behind the defaults: each varied alone, along the 34-batch protocol, one JSON line a pair.

Words given as arguments choose data sets. `accuracy` is the mean over batches, `retention` the accuracy on held-back
records of all batches after the last one.
"""

import json
import sys

import numpy as np
from measures import DATASETS, follow, ours, stream

CHOICES = {
    "default": {},
    "perturbation=merged": {"perturbation": "merged"},
    "perturbation=batch": {"perturbation": "batch"},
    "selection=training": {"selection": "training"},
    "voting=majority": {"voting": "majority"},
    "tree_repair=share": {"tree_repair": "share"},
    "splitting=entropy": {"splitting": "entropy"},
    "splitting=sat": {"splitting": "sat"},
    "renewal=0": {"renewal": 0},
    "renewal=3": {"renewal": 3},
    "memory_size=10_000": {"memory_size": 10_000},
    "memory_size=0": {"memory_size": 0},
    "min_samples_leaf=5": {"min_samples_leaf": 5},
}


def main(names: list[str]) -> None:
    for name in names:
        batches, categorical = stream(name)
        X_held = np.concatenate([batch.X_held for batch in batches])
        y_held = np.concatenate([batch.y_held for batch in batches])
        for choice, parameters in CHOICES.items():
            model = ours(categorical_features=list(categorical), **{"memory_size": None, **parameters})
            accuracy, seconds = follow(batches, model)
            line = {
                "data": name,
                "choice": choice,
                "accuracy": round(accuracy, 4),
                "retention": round(model.score(X_held, y_held), 4),
                "seconds_per_batch": round(seconds, 4),
                "drifts": sum(report.drift != "none" for report in model.history_),
                "leaves": model.permanent_forest_.n_leaves,
            }
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or list(DATASETS))
