"""The built manual in a browser: ``make test-docs``. No part of the ordinary suite, since the build takes minutes."""

import http.server
import threading
from functools import partial
from pathlib import Path
from urllib.parse import quote

import pytest

from browsing import DESK, PHONE, chromium, visiting

SITE = Path(__file__).parents[1] / "build" / "docs"
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html") if "_static" not in path.parts)
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"

BROKEN_IMAGES = """
Promise.all([...document.images].map(image => {
    image.loading = "eager";
    return image.decode().then(() => null, () => image.src);
})).then(found => found.filter(Boolean))
"""
TOO_WIDE = """
document.documentElement.scrollWidth <= document.documentElement.clientWidth ? [] :
    [...document.querySelectorAll("main *")].filter(one => one.getBoundingClientRect().right > innerWidth + 1)
        .slice(0, 3).map(one => one.outerHTML.slice(0, 120))
"""
BRIGHTNESS = """
(([r, g, b]) => (r + g + b) / 3)(getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).map(Number))
"""
FOUND = """
new Promise(done => {
    const links = () => [...document.querySelectorAll("#search-results li a")].map(one => one.textContent);
    const look = () => links().length >= 3 ? done(links()) : setTimeout(look, 100);
    setTimeout(() => done(links()), 20000);
    look();
})
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser():
    with chromium(OFFLINE) as found:
        yield found


@pytest.fixture
def visit(browser):
    with visiting(browser) as open_page:
        yield open_page


def errors_of(seen):
    """Return what a page printed, without what the theme tells of itself."""
    return [line for line in seen.console if not line.startswith("log: [PST]")]


def test_there_is_a_manual():
    assert len(PAGES) > 80, "run: make docs"
    for page in ("index", "getting-started", "guide/parameters", "how-to/alarms", "paper", "results", "gallery/index"):
        assert f"{page}.html" in PAGES


@pytest.mark.parametrize("page", PAGES)
def test_page(visit, address, page):
    for width, scheme in ((DESK, "light"), (PHONE, "dark")):
        seen = visit(f"{address}/{page}", width=width, scheme=scheme)
        assert seen.page.evaluate(BROKEN_IMAGES) == []
        assert seen.page.evaluate(TOO_WIDE) == [], f"wider than a window of {width} pixels"
        brightness = seen.page.evaluate(BRIGHTNESS)
        assert (brightness < 60) if scheme == "dark" else (brightness > 200)
        assert errors_of(seen) == []
        assert seen.outside(address) == []


@pytest.mark.parametrize("question", ["drift", "memory_size", "partial_fit", "expected_accuracy", "retention"])
def test_search_finds_pages_without_a_network(visit, address, question):
    seen = visit(f"{address}/search.html?q={quote(question)}")
    found = seen.page.evaluate(FOUND)
    assert len(found) >= 3, found
    assert errors_of(seen) == []
    assert seen.outside(address) == []


def test_what_must_not_be_there_would_be_seen(visit, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        '<html><body style="background: white"><main><img src="none.png"><div style="width: 3000px">x</div></main>'
        "<script>console.error('wrong'); fetch('https://adforest.invalid/x').catch(() => {}); none();</script>"
        "</body></html>",
        encoding="utf-8",
    )
    seen = visit(page.as_uri(), width=PHONE)
    assert len(seen.page.evaluate(BROKEN_IMAGES)) == 1
    assert seen.page.evaluate(TOO_WIDE) != []
    assert seen.page.evaluate(BRIGHTNESS) == 255
    assert any("wrong" in line for line in seen.console)
    assert any("none is not defined" in line for line in seen.console)
    assert "https://adforest.invalid/x" in seen.requests
