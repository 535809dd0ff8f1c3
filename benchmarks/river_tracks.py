"""River's own classification tracks, by its own evaluation and metrics: our wrapper beside learners of River.

Run ``python benchmarks/river_tracks.py [seed]``: one JSON line a data set and learner. Of the tracks' data sets those
run that River has on this machine; the others are named. ``river.datasets.Elec2().download()`` fetches one.
"""

import sys
import warnings
from collections.abc import Iterator
from typing import Any

from river import ensemble, evaluate, forest, tree
from timing import print_line

from adforest.integrations.river import AdaptiveDecisionForest

LEARNERS = {
    "adforest": lambda seed: AdaptiveDecisionForest(seed=seed),
    "ARF": lambda seed: forest.ARFClassifier(seed=seed),
    "SRP": lambda seed: ensemble.SRPClassifier(seed=seed),
    "LeveragingBag": lambda seed: ensemble.LeveragingBaggingClassifier(model=tree.HoeffdingTreeClassifier(), seed=seed),
    "AMF": lambda seed: forest.AMFClassifier(seed=seed),
}


def measure_tracks(seed: int = 42) -> Iterator[dict[str, Any]]:
    """Run each learner on each data set that is here."""
    for track in (evaluate.BinaryClassificationTrack(), evaluate.MultiClassClassificationTrack()):
        for dataset in track:
            name = type(dataset).__name__
            if not getattr(dataset, "is_downloaded", True):
                yield {"track": track.name, "data": name, "skipped": "not on this machine"}
                continue
            for learner, make in LEARNERS.items():
                model = make(seed)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", DeprecationWarning)
                    *_, last = track.run(model, dataset, n_checkpoints=1)
                figures = {key: value.get() for key, value in last.items() if hasattr(value, "get")}
                seconds = last["Time"].total_seconds()
                milliseconds = 1000 * seconds / dataset.n_samples
                yield {"track": track.name, "data": name, "learner": learner} | figures | {"milliseconds": milliseconds}


if __name__ == "__main__":
    for line in measure_tracks(*map(int, sys.argv[1:2])):
        print_line(line)
