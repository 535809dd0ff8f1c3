"""What a release rests on: one lower bound for every library, a citation that names the paper."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("lower_bounds", ROOT / "tools" / "lower_bounds.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_library_has_a_lower_bound(tool):
    bounds = tool.lower_bounds()
    assert {"numpy", "scikit-learn", "scipy", "narwhals", "matplotlib", "cython", "pytest"} <= set(bounds)
    assert "adforest" not in bounds
    assert all(re.fullmatch(r"\d+(\.\d+)*", version) for version in bounds.values())


@pytest.mark.parametrize(
    ("needs", "message"),
    [
        ('"numpy"', r"asks for 'numpy'; expected a lower bound"),
        ('"numpy>=2.0", "numpy>=2.1"', r"asks for numpy>=2\.0 and >=2\.1; expected one"),
    ],
)
def test_libraries_without_a_clear_lower_bound(tool, tmp_path, needs, message):
    path = tmp_path / "pyproject.toml"
    text = f'[build-system]\nrequires = []\n[project]\nname = "a"\ndependencies = [{needs}]\n'
    path.write_text(text + '[project.optional-dependencies]\nall = ["a[plot]"]\n', encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        tool.lower_bounds(path)


def test_the_citation_names_the_paper():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for part in ("Rahman", "Islam", "Pattern Recognition", "volume: 122", "108345", "year: 2022", "10.1016/"):
        assert part in text
