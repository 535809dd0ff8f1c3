"""A data set in memory: one matrix of numbers, and the words behind its categorical columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples, their class values, and what the columns mean.

    Attributes
    ----------
    name : str
        The name the data set was asked for.
    X : ndarray of float64, shape (n_samples, n_columns)
        The records; a categorical column holds positions in its category labels. NaN where a value is missing.
    y : ndarray, shape (n_samples,)
        The class values.
    feature_names : tuple of str
        One name per column.
    categorical : tuple of bool
        Per column, whether it is categorical.
    categories : dict of str to ndarray
        The labels of each categorical column, in the order of their codes.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.generic]
    feature_names: tuple[str, ...]
    categorical: tuple[bool, ...]
    categories: dict[str, NDArray[np.str_]]

    def to_pandas(self) -> pd.DataFrame:
        """Return the records as a data frame whose categorical columns carry their labels.

        Returns
        -------
        pandas.DataFrame
            One column per feature, without the class.
        """
        import pandas as pd

        return pd.DataFrame(
            {
                name: pd.Categorical.from_codes(np.nan_to_num(column, nan=-1).astype(np.intp), self.categories[name])
                if is_categorical
                else column
                for name, column, is_categorical in zip(self.feature_names, self.X.T, self.categorical, strict=True)
            }
        )
