"""Measure how long the monitor takes to show a model that learnt 10,000 batches."""

import shutil
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import urlopen

import numpy as np
from timing import ours, seconds

from adforest.monitor import write_report
from adforest.monitor.launch import serving

N_BATCHES = 10_000
N_MODELS = 300
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def measure_monitor() -> Iterator[dict[str, Any]]:
    """The page as it is asked for first, the model not yet loaded, and once more; then the report."""
    model = _long_stream()
    with TemporaryDirectory() as folder:
        path, report = Path(folder) / "model.adf", Path(folder) / "report.html"
        model.save(path)
        yield {
            "measure": f"report of {N_BATCHES:,} batches",
            "seconds": seconds(partial(write_report, model, report)),
            "megabytes": report.stat().st_size / 1e6,
            "goal": "<= 2 MB",
        }
        with serving(path) as address:
            first = seconds(partial(_read_page, address))
            again = min(seconds(partial(_read_page, address)) for _ in range(5))
        yield {
            "measure": f"monitor's page of {N_BATCHES:,} batches, by the server",
            "first_seconds": first,
            "again_seconds": again,
            "goal": "<= 2",
        }
        yield {
            "measure": f"monitor's first picture of {N_BATCHES:,} batches, in Chromium",
            **_picture_seconds(path),
            "goal": "<= 2",
        }


def measure_index() -> Iterator[dict[str, Any]]:
    """The page of a folder of 300 models: as it is asked for first, and once all verdicts are there."""
    rng, model = np.random.default_rng(0), ours(n_estimators=10)
    for _ in range(8):
        X = rng.normal(size=(150, 8))
        model.partial_fit(X, (X[:, 0] + X[:, 1] > 0).astype(int))
    with TemporaryDirectory() as folder:
        for number in range(N_MODELS):
            model.save(Path(folder) / f"{number}.adf")
        with serving(folder) as address:
            first = seconds(partial(_read_page, address))
            start = time.perf_counter()
            while b"being read" in _read_page(address):
                time.sleep(0.05)
            whole = first + time.perf_counter() - start
            again = min(seconds(partial(_read_page, address)) for _ in range(5))
        yield {
            "measure": f"monitor's page of {N_MODELS} models",
            "first_seconds": first,
            "all_verdicts_seconds": whole,
            "again_seconds": again,
            "goal": "<= 1",
        }


def _long_stream() -> Any:
    """Return a model that learnt 10,000 small batches."""
    rng, model = np.random.default_rng(0), ours(n_estimators=5, memory_size=2_000)
    for _ in range(N_BATCHES):
        X = rng.normal(size=(10, 8))
        model.partial_fit(X, (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 1))
    return model


def _read_page(address: str) -> bytes:
    """Ask for a page and wait until all of it is there."""
    with urlopen(address) as answer:
        content: bytes = answer.read()
        return content


def _picture_seconds(path: Path) -> dict[str, Any]:
    """Return how long it takes from the address to the first picture, and until the vote is drawn; medians of three.

    Each time the monitor has just been started, and has not read the model yet.
    """
    chromium = shutil.which("chromium")
    if chromium is None:
        return {"skipped": "apt-get install chromium"}
    from playwright.sync_api import sync_playwright

    painted, drawn = [], []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        for _ in range(3):
            page = browser.new_page()
            page.goto("about:blank")
            with serving(path) as address:
                start = time.perf_counter()
                page.goto(address)
                page.wait_for_selector("#accuracy-over-time path.vote")
                drawn.append(time.perf_counter() - start)
                painted.append(page.evaluate(FIRST_PAINT) / 1000)
            page.close()
        browser.close()
    return {"seconds": median(painted), "accuracy_drawn_seconds": median(drawn)}
