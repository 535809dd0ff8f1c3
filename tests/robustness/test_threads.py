"""Threads see whole models, and models learn side by side."""

import threading
import time

import pytest

from small_forests import forest
from whole_models import clusters


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_other_threads_see_the_old_model_or_the_new_one(n_jobs):
    # New classes widen the answers, labels that change make every version answer differently.
    batches = [clusters(number, (number % 3, (number + 1) % 3, number), n=600) for number in range(12)]
    X, _ = clusters(99, tuple(range(12)), n=50)
    twin, versions = forest(n_jobs=n_jobs), []
    for batch in batches:
        twin.partial_fit(*batch)
        versions.append((twin.predict_proba(X).tobytes(), twin.predict(X).tolist()))
    model = forest(n_jobs=n_jobs).partial_fit(*batches[0])
    done, seen, errors = threading.Event(), set(), []

    def ask():
        try:
            while not done.is_set():
                shares, labels = model.predict_proba(X).tobytes(), model.predict(X).tolist()
                first = next(i for i, version in enumerate(versions) if version[0] == shares)
                assert labels in [version[1] for version in versions[first:]], "time does not run backwards"
                seen.add(first)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for batch in batches[1:]:
        model.partial_fit(*batch)
        time.sleep(0.005)
    done.set()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(seen) > 1, "the threads did see the model change"


def test_models_learn_side_by_side_in_threads():
    batches = [clusters(number, (0, 1, 2), n=300) for number in range(5)]
    X, _ = clusters(99, (0, 1, 2))

    def learn(seed):
        model = forest(random_state=seed)
        for batch in batches:
            model.partial_fit(*batch)
        return model.predict_proba(X).tobytes()

    expected, found = [learn(seed) for seed in range(4)], [None] * 4

    def work(seed):
        found[seed] = learn(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected
