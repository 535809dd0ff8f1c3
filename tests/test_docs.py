"""Documents that must follow the code: the page of public names, the map of rooms, links, the glossary.

``python tests/test_docs.py`` writes docs/api.md anew.
"""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PUBLIC = (
    "adforest",
    "adforest.streams",
    "adforest.rivals",
    "adforest.monitor",
    "adforest.integrations.onnx",
    "adforest.integrations.treelite",
)
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def sentence_of(thing):
    """Return the first sentence of a docstring, on one line."""
    first = inspect.getdoc(thing).split("\n\n")[0]
    return " ".join(first.split()).replace("|", "\\|")


def api_page():
    """Return the page that lists every public name with one sentence."""
    lines = [
        "# Public names",
        "",
        "Everything else may change without notice. `python tests/test_docs.py` writes this page.",
    ]
    for name in PUBLIC:
        package = importlib.import_module(name)
        lines += ["", f"## {name}", "", sentence_of(package), "", "| name | |", "|---|---|"]
        lines += [f"| `{key}` | {sentence_of(getattr(package, key))} |" for key in package.__all__]
    lines += ["", "## adforest.integrations", "", sentence_of(importlib.import_module("adforest.integrations")), ""]
    lines += ["| name | |", "|---|---|", *integration_rows()]
    return "\n".join(lines) + "\n"


def integration_rows():
    """Yield a row for each public name of the integrations, which are read and not imported: each needs a library."""
    for path in sorted((ROOT / "src/adforest/integrations").glob("[!_]*.py")):
        if f"adforest.integrations.{path.stem}" in PUBLIC:
            continue
        nodes = ast.parse(path.read_text(encoding="utf-8")).body
        documented = {node.name: node for node in nodes if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        [listed] = [node.value for node in nodes if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"]
        for name in ast.literal_eval(listed):
            first = ast.get_docstring(documented[name]).split("\n\n")[0]
            yield f"| `{path.stem}.{name}` | {' '.join(first.split())} |"


def test_the_api_page_lists_every_public_name_with_its_sentence():
    assert (ROOT / "docs/api.md").read_text(encoding="utf-8") == api_page(), "run: python tests/test_docs.py"


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
    rows = (ROOT / "docs/glossary.md").read_text(encoding="utf-8").splitlines()[6:]
    named = {word for row in rows for word in re.findall(r"`(\w+)`", row.rsplit("|", 2)[1])}
    assert [word for word in sorted(named) if not re.search(rf"\b{word}\b", code)] == []
    assert len(named) > 20


if __name__ == "__main__":
    (ROOT / "docs/api.md").write_text(api_page(), encoding="utf-8")
