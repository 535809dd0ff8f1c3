import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from adforest.simulation import make_house


@pytest.fixture(scope="module")
def house():
    return make_house(60_000, random_state=0)


def test_columns_hold_what_their_names_promise(house):
    assert house.feature_names == ("Area", "Beds", "Baths", "Parkings", "CTS", "CTC", "CTT", "Heating", "View")
    assert house.categorical == (False,) * 4 + (True,) * 5
    assert house.X.dtype == np.float64
    bounds = [(100, 799), (1, 3), (1, 2), (0, 1)] + [(0, 1)] * 5
    assert [(low, high) for low, high in zip(house.X.min(axis=0), house.X.max(axis=0), strict=True)] == bounds


def test_seven_rents_uneven_but_none_rare(house):
    _, counts = np.unique(house.y, return_counts=True)
    shares = counts / counts.sum()
    assert len(shares) == 7
    assert shares.min() > 0.04
    assert shares.max() > 2 * shares.min()


def test_same_seed_same_table():
    one, same, other = (make_house(500, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.X, same.X)
    np.testing.assert_array_equal(one.y, same.y)
    assert not np.array_equal(one.X, other.X)


def test_a_careful_forest_is_right_about_87_times_in_100(house):
    forest = RandomForestClassifier(10, min_samples_leaf=20, random_state=0).fit(house.X[:50_000], house.y[:50_000])
    assert forest.score(house.X[50_000:], house.y[50_000:]) == pytest.approx(0.87, abs=0.015)


def test_data_frame_has_real_categories():
    house = make_house(50, random_state=0)
    frame = house.to_pandas()
    assert list(frame.columns) == list(house.feature_names)
    assert isinstance(frame["View"].dtype, pd.CategoricalDtype)
    assert list(frame["View"]) == ["ny"[int(code)] for code in house.X[:, 8]]
    np.testing.assert_array_equal(frame["Area"], house.X[:, 0])
