"""Models that learnt numbers, categories and gaps, in batches whose rules, class mix and classes change."""

import numpy as np

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier

BASES = ("random_forest", "sysfor", "hoeffding")
MODELS = {
    "adaptive": lambda base: AdaptiveDecisionForestClassifier(6, base_forest=base, drift_threshold=0, random_state=0),
    "everything": lambda base: AdaptiveDecisionForestClassifier(
        6, base_forest=base, answer_for="everything", random_state=0
    ),
    "no memory": lambda base: AdaptiveDecisionForestClassifier(6, base_forest=base, memory_size=0, random_state=0),
    "weighted": lambda base: AdaptiveDecisionForestClassifier(
        6, base_forest=base, class_weight="balanced", random_state=0
    ),
    "paper, hard": lambda base: PaperADFClassifier(6, base_forest=base, drift_threshold=0, random_state=0),
    "paper, soft": lambda base: PaperADFClassifier(
        6, base_forest=base, drift_threshold=0, voting="soft", random_state=0
    ),
}


def mixed_batch(number, n=240):
    """Return a list of samples (two numbers, a kind, a constant) and their classes, named out of order of arrival."""
    rng = np.random.default_rng(number)
    shares = [0.5, 0.5, 0.0] if number < 4 else [0.1, 0.6, 0.3]
    y = rng.choice(3, n, p=shares)
    rule = y if number < 6 else (y + 1) % 3
    numbers = rng.normal(size=(n, 2)) + np.column_stack([1.2 * rule, 2.0 * (rule == 1)])
    kinds = rng.choice(["red", "blue", "green"], n)
    kinds[rng.random(n) < 0.4 * (rule == 2)] = "violet"
    samples = [[*pair, kind, 1.0] for pair, kind in zip(numbers.tolist(), kinds.tolist(), strict=True)]
    for row in rng.choice(n, n // 8, replace=False):
        samples[row][rng.integers(3)] = None
    return samples, np.array(["m", "z", "a"])[y]


def mixed_model(kind, base, n_batches=10):
    """Return a model that learnt some batches, the last one small."""
    model = MODELS[kind](base)
    for number in range(n_batches):
        model.partial_fit(*mixed_batch(number, 240 if number < n_batches - 1 else 40))
    return model


def probes():
    """Return samples of early and late rules, one far from all, one that knows nothing, one of a new kind."""
    odd = [[1e6, -1e6, "red", 1.0], [None, None, None, None], [0.0, 0.0, "never seen", 2.0]]
    return mixed_batch(2, 12)[0] + mixed_batch(77, 12)[0] + odd
