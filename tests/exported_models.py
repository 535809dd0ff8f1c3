"""Small models with everything that an export has to carry, and ONNX Runtime's answers beside theirs."""

import numpy as np
import onnxruntime
import pandas as pd

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier

FORESTS = ("random_forest", "sysfor", "hoeffding")
LABELS = {
    "text": np.array(["zebra", "ape", "moth", "cow", "bée"], dtype=object),
    "int": np.array([7, -3, 40, 2**53 + 1, 0]),
    "bool": np.array([True, False]),
    "float": np.array([3.0, -1.0, 2.0, 8.0, 5.0]),
}


def table(rng, n, n_categories, *, shown=1.0):
    """Return mixed samples; of the categories only a share is shown."""
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "count": rng.integers(0, 6, n).astype(np.float64),  # few values: ties with thresholds
            "kind": rng.choice([f"kind {code}" for code in range(max(2, int(shown * n_categories)))], n),
            "zone": pd.Categorical(rng.integers(0, 9, n) * 1.5),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 10**6, n), unit="s"),
        }
    )
    for name in frame:
        frame.loc[rng.random(n) < 0.1, name] = None
    return frame


def labels_of(rng, X, rule, n_classes, n_categories):
    """Return classes that numbers and categories decide together, and differently once rules change."""
    code = X["kind"].str[5:].astype(float).fillna(0).to_numpy()
    score = X["size"].fillna(0).to_numpy() + 2 * (code < n_categories / 2) + X["count"].fillna(1).to_numpy() / 4
    y = (np.digitize(score, [0.5, 1.5, 2.5, 4.0]) + rule) % n_classes
    noise = rng.random(len(X)) < 0.1
    return np.where(noise, rng.integers(0, n_classes, len(X)), y)


def random_model(seed):
    """Return a model that learnt eight batches, and samples of which some hold what it never saw."""
    rng = np.random.default_rng(seed)
    kind = list(LABELS)[seed % 4]
    n_categories, most = int(rng.choice([3, 40, 300])), len(LABELS[kind])
    common = {"base_forest": FORESTS[seed % 3], "random_state": seed}
    if seed % 7 == 0:
        common["class_weight"] = "balanced"
    if rng.random() < 0.3:
        common["max_categories"] = 5
    if seed % 5 < 3:
        model = AdaptiveDecisionForestClassifier(
            6,
            answer_for=str(rng.choice(["next_batch", "next_batch", "next_batch", "everything"])),
            memory_size=[0, 300, 100_000][rng.integers(3)],
            splitting=str(rng.choice(["entropy", "isat"])),
            drift_threshold=int(rng.integers(0, 3)),
            **common,
        )
    else:
        model = PaperADFClassifier(
            5,
            voting="hard" if seed % 2 else "soft",
            min_samples_leaf=5,
            repair_threshold=float(rng.choice([0.05, 0.9])),
            **common,
        )
    change, n_frequent = int(rng.integers(3, 8)), min(3, most)
    for number in range(8):
        X = table(rng, 150 if number else 300, n_categories, shown=0.6 if number < 4 else 1.0)
        X["size"] += number / 4
        y = labels_of(rng, X, int(number >= change), n_frequent, n_categories)
        if most == 5:
            y[(X["size"] > 0) & (X["count"] == 5)] = 4 if number >= 6 else 0  # a class that is new
            y[:2] = 3  # one that is rare
        model.partial_fit(X, LABELS[kind][y], sample_weight=rng.random(len(X)) * 3 if seed % 4 == 1 else None)
    model.partial_fit(X[:20], LABELS[kind][y[:20]])  # so few wait until more come
    fresh = table(rng, 400, n_categories + 20)
    fresh["size"] *= 3
    return model, fresh


def feed(X, missing_text=""):
    """Return a data frame as a graph takes it, by the book: text as text, dates as seconds, the rest as doubles."""
    fed = {}
    for name, column in X.items():
        if column.dtype.kind == "M":
            seconds = (column - pd.Timestamp(0)) / pd.Timedelta(1, "s")
            values = seconds.to_numpy(np.float64)
        elif any(isinstance(value, str) for value in column):
            values = column.astype(object).where(column.notna(), missing_text).to_numpy(object)
        else:
            values = column.to_numpy(np.float64)
        fed[str(name)] = values[:, np.newaxis]
    return fed


def run(graph, fed):
    """Return what ONNX Runtime makes of a graph and its inputs."""
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, fed)


def assert_same_answers(model, X, label, probabilities):
    """Every sample has the same label, unless two classes are equally likely but for rounding, and the same shares."""
    shares = model.predict_proba(X)
    np.testing.assert_allclose(probabilities, shares, rtol=0, atol=1e-6)
    ranked = np.sort(shares, axis=1)
    is_clear = ranked[:, -1] - ranked[:, -2] > 1e-9 if shares.shape[1] > 1 else np.ones(len(shares), dtype=bool)
    np.testing.assert_array_equal(label[is_clear], model.predict(X)[is_clear])
    assert np.mean(is_clear) > 0.5
