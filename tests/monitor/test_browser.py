"""The monitor in a real browser: what is drawn, what changes by itself, and whether everyone can use it."""

import re
import shutil

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from adforest import AdaptiveDecisionForestClassifier, load
from adforest.monitor import write_report
from browsing import DESK, PATIENCE, PHONE
from monitor_server import monitoring
from rent_stream import rent_model, rents

N_BATCHES = 31


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder with one model that learnt all but the last batches."""
    folder = tmp_path_factory.mktemp("models")
    rent_model(N_BATCHES, 150, n_estimators=4).save(folder / "rents.adf")
    return folder


@pytest.fixture(scope="module")
def running(models):
    with monitoring(models) as found:
        yield found


@pytest.fixture(scope="module")
def address(running):
    return running.address.rstrip("/")


@pytest.fixture(scope="module")
def report(models, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(load(models / "rents.adf"), path, name="rents")
    return path


DRAWN = """() => [...document.querySelectorAll("figure svg.plot[role=img], .card svg.plot[role=img]")].map((svg) => ({
  label: svg.getAttribute("aria-label"),
  shapes: [...svg.querySelectorAll("path, circle")].filter((one) => {
    const box = one.getBoundingClientRect();
    return box.width > 0 || box.height > 0;
  }).length,
  width: svg.getBoundingClientRect().width,
  height: svg.getBoundingClientRect().height,
}))"""


def check_figures(seen):
    drawn = seen.page.evaluate(DRAWN)
    assert len(drawn) >= 20  # five over time, the map, six columns with three each
    for figure in drawn:
        assert figure["label"].strip().endswith("."), figure
        assert figure["shapes"] > 0, figure
        assert figure["width"] > 100, figure
        assert figure["height"] > 10, figure
    titles = [one.inner_text() for one in seen.page.locator("main h2").all()]
    assert titles[:5] == ["Accuracy", "Columns", "Classes", "Forests and cost", "Trees"]
    lines = seen.page.locator("#accuracy-over-time path.line")
    classes = [line.get_attribute("class") for line in lines.all()]
    assert classes[-1] == "line vote"
    assert {"line permanent", "line newest"} <= set(classes)


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_every_figure_is_drawn_and_nothing_leaves_the_machine(visit, address, width):
    seen = visit(f"{address}/models/rents.adf", width=width)
    check_figures(seen)
    seen.page.wait_for_selector("#live[data-state=on]")
    assert seen.console == []
    assert seen.outside(address) == []
    assert seen.page.title().endswith("rents.adf")
    assert seen.text("h1 .level") in ("OK", "Warning", "Critical")
    assert seen.page.locator("#trees g.node").count() > 5


def test_what_these_tests_must_not_find_is_found(visit, address):
    seen = visit(f"{address}/models/rents.adf")
    seen.page.evaluate("console.error('wrong')")
    seen.page.evaluate("fetch('https://adforest.invalid/x').catch(() => {})")
    seen.page.evaluate("document.querySelector('h1').insertAdjacentHTML('beforeend', '<img src=/x.png>')")
    seen.page.wait_for_timeout(300)
    assert any("wrong" in line for line in seen.console)
    assert any("Content Security Policy" in line for line in seen.console)
    assert violations(seen.page) == ["image-alt"]
    seen.page.evaluate("document.querySelector('.top').insertAdjacentHTML('beforeend', '<pre>' + 'x'.repeat(500))")
    assert not fits(seen.page)


# What changes by itself


def test_the_page_follows_the_file(visit, tmp_path):
    model, later = rent_model(4, 150, n_estimators=3), list(rents(7, 150))[4:]
    path = tmp_path / "m.adf"
    model.save(path)
    with monitoring(path) as running:
        seen = visit(running.address)
        page = seen.page
        page.wait_for_selector("#live[data-state=on]")
        page.evaluate("window.sameWindow = true")
        page.locator("#accuracy-over-time summary").click()
        field = page.locator("#what-if input[name=c0]")
        field.fill("123")
        for number, (X, y) in enumerate(later, start=5):
            model.partial_fit(X, y).save(path)
            expect(page.locator(".tiles div:last-child b")).to_have_text(str(number), timeout=PATIENCE)
            assert page.locator("#batches tbody th").first.inner_text() == str(number)
            assert f"batches 1 to {number}" in seen.text("#classes thead")
        assert page.evaluate("window.sameWindow") is True  # it was never loaded anew
        assert page.locator("#accuracy-over-time details").get_attribute("open") is not None
        assert page.locator("#what-if input[name=c0]").input_value() == "123"
        assert page.evaluate("document.activeElement.name") == "c0"
        expect(page.locator("#said")).to_have_text(page.locator("h1").inner_text())
        assert page.locator("#live").get_attribute("data-state") == "on"
        assert seen.console == []
        assert seen.outside(running.address) == []


def test_parts_that_do_not_change_are_left_alone(visit, tmp_path):
    model = rent_model(3, 150, n_estimators=3)
    path = tmp_path / "m.adf"
    model.save(path)
    with monitoring(path) as running:
        page = visit(running.address).page
        page.wait_for_selector("#live[data-state=on]")
        page.evaluate("document.querySelectorAll('[data-part]').forEach((one) => { one.isOld = true; })")
        before = page.locator("main").get_attribute("data-version")
        model.save(path)  # another file, the same model
        expect(page.locator("main")).not_to_have_attribute("data-version", before, timeout=PATIENCE)
        old = page.evaluate(
            "[...document.querySelectorAll('[data-part]')].filter((one) => one.isOld).map((one) => one.id)"
        )
        assert {"accuracy", "columns", "classes", "forests", "trees", "what-if", "batches"} <= set(old)


def test_a_file_that_is_damaged_and_mended(visit, tmp_path):
    model = rent_model(3, 150, n_estimators=2)
    path = tmp_path / "m.adf"
    model.save(path)
    good = path.read_bytes()
    with monitoring(path) as running:
        page = visit(running.address).page
        page.wait_for_selector("#live[data-state=on]")
        path.write_bytes(good[: len(good) // 2])
        page.wait_for_selector("#problem .error", timeout=PATIENCE)
        assert "Shown is the model as it was before" in page.locator("#problem").inner_text()
        assert page.locator("#accuracy-over-time").is_visible()
        path.unlink()
        expect(page.locator("#problem")).to_contain_text("no longer there", timeout=PATIENCE)
        model.save(path)
        page.wait_for_selector("#problem .error", state="detached", timeout=PATIENCE)


def test_the_page_says_when_the_monitor_has_ended(visit, models):
    with monitoring(models) as running:
        page = visit(f"{running.address}models/rents.adf").page
        page.wait_for_selector("#live[data-state=on]")
    page.wait_for_selector("#live[data-state=off]", timeout=PATIENCE)
    assert page.locator("#live").inner_text() == "not connected"


def test_a_folder_shows_models_as_they_come(visit, models, tmp_path):
    with monitoring(tmp_path) as running:
        seen = visit(running.address)
        assert "no models yet" in seen.text("h1")
        seen.page.wait_for_selector("#live[data-state=on]")
        for number, name in enumerate(("b.adf", "a.adf"), start=1):
            shutil.copy(models / "rents.adf", tmp_path / name)
            expect(seen.page.locator(".models li")).to_have_count(number, timeout=PATIENCE)
        assert [one.inner_text() for one in seen.page.locator(".models h2").all()] == ["a.adf", "b.adf"]
        seen.page.get_by_role("link", name="b.adf").click()
        seen.page.wait_for_selector("#accuracy-over-time")
        seen.page.get_by_role("link", name="All models").click()
        seen.page.wait_for_selector(".models")
        assert seen.console == []


# For everyone


def violations(page):
    """Return the rules of axe-core that a page breaks seriously."""
    found = Axe().run(page).response["violations"]
    return [one["id"] for one in found if one["impact"] in ("serious", "critical")]


def fits(page):
    """Return whether a page is no wider than the screen."""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def unfold(page):
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [DESK, PHONE])
def test_axe_finds_nothing_serious(visit, address, report, width, scheme):
    others = [f"{address}/", f"{address}/nowhere", report.as_uri()] if (width == PHONE) == (scheme == "dark") else []
    for where in (f"{address}/models/rents.adf", *others):
        page = visit(where, width=width, scheme=scheme, bypass_csp=True).page  # the policy would keep axe out
        unfold(page)
        assert violations(page) == [], where


@pytest.mark.parametrize("width", [320, PHONE, 768])
def test_no_page_is_wider_than_the_screen(visit, address, report, width):
    for where in (f"{address}/models/rents.adf", f"{address}/", report.as_uri()):
        page = visit(where, width=width).page
        assert fits(page), where
        unfold(page)
        assert fits(page), where


def test_everything_can_be_reached_by_keyboard(visit, address):
    page = visit(f"{address}/models/rents.adf").page
    page.wait_for_selector("#live[data-state=on]")
    reached = []
    for _ in range(400):
        page.keyboard.press("Tab")
        found = page.evaluate(
            "[document.activeElement.tagName.toLowerCase(), document.activeElement.id, "
            "document.activeElement.getAttribute('href') ?? document.activeElement.name ?? "
            "document.activeElement.className.toString(), document.activeElement.closest('[data-part]')?.id ?? '']"
        )
        if found[0] == "body":
            break
        reached.append(found)
    assert reached[0][2] == "#accuracy"  # the link that skips to the sections
    assert ["button", "theme", "", ""] in reached
    for part, kind in (
        ("accuracy", "div"),
        ("columns", "summary"),
        ("trees", "select"),
        ("what-if", "input"),
        ("batches", "div"),
    ):
        assert any(one[0] == kind and one[3] == part for one in reached), (part, kind)
    n_fields = page.locator("#what-if input").count()
    assert sum(one[0] == "input" for one in reached) == n_fields


def test_a_figure_is_stepped_through_with_the_arrow_keys(visit, address):
    page = visit(f"{address}/models/rents.adf").page
    figure = page.locator("#accuracy-over-time")
    figure.locator(".plots").focus()
    readout = figure.locator(".readout")
    for key, batch in (
        ("ArrowRight", N_BATCHES),
        ("ArrowLeft", N_BATCHES - 1),
        ("Home", 1),
        ("ArrowRight", 2),
        ("End", N_BATCHES),
    ):
        page.keyboard.press(key)
        assert re.match(
            rf"batch {batch} · learnt 20\d\d-\d\d-\d\d \d\d:\d\d · samples 150 · vote", readout.inner_text()
        )
    assert readout.get_attribute("aria-live") == "polite"
    assert figure.locator("line.cursor").count() == 2
    box = figure.locator("svg.plot").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
    assert readout.inner_text().startswith(f"batch {N_BATCHES // 2 + 1} ·")


def test_the_band_of_a_forest_is_seen_while_its_name_is_pointed_at(visit, address):
    page = visit(f"{address}/models/rents.adf").page
    bands = page.locator("#accuracy-over-time .plot:not(.strip) path.band")
    seen = {"band vote"}

    def visible():
        return {one.get_attribute("class") for one in bands.all() if one.is_visible()}

    assert visible() == seen
    name = page.locator("#accuracy-over-time .key li.newest")
    name.hover()
    assert visible() == seen | {"band newest"}
    page.locator("h1").hover()
    assert visible() == seen
    name.focus()
    assert visible() == seen | {"band newest"}


def test_dark_and_light(visit, address):
    brightness = (
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0)"
    )
    light = visit(f"{address}/models/rents.adf").page
    assert light.evaluate(brightness) > 600
    dark = visit(f"{address}/models/rents.adf", scheme="dark").page
    assert dark.evaluate(brightness) < 120
    assert dark.locator("#theme").inner_text() == "Light"
    dark.locator("#theme").click()
    assert dark.evaluate(brightness) > 600
    dark.reload()
    assert dark.evaluate(brightness) > 600  # the choice is kept
    assert dark.locator("#theme").inner_text() == "Dark"


# Trees and records


def test_trees_are_walked_through_and_enlarged(visit, address):
    seen = visit(f"{address}/models/rents.adf")
    page = seen.page
    link = page.locator("#trees svg.tree a").first
    node = link.get_attribute("href").partition("node=")[2].partition("&")[0]
    link.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#trees .lead")).to_contain_text(f"Below node {node} ")
    assert f"node={node}" in page.url
    assert page.locator("#trees .path li").count() >= 2
    page.locator("#trees .path a", has_text="root").click()
    expect(page.locator("#trees .path")).to_have_count(0)
    page.locator("#trees select[name=forest]").select_option("newest")
    expect(page.locator("#trees .lead")).to_contain_text("newest forest")
    assert (
        page.locator("#trees g.node.new").count() == page.locator("#trees g.node").count()
    )  # grown from the last batch
    width = "Number(document.querySelector('svg.tree').getAttribute('width'))"
    before = page.evaluate(width)
    page.get_by_role("button", name="Larger").click()
    assert page.evaluate(width) == pytest.approx(1.25 * before)
    page.locator("#trees .canvas").focus()
    page.keyboard.press("-")
    assert page.evaluate(width) == pytest.approx(before)
    assert seen.console == []


def test_what_if(visit, address):
    seen = visit(f"{address}/models/rents.adf")
    page = seen.page
    field = page.get_by_label("Beds", exact=True)

    def classify(text):
        field_now = page.get_by_label("Beds", exact=True)
        field_now.fill(text)
        before = page.locator("#what-if").get_attribute("data-mark")
        page.get_by_role("button", name="Classify").click()
        expect(page.locator("#what-if")).not_to_have_attribute("data-mark", before)
        return page.locator("#what-if .answer").inner_text()

    assert field.count() == 1
    answers = {text: classify(text) for text in ("1", "3", "")}
    assert len(set(answers.values())) == 3
    assert "Beds = 3" in answers["3"]
    assert "Beds = ?" in answers[""]
    assert "Beds is 'many'; expected a number" in classify("many")
    assert page.get_by_label("Beds", exact=True).input_value() == "many"
    assert "with probability" in classify("2")
    assert seen.console == []


# Without scripts


def test_the_report_needs_no_script_and_no_network(visit, report):
    seen = visit(report.as_uri(), java_script_enabled=False)
    assert seen.requests == [report.as_uri()]
    assert seen.console == []
    assert report.stat().st_size < 2_000_000
    assert seen.page.locator("script").count() == 0
    assert seen.page.locator("form, input, button").count() == 0
    assert seen.page.locator("#accuracy-over-time path.line.vote").bounding_box()["width"] > 500
    with_scripts = visit(report.as_uri())
    check_figures(with_scripts)
    assert with_scripts.console == []


def test_the_page_works_without_scripts(visit, address):
    page = visit(f"{address}/models/rents.adf", java_script_enabled=False).page
    page.get_by_label("Beds", exact=True).fill("3")
    page.get_by_role("button", name="Classify").click()
    assert "Beds = 3" in page.locator("#what-if .answer").inner_text()
    page.goto(f"{address}/models/rents.adf")
    page.locator("#trees select[name=tree]").select_option("1")
    page.get_by_role("button", name="Show").click()
    assert "Tree 1 of" in page.locator("#trees .lead").inner_text()


# Long names

LONG = "a_very_long_name_of_a_column_that_nobody_wanted_to_shorten_at_all"


@pytest.fixture(scope="module")
def long_names(tmp_path_factory):
    """A model whose columns and classes have long names without spaces; five columns drift and matter alike."""
    rng = np.random.default_rng(0)
    model = AdaptiveDecisionForestClassifier(n_estimators=3, random_state=0)
    for number in range(8):
        X = pd.DataFrame(rng.normal(size=(300, 6)), columns=[f"{LONG}_{place}" for place in range(6)])
        y = np.where(X.sum(axis=1) > 0, f"class_{LONG}", f"other_{LONG}")
        model.partial_fit(X + (2.0 if number > 5 else 0.0), y)
    path = tmp_path_factory.mktemp("long") / f"{LONG}.adf"
    model.save(path)
    with monitoring(path.parent) as running:
        yield running.address.rstrip("/")


@pytest.mark.parametrize("width", [390, DESK])
def test_long_names_stay_where_they_belong(visit, long_names, width):
    for address in (long_names, f"{long_names}/models/{LONG}.adf"):
        page = visit(address, width=width).page
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = [one.bounding_box() for one in page.locator("#what-if .fields label span").all()]
    fields = [one.bounding_box() for one in page.locator("#what-if .fields label").all()]
    assert len(boxes) == 6
    for text, field in zip(boxes, fields, strict=True):
        assert text["x"] + text["width"] <= field["x"] + field["width"] + 1
    axis = page.locator("#columns-map svg.plot text.tick").last.bounding_box()
    names = [one.bounding_box() for one in page.locator("#columns-map text.dot-name").all()]
    assert len(names) >= 2
    assert all(name["y"] + name["height"] <= axis["y"] + 4 for name in names)
