import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

EXAMPLE = Path(__file__).parents[2] / "examples" / "splitting.py"


@pytest.fixture(scope="module")
def splitting():
    spec = importlib.util.spec_from_file_location("splitting_example", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_example_prints_a_table_and_draws_the_trees(splitting, tmp_path, capsys):
    from matplotlib.image import imread

    path = tmp_path / "new" / "trees.png"
    splitting.main(["--out", str(path)])
    said = capsys.readouterr().out
    rows = re.findall(r"batch (\d) +(\d+) +([\d.]+) +([\d.]+) +([\d.]+)$", said, re.MULTILINE)
    assert [int(row[0]) for row in rows] == [1, 2, 3] * 3
    final = dict(zip(splitting.STRATEGIES, [[float(share) for share in row[2:]] for row in rows[2::3]], strict=True))
    assert final["isat"] == [1, 1, 1]
    assert final["sat"][2] < 1, "SAT has no answer to a batch that overlaps"
    assert np.mean(final["entropy"]) > np.mean(final["sat"])
    assert said.endswith(f"Picture: {path}\n")
    pixels = imread(path)
    assert pixels.shape[:2] == (1500, 2400)
    assert len(np.unique(pixels.reshape(-1, pixels.shape[2])[::7], axis=0)) > 50


def test_one_tree_answers_all_along(splitting):
    for name in splitting.STRATEGIES:
        for model in splitting.learn(name):
            assert len(model.permanent_forest_) == 1
            assert model.permanent_forest_.trees == model.active_forest_.trees
            assert model.history_[-1].drift == "none"


def test_a_file_that_cannot_be_drawn_is_refused(splitting, tmp_path, capsys):
    with pytest.raises(SystemExit):
        splitting.main(["--out", str(tmp_path / "trees.txt")])
    said = capsys.readouterr()
    assert "expected a file that ends in .png" in said.err
    assert not said.out
