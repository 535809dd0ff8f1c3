"""Model files of every version so far, and what they answered when they were written.

``python tests/golden_model_files.py`` writes those of this version's schema that are not there yet; a file that is
there is never written again.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from adforest.storage.container import SCHEMA
from saved_models import numbers, ours, paper, table

FOLDER = Path(__file__).parent / "files"


def few(model, batches):
    for X, y in batches:
        model.partial_fit(X, y)
    return model


def made():
    """Return small models by name, and samples to be predicted."""
    plain = [numbers(k, n=14) for k in range(2)] + [numbers(2, n=1)]
    mixed = [table(k, n=14) for k in range(2)]
    return {
        "ours": (few(ours(n_estimators=2), plain), numbers(9, n=6)[0], {}),
        "paper": (few(paper(n_estimators=2), plain), numbers(9, n=6)[0], {}),
        "tables": (few(ours(n_estimators=2, base_forest="hoeffding"), mixed), table(9, n=6)[0], {}),
        "sysfor": (few(ours(n_estimators=2, base_forest="sysfor"), mixed), table(9, n=6)[0], {}),
        "answers": (few(ours(n_estimators=2), mixed), table(9, n=6)[0], {"samples": False}),
    }


def as_json(X):
    """Return samples in a form that JSON holds."""
    if not isinstance(X, pd.DataFrame):
        return np.where(np.isnan(X), None, X).tolist()
    plain = X.assign(day=X["day"].astype(str), moment=X["moment"].astype(str), took=X["took"].dt.total_seconds())
    return {name: [None if pd.isna(one) else one for one in plain[name].tolist()] for name in plain}


def samples_of(saved):
    """Return the samples that `as_json` made JSON of."""
    if isinstance(saved, list):
        return np.array(saved, dtype=np.float64)
    return pd.DataFrame(
        saved
        | {
            "day": pd.to_datetime(saved["day"]),
            "moment": pd.to_datetime(saved["moment"], utc=True),
            "took": pd.to_timedelta(saved["took"], unit="s"),
            "later": np.array(saved["later"], dtype=np.float64),
        }
    )


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, (model, X, how) in made().items():
        path = FOLDER / f"schema-{SCHEMA}-{name}.adf"
        if path.exists():
            continue
        X = samples_of(json.loads(json.dumps(as_json(X))))
        model.save(path, **how)
        answers = {
            "X": as_json(X),
            "predict": model.predict(X).tolist(),
            "predict_proba": model.predict_proba(X).tolist(),
            "batches": [report.n_samples for report in model.history_],
        }
        path.with_suffix(".json").write_text(json.dumps(answers), encoding="utf-8")
        print(path.name, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
