"""How Sphinx makes the manual: ``make docs``. Nothing is fetched, and a warning is an error."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent / "extensions"), str(Path(__file__).parents[1])]  # and the experiments

project = "adforest"
copyright = "the adforest developers, BSD-3-Clause"
version = release = version_of("adforest")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "measured",
]
exclude_patterns = ["extensions", "templates", "**/*.py", "**/*.ipynb", "gallery/*.md5", "gallery/*.zip"]
templates_path = ["templates"]

# Pages are Markdown, and links between them are those that code hosts follow too.
myst_heading_anchors = 3

# The reference is made of docstrings. Types are written there, so signatures go without.
autosummary_generate = True
autodoc_typehints = "none"
autodoc_mock_imports = ["capymoa", "dask", "distributed", "mlflow", "pyspark"]  # large, and not all go together
default_role = "autolink"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
nitpick_ignore_regex = [
    ("py:obj", r"adforest\.(adaptation|classifier|encoding|forest|growers|storage)\..*"),  # rooms, not public names
    ("py:obj", r"[A-Z]\w+\.[a-z]\w*"),  # attributes, which are described with their class
    ("py:.*", r"(capymoa|dask|distributed|mlflow|pyspark|river|sklearn|numpy|pandas|time)\b.*"),  # manuals elsewhere
]

# Examples are run by the build, and an error stops it.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "backreferences_dir": "reference/examples",
    "doc_module": ("adforest",),
    "reference_url": {"adforest": None},
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "write_computation_times": False,  # its page would load scripts from elsewhere
    "capture_repr": (),
    "matplotlib_animations": False,
    "image_scrapers": ("matplotlib",),
    "thumbnail_size": (400, 280),
}

toc_object_entries_show_parents = "hide"
html_theme = "pydata_sphinx_theme"
html_title = f"adforest {release}"
html_static_path = ["static"]
html_css_files = ["manual.css"]
html_favicon = "static/tree.svg"
html_context = {"default_mode": "auto"}
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_sidebars = {"index": [], "getting-started": [], "changelog": []}
html_theme_options = {
    "logo": {"text": "adforest", "image_light": "static/tree.svg", "image_dark": "static/tree.svg"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def leave_out_inherited(app, what, name, obj, skip, options):
    """Leave out members that other libraries define: their manuals are elsewhere."""
    function = getattr(obj, "fget", None) or getattr(obj, "__func__", obj)
    module = getattr(function, "__module__", None) or "adforest"
    return True if not module.startswith("adforest") else None


def write_benchmark_page(app, exception):
    """Put nextbatch's page, made of the results in the checkout, beside the manual's pages."""
    if exception is None and app.builder.format == "html":
        from experiments.studies.streams import RUNS
        from nextbatch.page import make_page
        from nextbatch.results import read_results
        from nextbatch.streams import read_recipes

        page = make_page(read_results(RUNS), read_recipes())
        (Path(app.outdir) / "nextbatch.html").write_text(page, encoding="utf-8")


def setup(app):
    app.connect("autodoc-skip-member", leave_out_inherited)
    app.connect("build-finished", write_benchmark_page)
