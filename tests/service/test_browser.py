"""The monitor on a model that is served: predictions come in, labels late, drift is seen, the challenger promoted."""

import json
import os

import pytest
from playwright.sync_api import expect

from browsing import PATIENCE, chromium, visiting
from served import as_records, make, rents, service, until

M = "/v1/models/rents"
N = 100
OTHER = {"high": "low", "low": "high"}


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


def learn_late(client, seed, *, is_swapped=False):
    """Predict records and send their labels later; wait until they are learnt."""
    labels = predict(client, seed)
    version = client.get(M).json()["model_version"]
    labels = {one: OTHER[label] if is_swapped else label for one, label in labels.items()}
    client.post(f"{M}/labels", json={"labels": labels}).raise_for_status()
    until(lambda: client.get(M).json()["model_version"] > version)


def predict(client, seed):
    """Predict records, and return their true labels by id."""
    table = rents(N, seed)
    ids = [f"{seed}-{place}" for place in range(N)]
    client.post(f"{M}/predict", json={"records": as_records(table), "record_ids": ids}).raise_for_status()
    return dict(zip(ids, table["rent"].to_pylist(), strict=True))


def test_the_monitor_follows_a_model_that_is_served(tmp_path, browser):
    with service(tmp_path) as client, visiting(browser) as visit:
        make(client, batch_size=N)  # which learns 60
        client.put(f"{M}/challenger", json={"parameters": {"max_depth": 3}}).raise_for_status()
        for seed in range(1, 6):
            learn_late(client, seed)
        seen = visit(f"{str(client.base_url).rstrip('/')}/models/rents.adf")
        body, served = seen.page.locator("body"), seen.page.locator("#service")
        expect(body).to_contain_text("Challenger")
        expect(served).to_contain_text(f"Predicted{5 * N}")
        expect(served).to_contain_text("Pending0")
        expect(body).not_to_contain_text("sustained")

        labels = predict(client, 6)  # predictions come in, and wait for their labels
        expect(served).to_contain_text(f"Predicted{6 * N}", timeout=PATIENCE)  # without being asked again
        expect(served).to_contain_text(f"Pending{N}", timeout=PATIENCE)
        expect(served).to_contain_text(f"Learnt{5 * N}")
        expect(body).to_contain_text("560 kept")
        few = dict(list(labels.items())[: N // 2])
        client.post(f"{M}/labels", json={"labels": few}).raise_for_status()
        expect(served).to_contain_text(f"Labelled{N // 2}", timeout=PATIENCE)
        client.post(f"{M}/labels", json={"labels": labels}).raise_for_status()
        expect(body).to_contain_text("660 kept", timeout=PATIENCE)
        expect(served).to_contain_text(f"Learnt{6 * N}", timeout=PATIENCE)

        for seed in range(7, 19):  # the concept changes
            learn_late(client, seed, is_swapped=True)
            if any(one["drift"] == "sustained" for one in client.get(f"{M}/drift").json()["batches"]):
                break
        else:
            pytest.fail("the drift was not noticed")
        expect(body).to_contain_text("sustained", timeout=PATIENCE)

        if picture := os.environ.get("ADFOREST_PICTURE"):  # to look at
            seen.page.screenshot(path=picture, full_page=True)
        seen.page.get_by_role("button", name="Promote challenger").click()
        expect(seen.page.locator("h2", has_text="Challenger")).to_have_count(0, timeout=PATIENCE)
        assert seen.page.url.endswith("/models/rents.adf")
        assert client.get(M).json()["parameters"]["max_depth"] == 3
        noted = [json.loads(one) for one in (tmp_path / ".adforest-audit.log").read_text().splitlines()]
        assert ("the monitor's pages", 200) in [(one["who"], one["status"]) for one in noted]
        assert [line for line in seen.console if "error" in line.lower()] == []
