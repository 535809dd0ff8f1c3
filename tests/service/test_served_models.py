"""Models of a folder: what a start leaves alone, and requests whose client went away."""

import threading

import adforest
from adforest.service.served_model import ServedModel
from served import make, rents, service


def test_a_model_whose_adoption_was_cut_short_is_adopted_at_the_next_start(tmp_path):
    table = rents(200, seed=0).to_pandas()
    model = adforest.AdaptiveDecisionForestClassifier(n_estimators=3, random_state=0)
    model.partial_fit(table.drop(columns="rent"), table["rent"]).save(tmp_path / "mine.adf")
    (tmp_path / "mine.adf.service").mkdir()
    with service(tmp_path) as client:
        assert client.get("/v1/models/mine").status_code == 200
    assert (tmp_path / "mine.adf").exists()


def test_a_request_that_was_cancelled_does_not_end_the_writer(tmp_path):
    with service(tmp_path) as client:
        make(client)
    served = ServedModel(tmp_path / "rents.adf", print, None)
    try:
        is_busy, go_on = threading.Event(), threading.Event()
        served.call(lambda: (is_busy.set(), go_on.wait(30)))
        assert is_busy.wait(30)
        assert served.call(lambda: 1).cancel()
        go_on.set()
        assert served.call(lambda: 2).result(timeout=30) == 2
    finally:
        served.close()
