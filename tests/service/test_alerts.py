"""Alerts of a service: made where it learns, kept in the outbox of the model, sent by the service."""

import signal
import socket
import time

import pytest

import adforest
from adforest.alerts.outbox import Outbox, outbox_path
from adforest.origins import origins_of
from adforest.service import alerting
from adforest.service.learning_process import LearnerEndedError, LearningProcess
from adforest.service.process import ServiceOptions, serving
from alert_receivers import Receiver, free_port, rule, rules, webhook
from served import SMALL, Process, as_csv, client_of, make, rents, service, teach, until

M = "/v1/models/rents"
CSV = {"content-type": "text/csv"}
ALWAYS = rule("log loss above", limit=0, repeat=True)


def waiting(folder):
    return Outbox(outbox_path(folder / "rents.adf")).n_waiting()


def batches_of(receiver):
    return [one["batch"] for one in receiver.got]


def test_a_rule_makes_an_alert_that_the_service_sends(tmp_path):
    with Receiver() as receiver:
        file = rules(tmp_path, rule("new class") + webhook(receiver.address))
        with service(tmp_path / "data", alerts=file) as client:
            make(client)
            teach(client, seed=1)
            assert not receiver.got
            table = rents(60, 2).to_pandas().assign(rent="free")
            rows = "area,rooms,district,rent\n" + "".join(f"{','.join(map(str, row))}\n" for row in table.to_numpy())
            client.post(f"{M}/batches?wait=true", content=rows, headers=CSV)
            (alert,) = until(lambda: receiver.got)
            assert alert["message"] == "batch 3 brings the new class free"
            assert alert["model"] == str(tmp_path / "data" / "rents.adf")
            until(lambda: 'alerts_waiting{model="rents"} 0.0' in client.get("/metrics").text)


def test_missing_values_and_categories_never_seen_are_found_before_they_are_learnt(tmp_path):
    text = rule("missing above", limit=0.1) + rule("unseen categories above", limit=0.1, columns=["district"])
    with Receiver() as receiver, service(tmp_path, alerts=rules(tmp_path, text + webhook(receiver.address))) as client:
        make(client)
        rows = "area,rooms,district,rent\n" + 30 * "70,2,east,low\n" + 30 * ",3,north,high\n"
        for _ in range(2):  # the second time east is known
            client.post(f"{M}/batches?wait=true", content=rows, headers=CSV)
        until(lambda: len(receiver.got) == 2)
    assert sorted((one["rule"], one["about"], one["value"], one["batch"]) for one in receiver.got) == [
        ("missing above 0.1", ["area"], 0.5, 2),
        ("unseen categories above 0.1 in district", ["district"], 0.5, 2),
    ]


def test_alerts_wait_for_their_receiver_through_a_restart_and_arrive_once(tmp_path):
    port = free_port()
    file = rules(tmp_path, ALWAYS + webhook(f"http://127.0.0.1:{port}/alerts", retry=0.05))
    process = Process(tmp_path / "data", "--alerts", str(file))
    with client_of(process.address) as client:
        make(client)
        for seed in (1, 2):
            teach(client, seed=seed)
        assert 'adforest_service_alerts_waiting{model="rents"} 2.0' in client.get("/metrics").text
    process.kill()
    with Receiver(port=port) as receiver:
        process = Process(tmp_path / "data", "--alerts", str(file))
        until(lambda: len(receiver.got) == 2)
        with client_of(process.address) as client:
            teach(client, seed=3)
        until(lambda: len(receiver.got) == 3)
        code, said = process.stop(signal.SIGTERM)
    assert code == 0
    assert sorted(batches_of(receiver)) == [2, 3, 4]
    assert said.count("alert: log loss on batch 4 ") == 1


def test_alerts_that_are_saved_with_the_model_alone_are_sent_at_the_next_start(tmp_path):
    with Receiver() as receiver:
        file = rules(tmp_path, ALWAYS + webhook(receiver.address))
        with service(tmp_path, alerts=file) as client:
            make(client)
            teach(client, seed=1)
            until(lambda: receiver.got)
            sent = client.get(f"{M}/model").content
        assert b"log loss" in sent
        assert str(tmp_path).encode() not in sent  # the alert is in it, where the server keeps models is not
        outbox_path(tmp_path / "rents.adf").unlink()  # as if the learner was killed before it wrote there
        with service(tmp_path, alerts=file):
            until(lambda: len(receiver.got) == 2)
    assert receiver.got[0] == receiver.got[1]


def test_alerts_that_the_outbox_cannot_take_are_saved_with_the_next_batch(tmp_path):
    with Receiver() as receiver:
        with service(tmp_path, alerts=rules(tmp_path, ALWAYS + webhook(receiver.address))) as client:
            make(client)
            outbox_path(tmp_path / "rents.adf").mkdir()  # in the way of the outbox
            for seed in (1, 2):
                teach(client, seed=seed)
            saved = origins_of(adforest.load(tmp_path / "rents.adf")).alerts
            assert ["batch 2" in saved[0], "batch 3" in saved[1]] == [True, True]
            outbox_path(tmp_path / "rents.adf").rmdir()
            teach(client, seed=3)
            until(lambda: len(receiver.got) == 3)
        assert batches_of(receiver) == [2, 3, 4]
    assert waiting(tmp_path) == 0


def test_a_batch_that_is_refused_makes_an_alert(tmp_path):
    with Receiver() as receiver:
        file = rules(tmp_path, rule("files rejected") + webhook(receiver.address))
        with service(tmp_path, alerts=file) as client:
            make(client)
            rows = "area,rooms,district,more,rent\n" + 20 * "70,2,east,1,low\n"
            answer = client.post(f"{M}/batches?wait=true", content=rows, headers=CSV)
            assert "more" in answer.json()["report"]["reason"]
            (alert,) = until(lambda: receiver.got)
    assert "cannot be learnt and is set aside: " in alert["message"]


def test_hours_without_a_batch_make_one_alert(tmp_path, monkeypatch):
    monkeypatch.setattr("adforest.service.served_model.CHECK_SECONDS", 0.05)
    with Receiver() as receiver:
        file = rules(tmp_path, rule("no batch for", limit=0.00001) + webhook(receiver.address))
        with service(tmp_path, alerts=file) as client:
            make(client)
            until(lambda: receiver.got)
            time.sleep(0.3)
            assert len(receiver.got) == 1
            teach(client, seed=1)
            until(lambda: len(receiver.got) == 2)
    assert all(one["message"].startswith("no batch for 0.0 hours") for one in receiver.got)


def test_a_challenger_makes_no_alerts(tmp_path):
    with Receiver() as receiver:
        file = rules(tmp_path, ALWAYS + webhook(receiver.address))
        with service(tmp_path, alerts=file) as client:
            make(client)
            client.put(f"{M}/challenger", json={"parameters": {"n_estimators": 4}})
            for seed in (1, 2):
                teach(client, seed=seed)
            until(lambda: len(receiver.got) == 2)
            assert client.post(f"{M}/challenger/promote?wait=true").status_code in (200, 202)
            teach(client, seed=3)
            until(lambda: len(receiver.got) == 3)
    assert batches_of(receiver) == [2, 3, 3]  # the challenger had learnt two batches when it was promoted


def test_workers_have_alerts_too(tmp_path):
    with Receiver() as receiver:
        file = rules(tmp_path, ALWAYS + webhook(receiver.address))
        process = Process(tmp_path / "data", "--alerts", str(file), "--workers", "2")
        with client_of(process.address) as client:
            make(client)
            teach(client, seed=1)
            until(lambda: receiver.got)
        assert process.stop()[0] == 0


def test_a_removed_model_leaves_no_alerts(tmp_path):
    with service(tmp_path, alerts=rules(tmp_path, ALWAYS + webhook("http://127.0.0.1:9/alerts"))) as client:
        make(client)
        teach(client, seed=1)
        assert outbox_path(tmp_path / "rents.adf").exists()
        assert client.delete(M).status_code in (200, 204)
        assert list(tmp_path.glob(".rents.adf.alerts*")) == []


def test_an_outbox_that_is_damaged_keeps_no_batch_from_being_learnt(tmp_path, capfd):
    with service(tmp_path, alerts=rules(tmp_path, ALWAYS)) as client:
        make(client)
        outbox_path(tmp_path / "rents.adf").write_bytes(b"this is no SQLite file" * 100)
        assert teach(client, seed=1)["batch"] == 2
        assert client.get(M).json()["batches"] == 2
    assert "cannot be kept to be sent" in capfd.readouterr().err


def test_a_rule_that_fails_keeps_no_batch_from_being_learnt(tmp_path, capfd):
    with service(tmp_path, alerts=rules(tmp_path, rule("missing above", limit=0.1))) as client:
        make(client)
    served = alerting.ServedAlerts(*adforest.alerts.reading.read_file(tmp_path / "rules.toml"))
    learner = alerting.alerts_of_learner(served.for_learner())
    from adforest.service.trainer import ForestTrainer

    trainer = ForestTrainer(learner)
    learner.look = lambda _: 1 / 0
    model = trainer.new({"n_estimators": 2, "random_state": 0})
    assert trainer.learn(model, rents(60), "rent")[0] == 1
    assert "alerts cannot be made or sent (ZeroDivisionError" in capfd.readouterr().err


def test_receivers_that_do_not_answer_delay_the_end_for_all_models_at_once(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/alerts"
        with service(tmp_path / "data", alerts=rules(tmp_path, ALWAYS + webhook(address))) as client:
            for name in "abcdef":
                make(client, name)
                teach(client, name, seed=1)
            begin = time.monotonic()
        assert time.monotonic() - begin < 6 * alerting.CLOSING


@pytest.mark.parametrize(
    ("text", "expected"), [("[[rule]]\nwhen = 'sometimes'", "expected 'drift sustained'"), ("x", "is no TOML")]
)
def test_a_file_of_rules_that_is_wrong_is_refused_at_the_start(tmp_path, text, expected):
    with (
        pytest.raises(ValueError, match=expected),
        serving(ServiceOptions(tmp_path / "data", port=0, alerts=rules(tmp_path, text))),
    ):
        pass


def test_a_replica_takes_no_rules(tmp_path):
    options = ServiceOptions(tmp_path, port=0, alerts=rules(tmp_path, ALWAYS), follow="http://127.0.0.1:1")
    with pytest.raises(ValueError, match="Give --alerts to the service it follows"), serving(options):
        pass


def test_the_learner_is_given_no_secrets(tmp_path):
    text = ALWAYS + webhook("http://127.0.0.1:9/secret-path", headers={"Authorization": "secret-token"})
    served = alerting.ServedAlerts(*adforest.alerts.reading.read_file(rules(tmp_path, text)))
    assert "secret" not in served.for_learner()


def test_a_batch_at_which_the_learner_ends_each_time_makes_an_alert(tmp_path, monkeypatch):
    with Receiver() as receiver:
        file = rules(tmp_path, rule("files rejected") + webhook(receiver.address))
        with service(tmp_path, alerts=file) as client:
            make(client)
            with monkeypatch.context() as patched:
                patched.setattr(LearningProcess, "run", end_instead)
                answer = client.post(f"{M}/batches?wait=true", content=as_csv(rents(20)), headers=CSV)
            assert (answer.status_code, answer.json()["state"]) == (422, "refused")
            (alert,) = until(lambda: receiver.got)
            assert teach(client, seed=1)["batch"] == 2
    assert "the batch of task 2 cannot be learnt and is set aside: the learner ended 3 times" in alert["message"]


def end_instead(self, order):
    self.end()
    raise LearnerEndedError


def test_an_alert_of_a_refused_batch_waits_for_an_outbox_that_cannot_take_it(tmp_path, monkeypatch):
    monkeypatch.setattr("adforest.service.served_model.CHECK_SECONDS", 0.05)
    with Receiver() as receiver:
        file = rules(tmp_path, rule("files rejected") + webhook(receiver.address))
        with service(tmp_path, alerts=file) as client:
            make(client)
            outbox_path(tmp_path / "rents.adf").mkdir()  # in the way of the outbox
            rows = "area,rooms,district,more,rent\n" + 20 * "70,2,east,1,low\n"
            assert client.post(f"{M}/batches?wait=true", content=rows, headers=CSV).status_code == 422
            outbox_path(tmp_path / "rents.adf").rmdir()
            until(lambda: receiver.got)
    assert len(receiver.got) == 1


def test_alerts_that_the_outbox_cannot_take_are_saved_with_a_rollback_too(tmp_path):
    with (
        Receiver() as receiver,
        service(tmp_path, alerts=rules(tmp_path, ALWAYS + webhook(receiver.address))) as client,
    ):
        make(client)
        outbox_path(tmp_path / "rents.adf").mkdir()
        teach(client, seed=1)
        assert client.post(f"{M}/rollback", json={"model_version": 1}).status_code == 200
        outbox_path(tmp_path / "rents.adf").rmdir()
        assert client.put(M, json={"parameters": {"n_jobs": 1}}).status_code == 200
        until(lambda: receiver.got)
    assert batches_of(receiver) == [2]


def test_batches_that_are_not_checked_end_every_row_of_batches(tmp_path):
    gaps = "area,rooms,district,rent\n" + 30 * "70,2,east,low\n" + 30 * ",3,north,high\n"
    with Receiver() as receiver:
        options = {"alerts": rules(tmp_path, rule("missing above", limit=0.1, batches=2) + webhook(receiver.address))}
        for more in (options, {}, options, options):
            with service(tmp_path / "data", **more) as client:
                client.put(M, json={"target": "rent", "parameters": SMALL}).raise_for_status()
                body = gaps if more else as_csv(rents(60))
                client.post(f"{M}/batches?wait=true", content=body, headers=CSV).raise_for_status()
        until(lambda: receiver.got)
    assert batches_of(receiver) == [4]


def test_rules_of_many_columns_reach_the_learner(tmp_path):
    columns = [f"{number:0200}" for number in range(1_000)]  # more than an argument may have
    text = rule("missing above", limit=0.1, columns=["area", *columns])
    with Receiver() as receiver, service(tmp_path, alerts=rules(tmp_path, text + webhook(receiver.address))) as client:
        make(client)
        rows = "area,rooms,district,rent\n" + 30 * "70,2,east,low\n" + 30 * ",3,north,high\n"
        client.post(f"{M}/batches?wait=true", content=rows, headers=CSV)
        until(lambda: receiver.got)


def test_an_outbox_that_stays_open_forgets_old_alerts(tmp_path, monkeypatch):
    monkeypatch.setattr("adforest.alerts.outbox.MAX_KEPT", 20)
    monkeypatch.setattr("adforest.alerts.outbox.FORGET_EVERY", 10)
    outbox = Outbox(tmp_path / "outbox")
    for number in range(100):
        assert outbox.put({"id": str(number)}, ["a"])
        if number != 5:
            outbox.delivered("a", number + 1)
    kept = [number for number in range(100) if not outbox.put({"id": str(number)}, [])]
    outbox.close()
    assert kept[0] == 5  # which still waits
    assert len(kept) < 40
