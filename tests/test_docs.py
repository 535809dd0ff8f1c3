"""Documents that must follow the code: the reference, measured figures, the map of rooms, links, the glossary."""

import ast
import importlib
import inspect
import re
from itertools import pairwise
from pathlib import Path

import pytest

from experiments.marked_tables import MARKED, TABLES, fill_marks, find_pages
from experiments.reporting.results_page import find_chapter

ROOT = Path(__file__).parents[1]
PUBLIC = (
    "adforest",
    "adforest.exceptions",
    "adforest.reading",
    "adforest.simulation",
    "adforest.monitor",
    "adforest.integrations.onnx",
    "adforest.integrations.treelite",
)
PAGES = [ROOT / "CHANGELOG.md", *find_pages(ROOT)]
NOT_WRAPPED = (ROOT / "docs/results.md", ROOT / "paper/paper.md")  # written by a program; an article
WRAPPED = [page for page in PAGES if page not in NOT_WRAPPED]


def public_names():
    """Yield every public name."""
    for name in PUBLIC:
        yield from (f"{name}.{key}" for key in importlib.import_module(name).__all__)
    # Other integrations are read and not imported: each needs a library.
    for path in sorted((ROOT / "src/adforest/integrations").glob("[!_]*.py")):
        name = f"adforest.integrations.{path.stem}"
        if name not in PUBLIC:
            nodes = ast.parse(path.read_text(encoding="utf-8")).body
            [listed] = [one.value for one in nodes if isinstance(one, ast.Assign) and one.targets[0].id == "__all__"]
            yield from (f"{name}.{key}" for key in ast.literal_eval(listed))


def test_the_reference_lists_every_public_name_once():
    text = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    listed = []
    for part in text.split(".. currentmodule:: ")[1:]:
        module, *lines = part.split("```")[0].splitlines()
        listed += [f"{module}.{line.strip()}" for line in lines if re.fullmatch(r"   \w+", line)]
    assert sorted(listed) == sorted(public_names())


def test_every_parameter_of_a_classifier_says_what_it_does():
    for name in ("adforest", "experiments.rivals"):
        package = importlib.import_module(name)
        for key in package.__all__:
            if key.endswith("Classifier"):
                text = inspect.getdoc(getattr(package, key)).split("Parameters\n----------\n")[1].split("\n\n")[0]
                lines = text.splitlines()
                bare = [one for one, next_one in pairwise([*lines, ""]) if one[0] != " " and next_one[:1] != " "]
                assert not bare, f"{key}: no effect told of {bare}"
                named = {part for line in lines if line[0] != " " for part in re.findall(r"\w+", line.split(" : ")[0])}
                assert set(inspect.signature(getattr(package, key)).parameters) <= named


def test_what_the_paper_page_says_of_its_accuracy_table_is_so():
    page = " ".join((ROOT / "docs/paper.md").read_text(encoding="utf-8").split())
    table = find_chapter("Accuracy over 34 batches").table("Ours beside the published figures")
    streams = [row.removesuffix(", difference") for row in table.rows if row.endswith(", difference")]
    assert set(streams) == {"LDPA", "UIFWA", "EB", "AReM", "Avila", "House", "mean"}
    assert "Each base forest is at least at its published figure on all six data sets." in page
    for stream in streams:
        assert all(float(table.cell(f"{stream}, difference", name)) >= 0 for name in ("ADF-R", "ADF-S", "ADF-H"))

    def ours(stream, name):
        return float(table.cell(f"{stream}, paper's settings", name).split(" ± ")[0])

    existing = ("SysFor", "RF", "HT", "HAT", "LeveragingBag", "OzaBag", "CIRF", "ARF")
    assert "Of the eight existing methods the best is LeveragingBag" in page
    assert max(existing, key=lambda name: ours("mean", name)) == "LeveragingBag"
    assert "ahead of ADF with the paper's settings on EB." in page
    ahead = [one for one in streams if ours(one, "LeveragingBag") > max(ours(one, f"ADF-{k}") for k in "RSH")]
    assert ahead == ["EB"]


def test_tables_between_marks_are_what_the_results_and_benchmarks_give():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert fill_marks(text) == text, f"{page.relative_to(ROOT)} is older than what it quotes. Run: make pages"


def test_every_table_that_can_be_marked_is_on_a_page():
    marked = {found["name"].split("|")[0].strip() for page in PAGES for found in MARKED.finditer(page.read_text())}
    assert marked == set(TABLES)


def test_figures_of_the_results_that_pages_ask_for_are_there():
    n_found = 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for asked in re.findall(r"\{measured\}`([^`|]+\|[^`]+)`", text):
            chapter, title, row, column = (part.strip() for part in " ".join(asked.split()).split("|"))
            assert re.search(r"\d", find_chapter(chapter).table(title).cell(row, column))
            n_found += 1
        for chapter, title in re.findall(r"^```\{measured(?:-bars)?\} ([^|\n]+)\|([^|\n]+)", text, flags=re.MULTILINE):
            assert find_chapter(chapter.strip()).table(title.strip()).rows
            n_found += 1
    assert n_found > 20


@pytest.mark.parametrize("page", WRAPPED, ids=lambda page: str(page.relative_to(ROOT)))
def test_prose_is_wrapped(page):
    text = page.read_text(encoding="utf-8")
    # Code and tables that programs write; rows, quotes and images; roles and code in a line, which cannot be cut.
    blocks = (r"(?ms)^ *(`{3,}).*?^ *\1`*$", r"(?ms)^<!-- .*?^<!-- end -->$")
    for left_out in (*blocks, r"(?m)^ *[|>!].*$", r"\{[\w-]+\}`[^`]*`", r"`[^`\n]*`"):
        text = re.sub(left_out, "", text)
    assert [line for line in text.splitlines() if len(line) > 120] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not target.startswith(("http://", "https://", "mailto:")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


def test_the_map_of_rooms_is_complete():
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    rooms = [path.name for path in (ROOT / "src/adforest").iterdir() if (path / "__init__.py").is_file()]
    modules = [path.name for path in (ROOT / "src/adforest").glob("*.py") if path.name != "__init__.py"]
    folders = [path.name for path in (ROOT / "experiments").iterdir() if (path / "__init__.py").is_file()]
    assert [name for name in rooms + modules + folders if not re.search(rf"\b{re.escape(name)}", text)] == []


@pytest.mark.parametrize("page", ["architecture.md", "glossary.md"])
def test_files_that_are_named_exist(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    files = {path.name for folder in ("src", "tests", "experiments") for path in (ROOT / folder).rglob("*.py*")}
    named = set(re.findall(r"\b(\w+\.(?:py|pyx|pyi|pxd))\b", text))
    assert named <= files
    assert len(named) > 5


def test_the_glossary_names_what_the_code_has():
    code = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in ("src", "experiments")
        for path in (ROOT / folder).rglob("*.py*")
        if path.suffix in (".py", ".pyx", ".pyi")
    )
    text = (ROOT / "docs/glossary.md").read_text(encoding="utf-8").split("## Data sets", 1)[0]
    rows = [row for row in text.splitlines() if row.startswith("| ")]
    named = {word for row in rows for word in re.findall(r"`(\w+)`", row.rsplit("|", 2)[1])}
    assert [word for word in sorted(named) if not re.search(rf"\b{word}\b", code)] == []
    assert len(named) > 20


def test_headings_of_docstrings_have_lines_of_their_own():
    found = [path.name for path in (ROOT / "src").rglob("*.py") if re.search(r"\w -{4,}", path.read_text("utf-8"))]
    assert found == []


def test_every_decision_has_its_date_and_parts():
    for page in sorted((ROOT / "docs/decisions").glob("0*.md")):
        title, date, text = page.read_text(encoding="utf-8").split("\n\n", 2)
        assert title.startswith("# ")
        assert re.fullmatch(r"\*20\d\d-\d\d-\d\d\*", date), f"{page.name} has no date below its title"
        for part in ("**Context.**", "**Choice.**", "**Given up.**", "**Measured", "**Wrong if**"):
            assert part in text, f"{page.name} lacks {part}"
