"""What a release rests on: one lower bound for every library, licences, promises that are tested, a citation."""

import importlib.util
import re
import runpy
import tomllib
from pathlib import Path

import pytest

from experiments.marked_tables import NUMBERS
from experiments.reporting.results_page import find_chapter

ROOT = Path(__file__).parents[1]


def load_tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tool():
    return load_tool("lower_bounds")


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
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert f"\nversion: {version}\n" in text


def test_what_is_installed_with_the_package_has_permissive_licences(capsys):
    assert load_tool("licences").main() == 0
    libraries = {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    assert {"numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "narwhals", "safetensors"} <= libraries


def test_the_manual_lists_these_libraries_and_licences():
    """Older versions of a library may ask for fewer others, or say less of their licence (`make test-oldest`)."""
    licences = load_tool("licences")
    (text,) = licences.MARKED.findall(licences.PAGE.read_text(encoding="utf-8"))
    table = re.findall(r"^\| ([\w-]+) \| (.+) \|$", text, flags=re.MULTILINE)[1:]
    listed = {name: set(what.split(" AND ")) for name, what in table}
    for name, _, what in licences.rows():
        assert set(what.split(" AND ")) <= listed.get(name, set()), "run: python tools/licences.py --write"
    assert list(listed) == sorted(listed)
    assert set().union(*listed.values()) <= licences.ALLOWED


def test_the_table_of_licences_is_written_between_its_marks(tmp_path, monkeypatch, capsys):
    licences = load_tool("licences")
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- licences -->\nold\n<!-- end -->\nbehind\n", encoding="utf-8")
    monkeypatch.setattr(licences, "PAGE", page)
    assert licences.main(("--write",)) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- licences -->\n| library | licence |\n|---|---|\n| ")
    assert text.endswith(" |\n<!-- end -->\nbehind\n")


def test_another_licence_is_told(capsys, monkeypatch):
    licences = load_tool("licences")
    monkeypatch.setattr(licences, "ALLOWED", licences.ALLOWED - {"MIT"})
    assert licences.main() == 1
    assert "narwhals" in capsys.readouterr().err


def test_every_promise_about_security_names_its_tests():
    promised = [line for line in (ROOT / "SECURITY.md").read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    for line in promised[1:]:
        named = re.findall(r"`(tests/[\w/]+\.py)`", line)
        assert named, line
        assert all((ROOT / name).is_file() for name in named)


def test_the_poster_has_the_figures_of_the_results():
    poster = runpy.run_path(str(ROOT / "docs" / "poster.py"))["poster"]()
    assert (ROOT / "docs" / "images" / "poster.svg").read_text(encoding="utf-8") == poster, "run: python docs/poster.py"


def test_the_paper_says_who_is_ahead_as_the_results_do():
    """Its sentence is written from the runs; here it is compared with what the chapter says in words."""
    text = re.sub(r"\\(.)", r"\1", find_chapter("The next batch").text)
    found = re.search(r"- Real streams: .* It is not first on (\d+) of (\d+) streams: (.+)\.\n", text)
    behind = {name.rstrip("*") for name in re.findall(r"([\w*]+) \((?:the rule )?[\w-]+, by [\d.]+\)", found[3])}
    paper = " ".join((ROOT / "paper" / "paper.md").read_text(encoding="utf-8").split())
    said = re.search(
        r"On (\w+) real streams `adforest` has the highest accuracy[^;]* on (\w+);(.+?)\.<!-- end -->", paper
    )
    names = [name for part in re.findall(r"ahead on (.+?) by", said[3]) for name in re.split(r", | and ", part)]
    assert set(names) == behind
    assert said[1] == found[2]
    n_first = int(found[2]) - len(names)
    assert said[2] == (NUMBERS[n_first] if n_first < len(NUMBERS) else str(n_first))


def test_the_paper_has_the_table_of_the_results_and_the_sections_that_joss_asks_for():
    text = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    written = runpy.run_path(str(ROOT / "paper" / "table.py"))["with_table"](text)
    assert text == written, "run: python paper/table.py"
    assert re.findall(r"^# (.+)$", text, flags=re.MULTILINE) == [
        "Summary",
        "Statement of need",
        "State of the field",
        "Software design",
        "Research impact statement",
        "Acknowledgements",
        "References",
    ]
    assert 750 <= len(text.split("---", 2)[2].split()) <= 1750
    cited = set(re.findall(r"@(\w+)", text))
    listed = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE))
    assert cited == listed


def test_the_changelog_links_to_pages_of_the_manual_alone():
    """It is one of its pages: what is outside docs cannot be found from there."""
    targets = re.findall(r"\]\(([^)]+)\)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert targets
    assert [one for one in targets if not one.startswith(("docs/", "https://"))] == []
