"""The page while `adforest watch` learns files in another process."""

import shutil
import signal

import pytest
from playwright.sync_api import expect

from browsing import PATIENCE
from cli_commands import SMALL, start, write_months
from monitor_server import monitoring


@pytest.mark.posix
def test_the_page_follows_a_watched_folder(visit, tmp_path):
    months, inbox, model = write_months(tmp_path / "months", 5), tmp_path / "inbox", tmp_path / "m.adf"
    inbox.mkdir()
    shutil.copy(months / "month-1.csv", inbox)
    options = ("--target", "rent", "--drop", "id", "-m", model, "--interval", "0.1", "--settle", "0")
    process = start("watch", inbox, *options, *SMALL)
    try:
        assert "month-1.csv" in process.stdout.readline() + process.stdout.readline()
        with monitoring(model) as running:
            seen = visit(running.address)
            batches = seen.page.locator(".tiles div:last-child b")
            expect(batches).to_have_text("1", timeout=PATIENCE)
            seen.page.evaluate("window.sameWindow = true")
            for number in range(2, 6):
                shutil.copy(months / f"month-{number}.csv", inbox)
                expect(batches).to_have_text(str(number), timeout=PATIENCE)
                assert seen.page.locator("#batches tbody tr").count() == number
            assert seen.page.locator("#accuracy-over-time path.line.vote").count() == 1
            assert seen.page.evaluate("window.sameWindow") is True
            assert seen.console == []
            assert seen.outside(running.address) == []
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
