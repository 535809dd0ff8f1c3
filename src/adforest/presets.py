"""The paper's own experiment, in one call."""

from typing import Any


def paper_settings(n_records: int, reading: str = "program") -> dict[str, Any]:
    """Return the keyword arguments of the paper's own experiment.

    Parameters
    ----------
    n_records : int
        Size of the whole data set: leaves keep 20 records, or 100 above 100,000.
    reading : {"program", "text"}, default="program"
        "program" is how the author's program behaves, which made the published tables: leaves know all records they
        ever received, confidence is that of merged counts, any perturbed leaf makes a tree change. "text" is how the
        pseudo-code reads: leaves know the batch only, confidence is the batch's, a tree changes if more than θ of its
        leaves are perturbed.

    Returns
    -------
    dict

    Examples
    --------
    >>> from adforest import AdaptiveDecisionForestClassifier, paper_settings
    >>> AdaptiveDecisionForestClassifier(**paper_settings(20_867)).min_samples_leaf
    20
    """
    if reading not in ("program", "text"):
        raise ValueError(f"reading is {reading!r}; expected 'program' (as the tables were made) or 'text'")
    text = reading == "text"
    return {
        "n_estimators": 10,
        "splitting": "isat",
        "repair_threshold": 0.4,
        "error_tolerance": 0.02,
        "drift_threshold": 3,
        "window_size": 3,
        "memory_size": 0 if text else None,
        "min_samples_leaf": 100 if n_records > 100_000 else 20,
        "max_features": "log2+1",
        "perturbation": "batch" if text else "merged",
        "tree_repair": "share" if text else "any",
        "renewal": 0,
        "voting": "majority",
        "selection": "training",
    }
