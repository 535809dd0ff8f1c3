"""Frames of a thousand samples and more: text that the data frame library tells apart is coded as any other."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from adforest import AdaptiveDecisionForestClassifier
from encoded_tables import learn_table

NAMES = [f"name {i % 37}" if i % 11 else None for i in range(2_000)]
FRAMES = {
    "pandas": lambda names: pd.DataFrame({"name": pd.Series(names, dtype=object)}),
    "pandas string": lambda names: pd.DataFrame({"name": pd.Series(names, dtype="string")}),
    "pandas categorical": lambda names: pd.DataFrame({"name": pd.Series(names, dtype="category")}),
    "polars": lambda names: pl.DataFrame({"name": names}, schema={"name": pl.String}),
    "polars categorical": lambda names: pl.DataFrame({"name": names}, schema={"name": pl.Categorical}),
    "pyarrow": lambda names: pa.table({"name": pa.array(names, pa.string())}),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_text_of_a_large_frame_is_coded_as_that_of_small_ones(kind):
    large, codes = learn_table(FRAMES[kind](NAMES), "from_dtype")
    small, first = learn_table(FRAMES[kind](NAMES[:500]), "from_dtype")
    np.testing.assert_array_equal(np.isnan(codes[:, 0]), [name is None for name in NAMES])
    values = [large.category_values(0)[int(code)] for code in codes[~np.isnan(codes[:, 0]), 0]]
    assert values == [name for name in NAMES if name is not None]
    parts = [first, *(small.translate(FRAMES[kind](NAMES[start : start + 500])) for start in (500, 1_000, 1_500))]
    assert sorted(small.category_values(0)) == sorted(large.category_values(0))
    found = [small.category_values(0)[int(code)] for part in parts for code in part[~np.isnan(part[:, 0]), 0]]
    assert found == values


def test_positions_of_categorical_columns_must_be_there():
    for wrong in ([-1, 0], [0, 2]):
        with pytest.raises((ValueError, IndexError), match="categorical_features"):
            AdaptiveDecisionForestClassifier(2, categorical_features=wrong).fit(np.zeros((4, 2)), [0, 1, 0, 1])
