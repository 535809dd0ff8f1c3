"""The monitor on a model that is served: predictions come in, labels late, drift is seen, the challenger promoted."""

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
    """Predict records, send their labels later, and wait until they are learnt."""
    table = rents(N, seed)
    ids = [f"{seed}-{place}" for place in range(N)]
    client.post(f"{M}/predict", json={"records": as_records(table), "record_ids": ids}).raise_for_status()
    labels = [OTHER[one] if is_swapped else one for one in table["rent"].to_pylist()]
    version = client.get(M).json()["model_version"]
    client.post(f"{M}/labels", json={"labels": dict(zip(ids, labels, strict=True))}).raise_for_status()
    until(lambda: client.get(M).json()["model_version"] > version)


def test_the_monitor_follows_a_model_that_is_served(tmp_path, browser):
    with service(tmp_path) as client, visiting(browser) as visit:
        make(client, batch_size=N)
        client.put(f"{M}/challenger", json={"parameters": {"max_depth": 3}}).raise_for_status()
        for seed in range(1, 7):
            learn_late(client, seed)
        seen = visit(f"{str(client.base_url).rstrip('/')}/models/rents.adf")
        body = seen.page.locator("body")
        expect(body).to_contain_text("Challenger")
        expect(body).not_to_contain_text("sustained")
        for seed in range(7, 19):
            learn_late(client, seed, is_swapped=True)
            if any(one["drift"] == "sustained" for one in client.get(f"{M}/drift").json()["batches"]):
                break
        else:
            pytest.fail("the drift was not noticed")
        expect(body).to_contain_text("sustained", timeout=PATIENCE)  # without being asked again
        assert client.post(f"{M}/challenger/promote").status_code == 200
        expect(seen.page.locator("h2", has_text="Challenger")).to_have_count(0, timeout=PATIENCE)
        assert client.get(M).json()["parameters"]["max_depth"] == 3
        assert [line for line in seen.console if "error" in line.lower()] == []
