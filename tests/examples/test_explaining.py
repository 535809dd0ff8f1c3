import importlib.util
import sys
from pathlib import Path

import pytest

pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

EXAMPLE = Path(__file__).parents[2] / "examples" / "explaining.py"


def test_example_tells_the_old_rules_from_the_new_ones_and_draws_them(tmp_path, capsys):
    from matplotlib.image import imread

    spec = importlib.util.spec_from_file_location("explaining_example", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = example
    spec.loader.exec_module(example)
    example.main(["--out", str(tmp_path / "new")])
    before, after = capsys.readouterr().out.split("After batch ")[1:]
    assert before.startswith("25, record 0: high 0.")
    assert after.startswith("40, record 0: low 0.")
    for told in (before, after):
        assert told.splitlines()[4].startswith("  district = centre "), "the first below the roots"
    for name in ("history", "explanation"):
        pixels = imread(tmp_path / "new" / f"{name}.png")
        assert pixels.shape[1] > 900
        assert pixels.std() > 0.05
