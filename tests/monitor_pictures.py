"""Make the pictures of the monitor in docs/images, in Chromium: ``make pictures``."""

from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from adforest.monitor.launch import serving
from browsing import chromium
from rent_stream import rent_model

FOLDER = Path(__file__).parents[1] / "docs" / "images"
N_COLOURS = 256  # of a picture, to keep it small
TALL = 9_000  # the whole page, so that nothing stays at the top while it is scrolled
PICTURES = {  # by name: width, height in pixels, scheme, and the part that is shown; None for the top of the page
    "monitor": (1100, 860, "light", None),
    "monitor-dark": (1100, 860, "dark", None),
    "monitor-phone": (390, 860, "light", None),
    "monitor-columns": (1100, TALL, "light", "#columns"),
    "monitor-classes": (1100, TALL, "light", "#classes"),
    "monitor-trees": (1100, TALL, "light", "#trees"),
    "monitor-what-if": (1100, TALL, "light", "#what-if"),
}


def make_pictures(folder=FOLDER):
    """Write all pictures."""
    # Letters without colours at their edges make smaller pictures.
    with TemporaryDirectory() as models, chromium("--disable-lcd-text") as browser:
        rent_model().save(Path(models) / "rents.adf")
        with serving(Path(models) / "rents.adf") as address:
            for name, (width, height, scheme, part) in PICTURES.items():
                page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
                page.goto(address)
                page.wait_for_selector("#live[data-state=on]")
                shown = page.locator(part) if part else page
                picture = Image.open(BytesIO(shown.screenshot())).convert("RGB")
                small = picture.quantize(N_COLOURS, kmeans=1, dither=Image.Dither.NONE)
                small.save(folder / f"{name}.png", optimize=True)
                page.close()


if __name__ == "__main__":
    make_pictures()
