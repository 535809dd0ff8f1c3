"""Pages and reports of models of every kind: whole, escaped, and true to what they show."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from adforest import AdaptiveDecisionForestClassifier, load
from adforest.monitor import ModelView, write_report
from adforest.monitor.model_files import LoadedModel
from adforest.monitor.pages.markup import VOID, Markup, join, tag
from adforest.monitor.pages.page import Asked, model_page, report_page
from adforest.monitor.pages.tree_figure import TreeChoice
from rent_stream import rent_model
from saved_models import CASES

HOSTILE = "<script>alert(1)</script>&\"'"


class Checked(HTMLParser):
    """Reads a page and fails where an element is not closed, or an id comes twice."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.texts, self.tags = [], set(), [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names)
        one = dict(attrs).get("id")
        assert one is None or one not in self.ids
        self.ids.add(one)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def page_of(model, asked=None):
    text = model_page(LoadedModel("m.adf", model, "1", 1_700_000_000.0), asked or Asked())
    return Checked(text)


def report_of(model):
    return Checked(report_page("m", model, ModelView.from_estimator(model)))


# Models of every kind


@pytest.mark.parametrize("case", CASES)
def test_every_kind_of_model_has_a_page_and_a_report(case):
    model = CASES[case]().model
    page, report = page_of(model), report_of(model)
    for part in ("overview", "accuracy", "columns", "classes", "forests", "trees", "batches"):
        assert part in page.ids
        assert part in report.ids
    assert "what-if" in page.ids
    assert "with probability" in page.text
    for one in (page, report):
        assert not {"nan", "None", "inf"} & set(re.findall(r"\w+", one.text))
        drawn = " ".join(str(attributes) for tag, attributes in one.tags if tag in ("path", "rect", "line", "text"))
        assert not {"nan", "inf"} & set(re.findall(r"\w+", drawn))


def test_a_model_without_records(tmp_path):
    rent_model(3, 120, n_estimators=2).save(tmp_path / "m.adf", samples=False)
    page = page_of(load(tmp_path / "m.adf"))
    assert "The file holds no samples" in page.text
    assert "Shown is an empty record" in page.text
    assert "with probability" in page.text


def test_many_columns_and_classes():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(3_000, 300)), columns=[f"column {k}" for k in range(300)])
    y = rng.integers(0, 150, 3_000)
    model = AdaptiveDecisionForestClassifier(2, random_state=0)
    for part in range(6):
        model.partial_fit(X[part * 500 : part * 500 + 500], y[part * 500 : part * 500 + 500])
    page, report = page_of(model), report_of(model)
    assert "All 300 columns." in page.text
    assert sum(tag == "input" for tag, _ in page.tags) == 300
    assert "50 more classes" in page.text
    assert len(str(report_page("m", model, ModelView.from_estimator(model)))) < 2_000_000
    assert "trees" in report.ids


def test_names_are_shown_as_they_stand_and_do_nothing():
    X = pd.DataFrame({HOSTILE: [1.0, 2, 3, 4] * 30, "text": [f"{HOSTILE}{k % 3}" for k in range(120)]})
    model = AdaptiveDecisionForestClassifier(2, random_state=0)
    for _ in range(3):
        model.partial_fit(X, np.where(X[HOSTILE] > 2, HOSTILE, "b"))
    for page in (page_of(model, Asked(record={"c0": HOSTILE, "c1": HOSTILE})), page_of(model), report_of(model)):
        assert [tag for tag, _ in page.tags].count("script") <= 1
        assert HOSTILE in page.text
        assert all(not name.startswith("on") for _, attributes in page.tags for name in attributes)
    file = model_page(LoadedModel(f"{HOSTILE}.adf", model, HOSTILE, 0.0, problem=HOSTILE), Asked())
    assert "<script>alert" not in file


# What is shown


@pytest.fixture(scope="module")
def model():
    return rent_model(28, 150, n_estimators=4)


@pytest.fixture(scope="module")
def page(model):
    return page_of(model)


def test_the_first_line_is_the_verdict(model, page):
    health = ModelView.from_estimator(model).health
    assert page.text.index(health.reason) < page.text.index("Expected next")
    for finding in health.findings:
        assert finding.sentence in page.text


def test_figures_are_those_of_the_view(model, page):
    view = ModelView.from_estimator(model)
    last = view.batches[-1]
    assert f"{100 * last.accuracy['vote']:.1f}%" in page.text
    assert f"{100 * last.balanced_accuracy:.1f}%" in page.text
    assert f"log loss {last.log_loss:.3f}" in page.text
    assert view.timeline.metrics["log_loss"] == tuple(one.log_loss for one in view.batches)
    assert "Other metrics of the vote" in page.text
    assert f"{view.n_samples:,}" in page.text
    for one in view.classes:
        assert one.value in page.text
        assert f"{one.n_in_memory:,} · " in page.text
    for one in view.columns:
        assert one.name in page.text
    for forest in view.forests:
        assert forest.name in page.text


def test_the_last_tables_rows_are_the_batches(model):
    page = str(model_page(LoadedModel("m.adf", model, "1", 0.0), Asked()))
    section = page[page.index('id="batches"') :]
    assert re.findall(r'<tr><th scope="row">([\d,]+)</th>', section) == [str(n) for n in range(28, 0, -1)]
    page = str(model_page(LoadedModel("m.adf", model, "1", 0.0), Asked(before=10)))
    section = page[page.index('id="batches"') :]
    assert re.findall(r'<tr><th scope="row">([\d,]+)</th>', section) == [str(n) for n in range(9, 0, -1)]


def test_the_mark_of_a_part_changes_with_its_content_alone(model):
    def marks(asked):
        text = model_page(LoadedModel("m.adf", model, "1", 0.0), asked)
        return dict(re.findall(r'data-part="([\w-]+)" data-mark="(\w+)"', text))

    before, after = marks(Asked()), marks(Asked(tree=TreeChoice("newest", 0)))
    assert before.keys() == after.keys()
    assert [name for name in before if before[name] != after[name]] == ["trees"]


def test_the_report_is_one_file_that_is_replaced_at_once(model, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    write_report(model, path, name="rents <1>")
    text = path.read_text(encoding="utf-8")
    report = Checked(text)
    assert path.stat().st_size < 2_000_000
    assert "rents <1>" in report.text
    assert not {"script", "form", "input", "iframe", "img"} & {tag for tag, _ in report.tags}
    links = [attributes[key] for _, attributes in report.tags for key in ("href", "src") if key in attributes]
    assert all(link.startswith(("#", "data:")) for link in links)
    assert "url(" not in text
    assert "@import" not in text
    assert list(tmp_path.iterdir()) == [path]


# Markup


def test_text_is_escaped_and_markup_is_not():
    inner = tag("b", "1 < 2 & 3")
    assert tag("p", inner, " ", ["a", None, 7, [inner]], title='"x"') == (
        '<p title="&quot;x&quot;"><b>1 &lt; 2 &amp; 3</b> a7<b>1 &lt; 2 &amp; 3</b></p>'
    )
    assert inner + "<" == "<b>1 &lt; 2 &amp; 3</b>&lt;"
    assert isinstance(join(["<", inner]), Markup)
    assert tag("input", hidden=True, value=None, checked=False, data_x=0.5) == '<input hidden data-x="0.5">'


# Bins of columns in words


def test_ranges_of_single_values_are_called_by_the_value():
    rng = np.random.default_rng(0)
    model = AdaptiveDecisionForestClassifier(2, random_state=0)
    for _ in range(8):
        X = rng.choice([0.0, 1.0, 2.5], (400, 1))
        model.partial_fit(X, X[:, 0] > 0)
    (column,) = ModelView.from_estimator(model).columns
    shares = {one.label: one.past for one in column.bins}
    for value in ("0", "1", "2.5"):
        assert shares[value] == pytest.approx(1 / 3, abs=0.05)
    assert all(len(label) < 16 for label in shares), list(shares)
    assert next(iter(shares)) == "below 0"
