"""A tree that three batches made, no windows, and a browser."""

import pytest

from browsing import chromium, visiting
from planted_trees import systematic


@pytest.fixture(autouse=True)
def _no_window():
    matplotlib = pytest.importorskip("matplotlib")
    from matplotlib import pyplot

    matplotlib.use("agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def toy():
    """Three batches: the tree is built, a root is added, and a leaf is expanded."""
    pd = pytest.importorskip("pandas")
    batches = [
        ([[100, 1], [120, 2], [200, 1], [220, 2]], ["low", "low", "mid", "mid"]),
        ([[400, 1], [420, 1], [440, 1]], ["high", "high", "high"]),
        ([[205, 1], [210, 1], [215, 1], [110, 1]], ["top", "top", "top", "low"]),
    ]
    model = systematic(repair_threshold=1.0)
    for X, y in batches:
        model.partial_fit(pd.DataFrame(X, columns=["Area", "Beds"]), y)
    return model


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def visit(browser):
    with visiting(browser) as open_page:
        yield open_page
