from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from adforest.simulation import make_house
from experiments.running.fingerprints import digest_stream
from experiments.specs.run_spec import StreamSpec
from experiments.specs.sources import DATASET_SIZES, IN_ORDER, SOURCES, digest_records, open_stream, stream_size
from experiments.streams import datasets
from experiments.streams.datasets import NAMES, STREAMS
from nextbatch.streams import digest_table, normalize

SMALL = {"n_samples": 1200}


def test_every_data_set_is_a_source_of_known_size():
    assert set(NAMES) <= set(SOURCES)
    assert set(DATASET_SIZES) == set(NAMES)
    assert set(STREAMS) <= set(SOURCES)
    assert {"elec2", "gas", "hotel", "outdoor", "covtype100k"} <= set(STREAMS)
    assert stream_size(StreamSpec.of("gas", IN_ORDER, batch_size=150)) == 6_697


@pytest.mark.parametrize(("variant", "n_batches"), [("34", 34), ("28", 28), ("big", 34), ("whole", 1)])
def test_variants(variant, n_batches):
    spec = StreamSpec.of("house", variant, **SMALL)
    stream = open_stream(spec, 0, None)
    assert len(stream.batches) == n_batches
    assert stream_size(spec) == 1200
    assert stream.n_samples == 1200
    assert stream.is_tested_once == (variant in ("big", "whole"))
    assert stream.n_categories == (0, 0, 0, 0, 2, 2, 2, 2, 2)
    assert stream.categorical == list(make_house(10, random_state=0).categorical)


def test_whole_is_big_in_one_batch():
    big = open_stream(StreamSpec.of("house", "big", **SMALL), 1, None)
    (whole,) = open_stream(StreamSpec.of("house", "whole", **SMALL), 1, None).batches
    assert np.array_equal(whole.X_train, np.concatenate([batch.X_train for batch in big.batches]))
    assert np.array_equal(whole.y_train, np.concatenate([batch.y_train for batch in big.batches]))
    assert np.array_equal(whole.X_test, big.batches[-1].X_test)


def test_digest_tells_streams_apart():
    spec = StreamSpec.of("house", "34", **SMALL)
    first, again, other = (open_stream(spec, seed, None) for seed in (0, 0, 1))
    assert first.digest() == again.digest() != other.digest()
    changed = replace(first.batches[5], X_test=first.batches[5].X_test + 1)
    assert replace(first, batches=[*first.batches[:5], changed, *first.batches[6:]]).digest() != first.digest()


def test_unknown_stream_is_named():
    with pytest.raises(ValueError, match=r"there is no stream 'hose'; expected one of .*house"):
        open_stream(StreamSpec("hose"), 0, None)


def test_missing_data_set_says_what_to_do(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"avila.*ADFOREST_DATA.*--data FOLDER, or --quick"):
        digest_stream(StreamSpec("avila"), tmp_path)


def test_missing_stream_says_what_to_do(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"streams.elec2\.parquet.*ADFOREST_DATA.*--data FOLDER, or --quick"):
        digest_stream(StreamSpec.of("elec2", IN_ORDER, batch_size=100), tmp_path)


def write_files(folder, monkeypatch, price=0.0):
    """Write two small files whose prices begin at a number, and let one of them be the table of its recipe."""
    columns = {"day": ["2", None, "3"] * 4, "price": price + np.arange(12.0), "class": ["up", "down"] * 6}
    (folder / "streams").mkdir(parents=True)
    pd.DataFrame(columns).to_parquet(folder / "streams" / "elec2.parquet")
    pd.DataFrame({"time": np.arange(12.0)} | columns).to_parquet(folder / "arem.parquet")
    recipe = replace(STREAMS["elec2"], sha256=digest_table(normalize(pd.DataFrame(columns))), n_records=12)
    monkeypatch.setitem(datasets.STREAMS, "elec2", recipe)
    return folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    return write_files(tmp_path, monkeypatch)


@pytest.mark.parametrize("name", ["elec2", "arem"])
def test_files_are_cut_in_their_order_whatever_the_seed(name, folder):
    spec = StreamSpec.of(name, IN_ORDER, batch_size=5)
    stream = open_stream(spec, 0, folder)
    assert [len(batch.y_train) for batch in stream.batches] == [5, 5]  # two records are fewer than half a batch
    assert stream.n_categories == (2, 0)
    assert stream.n_samples == 12
    np.testing.assert_array_equal(stream.batches[0].X_train, [[0, 0], [np.nan, 1], [1, 2], [0, 3], [np.nan, 4]])
    assert stream.batches[1].y_train.tolist() == ["down", "up", "down", "up", "down"]
    assert stream.digest() == open_stream(spec, 1, folder).digest()


@pytest.mark.parametrize("name", ["elec2", "arem"])
def test_other_records_are_another_stream(name, tmp_path, monkeypatch):
    spec = StreamSpec.of(name, IN_ORDER, batch_size=5)
    one, same, other = (
        digest_stream(spec, write_files(tmp_path / folder, monkeypatch, price))
        for folder, price in (("one", 0.0), ("same", 0.0), ("other", 1.0))
    )
    assert one == same != other


def test_house_can_be_cut_in_order():
    stream = open_stream(StreamSpec.of("house", IN_ORDER, n_samples=100, batch_size=30), 3, None)
    house = make_house(100, random_state=0)
    assert [len(batch.y_train) for batch in stream.batches] == [30, 30, 30]
    np.testing.assert_array_equal(stream.batches[2].X_train, house.X[60:90])
    np.testing.assert_array_equal(stream.batches[2].y_train, house.y[60:90])


def test_the_first_samples_of_a_stream_can_be_had_alone(folder):
    spec = StreamSpec.of("elec2", IN_ORDER, batch_size=1, n_samples=5)
    stream = open_stream(spec, 0, folder)
    assert [one.X_train[0, 1] for one in stream.batches] == [0, 1, 2, 3, 4]
    assert stream.n_samples == stream_size(spec) == 5


def test_a_table_that_is_not_the_recipe_s_is_refused(folder):
    table = pd.read_parquet(folder / "streams" / "elec2.parquet")
    table.loc[3, "price"] += 1
    table.to_parquet(folder / "streams" / "elec2.parquet")
    digest_records.cache_clear()
    with pytest.raises(ValueError, match=r"table of 'elec2' has the digest .* a value, a column or the order changed"):
        digest_stream(StreamSpec.of("elec2", IN_ORDER, batch_size=5), folder)
