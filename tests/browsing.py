"""Pages opened in Chromium, and what they print and ask for."""

import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import sync_playwright

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
PHONE, DESK = 360, 1280  # pixels
PATIENCE = 30_000  # milliseconds


@dataclass
class Visit:
    """A page, what it printed, and what it asked for."""

    page: object
    console: list = field(default_factory=list)
    requests: list = field(default_factory=list)

    def text(self, selector):
        return self.page.locator(selector).first.inner_text()

    def outside(self, address):
        return [url for url in self.requests if not url.startswith((address, "data:", "blob:"))]


@contextmanager
def chromium(*more_flags):
    """Run a browser without a window, or skip the test where there is none."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("chromium is not on PATH: apt-get install chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=[*FLAGS, *more_flags])
        yield browser
        browser.close()


def open_page(browser, address, *, width=DESK, scheme="light", **options):
    """Open a page in a window of its own."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
    page = context.new_page()
    seen = Visit(page)
    page.on("console", lambda message: seen.console.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: seen.console.append(str(error)))
    page.on("request", lambda request: seen.requests.append(request.url))
    page.goto(address)
    return seen


@contextmanager
def visiting(browser):
    """Yield what opens a page in a window of its own, and close all of them at the end."""
    opened = []

    def visit(address, **options):
        opened.append(open_page(browser, address, **options))
        return opened[-1]

    yield visit
    for seen in opened:
        seen.page.context.close()
