"""Tables as numbers, learnt batch by batch: a category gets its code when it is first learnt, never before."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray


class Encoder:
    """Codes of categories in the order in which they are learnt.

    Numbers stay as they are. A category that has not been learnt and a missing value are NaN.

    Examples
    --------
    >>> import pandas as pd
    >>> encoder = Encoder()
    >>> encoder.learn(pd.DataFrame({"city": ["Rome", "Oslo"], "size": [1.0, 2.0]}))
    >>> encoder.transform(pd.DataFrame({"city": ["Oslo", "Bonn"], "size": [3.0, None]})).tolist()
    [[1.0, 3.0], [nan, nan]]
    """

    def __init__(self) -> None:
        self.codes: dict[str, dict[str, int]] = {}

    def learn(self, X: pd.DataFrame) -> None:
        """Give codes to the categories of a batch that have none."""
        for name in X.columns:
            if X[name].dtype.kind == "O":
                codes = self.codes.setdefault(name, {})
                for value in pd.unique(X[name]):
                    if isinstance(value, str):
                        codes.setdefault(value, len(codes))

    def transform(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return a batch as numbers, categories as their codes."""
        columns = [X[name].map(self.codes[name]) if name in self.codes else X[name] for name in X.columns]
        return np.column_stack([column.to_numpy(dtype=np.float64) for column in columns])

    def categorical(self, X: pd.DataFrame, most: int | None = None) -> list[int]:
        """Return which columns hold categories, at most so many different ones."""
        found = [(j, len(self.codes[name])) for j, name in enumerate(X.columns) if name in self.codes]
        return [j for j, n in found if most is None or n <= most]
