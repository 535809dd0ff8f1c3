"""Alerts wait on disk until they are delivered: nothing is lost, nothing leads elsewhere, nothing of them is run."""

import json
import os
import random
import signal
import socket
import sys
import threading
import time
from collections import Counter

import pytest

import adforest
from adforest.alerts import read_alerts
from adforest.alerts.connections import post
from adforest.alerts.delivery import Command, Webhook
from adforest.alerts.outbox import Outbox, outbox_path
from adforest.alerts.sending import Sender
from adforest.cli.learning import Learner
from adforest.cli.model_file import ModelFile, locked
from adforest.origins import origins_of
from alert_receivers import Receiver, free_port, learn, rule, rules, told, webhook
from cli_commands import SMALL, content, json_lines, month, run, start, write_months
from table_files import write


@pytest.fixture
def folder(tmp_path):
    return write_months(tmp_path / "months", 3)


def alert(number, **more):
    return {"id": f"id-{number}", "message": f"alert {number}", "rule": "new class", **more}


def until(is_true, seconds=30):
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.01)


# --- 7: who is told


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_an_answer_that_leads_elsewhere_is_not_followed(code):
    with Receiver(200) as other, Receiver(code, {"Location": other.address}) as receiver:
        hook = Webhook(receiver.address, {"Authorization": "Bearer secret"}, 5)
        with pytest.raises(ValueError, match=f"it answered {code}, expected 2xx; redirects are not followed"):
            hook.deliver(alert(1))
        assert len(receiver.got) == 1
        assert not other.got


@pytest.mark.parametrize(("code", "is_delivered"), [(200, True), (202, True), (204, True), (400, False), (503, False)])
def test_only_success_is_a_delivery(capsys, folder, tmp_path, code, is_delivered):
    with Receiver(code) as receiver:
        learn(capsys, folder, rules(tmp_path, rule("accuracy below", limit=1.0) + webhook(receiver.address)))
    assert len(receiver.got) == 1
    assert Outbox(outbox_path(tmp_path / "m.adf")).n_waiting() == (not is_delivered)


# --- 10: nothing is run, nothing secret is printed


@pytest.mark.parametrize(
    "command",
    [
        ["/bin/sh", "-c", "echo {message}"],
        ["env", "bash", "-c", "echo $1", "x", "{message}"],
        ["ssh", "host", "{message}"],
        [sys.executable, "-c", "print('{message}')"],
        "sh -c 'logger {message}'",
        ["perl", "-e", "{message}"],
        [sys.executable, "-c", "{message}"],
        ["gawk", "{message}"],
    ],
)
def test_no_placeholder_within_what_is_run(capsys, tmp_path, command):
    path = rules(tmp_path, rule("new class") + f"[[deliver]]\ncommand = {json.dumps(command)}\n")
    code, _, err = run(capsys, "alert", path)
    assert code == 1
    assert "[[deliver]] 1: command has {message}" in err
    assert "ADFOREST_MESSAGE" in err


@pytest.mark.posix
def test_a_class_named_like_a_command_runs_nothing(capsys, folder, tmp_path):
    trap = tmp_path / "trap"
    named = f'$(touch {trap}); `touch {trap}` "; touch {trap}; \x1b[31m'
    table = month(4)
    table = table.set_column(4, "rent", [[named] * 5 + table["rent"].to_pylist()[5:]])
    write(table, folder / "month-4.csv")
    kept = tmp_path / "kept"
    shell = json.dumps(["sh", "-c", f'echo "$ADFOREST_MESSAGE" > {kept}; cat > {kept}.json'])
    code, _, err = learn(capsys, folder, rules(tmp_path, rule("new class") + f"[[deliver]]\ncommand = {shell}\n"))
    assert code == 0
    assert not trap.exists()
    message = "batch 4 brings the new class " + named.replace("\x1b", "\\x1b")
    assert told(err) == [message]
    assert kept.read_text() == message + "\n"
    assert json.loads((tmp_path / "kept.json").read_text())["message"] == message


def test_nothing_secret_is_printed(capsys, folder, tmp_path):
    secret = "token-1234567890"
    program = [sys.executable, "-c", "import sys; sys.exit('could not use ' + sys.argv[1])", secret]
    text = rule("accuracy below", limit=1.0) + f"[[deliver]]\ncommand = {json.dumps(program)}\n"
    text += webhook(f"http://user:{secret}@127.0.0.1:{free_port()}/{secret}?key={secret}", headers={"X-Key": secret})
    path = rules(tmp_path, text)
    for printed in (learn(capsys, folder, path), run(capsys, "alert", path), run(capsys, "alert", path, "--test")):
        assert secret not in printed[1] + printed[2]
    assert "could not use …" in printed[2]
    assert secret.encode() not in outbox_path(tmp_path / "m.adf").read_bytes()
    for wrong in (
        f'webhook = "ftp://{secret}"',
        f'webhook = ["{secret}"]',
        f'headers = "{secret}"\nwebhook = "http://x"',
    ):
        _, out, err = run(capsys, "alert", rules(tmp_path, rule("new class") + f"[[deliver]]\n{wrong}\n"))
        assert err.startswith(f"adforest: '{path}': [[deliver]] 1: ")
        assert secret not in out + err


# --- 9: delivered beside learning, at least once


def test_a_slow_receiver_does_not_hold_learning(capsys, folder, tmp_path):
    def after_learning(_):
        until(lambda: (tmp_path / "m.adf").exists() and len(adforest.load(tmp_path / "m.adf").history_) == 3)
        return 204

    with Receiver(after_learning) as receiver:  # answers once the last batch is learnt
        path = rules(tmp_path, rule("accuracy below", limit=1.0, repeat=True) + webhook(receiver.address, timeout=60))
        code, _, err = learn(capsys, folder, path)
    assert code == 0
    assert len(told(err)) == 2
    assert [one["batch"] for one in receiver.got] == [2, 3]


def test_a_thousand_alerts_to_a_receiver_that_fails_half_of_the_time(tmp_path):
    rng, arrived = random.Random(0), Counter()

    def sometimes(got):
        is_well = rng.random() < 0.5
        arrived[got["id"]] += is_well
        return 204 if is_well else 500

    with Receiver(sometimes) as receiver:
        outbox = Outbox(tmp_path / "outbox")
        outbox._database.execute("PRAGMA synchronous = OFF")  # nobody pulls the plug here
        hook = Webhook(receiver.address, {}, 5, retry=1e-6)
        sender = Sender(outbox, [hook], lambda *_: None)
        for number in range(1000):
            assert outbox.put(alert(number), [hook.key])
            sender.wake()
        until(lambda: not outbox.n_waiting(), 120)
        sender.close()
    assert arrived == {f"id-{number}": 1 for number in range(1000)}
    assert outbox.totals()["delivered"] == 1000
    assert outbox.totals()["failed"] == len(receiver.got) - 1000


def test_what_was_not_delivered_is_sent_by_the_next_command(capsys, folder, tmp_path):
    port = free_port()
    path = rules(tmp_path, rule("accuracy below", limit=1.0) + webhook(f"http://127.0.0.1:{port}/", retry=0.01))
    *_, err = learn(capsys, folder, path)
    assert "1 alert for the webhook at 127.0.0.1 not delivered yet: the next command sends them" in err
    assert run(capsys, "alert", path, "-m", tmp_path / "m.adf")[1].endswith(
        f"not sent yet: 1 alert of {tmp_path / 'm.adf'}\n"
    )
    with Receiver(204, port=port) as receiver:
        *_, err = learn(capsys, folder, path)
        assert told(err) == []  # nothing new to tell
        assert [one["batch"] for one in receiver.got] == [2]
        (as_json,) = json_lines(run(capsys, "alert", path, "-m", tmp_path / "m.adf", "--send", "--json")[1])
        assert as_json["waiting"] == 0
        assert len(receiver.got) == 1


@pytest.mark.parametrize("moment", ["before the model is saved", "before the outbox has it", "before it is sent"])
def test_a_process_killed_at_any_moment_loses_no_alert(capsys, folder, tmp_path, moment, monkeypatch):
    with Receiver(204) as receiver:
        path = rules(tmp_path, rule("accuracy below", limit=1.0) + webhook(receiver.address))

        def killed(*_):
            raise KeyboardInterrupt  # what stands here is that nothing after this point is done

        with monkeypatch.context() as patch:
            if moment == "before the model is saved":
                saved, n = ModelFile.save, iter(range(9))
                patch.setattr(ModelFile, "save", lambda *one: killed() if next(n) == 1 else saved(*one))
            elif moment == "before the outbox has it":
                patch.setattr(Outbox, "put", killed)
            else:
                patch.setattr(Sender, "__init__", lambda self, *_: setattr(self, "wake", killed))
                patch.setattr(Sender, "close", lambda self, *_: None)
            assert learn(capsys, folder, path)[0] == 130
        assert not receiver.got
        assert learn(capsys, folder, path)[0] == 0
        assert [one["batch"] for one in receiver.got] == [2]
        assert learn(capsys, folder, path)[0] == 0
        assert len(receiver.got) == 1


def test_a_signal_while_a_model_is_saved_waits_until_its_alerts_are_told(capsys, folder, tmp_path, monkeypatch):
    saved, n = ModelFile.save, iter(range(9))

    def stopped(*arguments):
        saved(*arguments)
        if next(n) == 1:
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(ModelFile, "save", stopped)
    with Receiver(204) as receiver:
        path = rules(tmp_path, rule("accuracy below", limit=1.0) + webhook(receiver.address))
        assert learn(capsys, folder, path)[0] == 128 + signal.SIGTERM
        assert [one["batch"] for one in receiver.got] == [2]


@pytest.mark.posix
def test_alerts_of_a_link_that_leads_elsewhere_wait_beside_the_new_file(capsys, folder, tmp_path):
    """A model that is read again begins anew: the senders before have ended, what waits there is sent."""
    one, two, link = (tmp_path / name for name in ("one.adf", "two.adf", "m.adf"))
    with Receiver(204) as receiver:
        path = rules(tmp_path, rule("accuracy below", limit=1.0) + webhook(receiver.address))
        assert (
            run(capsys, "learn", folder / "month-[12].csv", "-t", "rent", "-m", two, *SMALL, "--alerts", path)[0] == 0
        )
        outbox_path(two).unlink()  # its alert is saved with the model alone
        run(capsys, "learn", folder / "month-1.csv", "-t", "rent", "-m", one, *SMALL)
        link.symlink_to(one)
        with locked(link) as file, read_alerts(path) as found:
            learner = Learner(file, None, {}, {})
            found.begin(learner)
            assert not outbox_path(two).exists()
            link.unlink()
            link.symlink_to(two)
            assert learner.reload()
            found.begin(learner)
            assert sum(thread.name.startswith("alerts to") for thread in threading.enumerate()) == 1
        assert Outbox(outbox_path(two)).totals()["delivered"] == 1
        assert len(receiver.got) == 2


def test_many_findings_of_a_batch_are_one_alert(capsys, folder, tmp_path):
    table = month(4, n=150)
    names = [f"class {number}" for number in range(147)]
    write(table.set_column(4, "rent", [names + table["rent"].to_pylist()[147:]]), folder / "month-4.csv")
    with Receiver(204) as receiver:
        *_, err = learn(capsys, folder, rules(tmp_path, rule("new class") + webhook(receiver.address)))
    message = "batch 4 brings 147 new classes: class 0, class 1, class 10, class 100, class 101, …"
    assert told(err) == [message]
    (got,) = receiver.got
    assert (got["message"], sorted(got["value"])) == (message, sorted(names))


def test_shares_of_several_columns_are_one_alert(capsys, folder, tmp_path):
    table = month(4)
    for place, name in ((1, "size"), (3, "street")):
        table = table.set_column(place, name, [[None] * 30 + table[name].to_pylist()[30:]])
    write(table, folder / "month-4.csv")
    *_, err = learn(capsys, folder, rules(tmp_path, rule("missing above", limit=0.3)))
    size = table["size"].null_count / 60
    assert told(err) == [
        f"more than 30.0% of values are missing in 2 columns of batch 4: size {size:.1%}, street 50.0%"
    ]


@pytest.mark.posix
def test_an_alert_is_kept_once(tmp_path):
    outbox = Outbox(tmp_path / "outbox")
    assert outbox.put(alert(1), ["a"])
    assert not outbox.put(alert(1), ["a"])
    outbox.delivered("a", outbox.next_for("a")[0].number)
    assert not outbox.put(alert(1), ["a"])  # nor once it has been delivered
    assert outbox.next_for("a") == (None, None)
    assert (tmp_path / "outbox").stat().st_mode & 0o777 == 0o600


def test_an_alert_that_is_refused_keeps_no_other_waiting(tmp_path):
    with Receiver(lambda got: 400 if got["id"] == "id-0" else 204) as receiver:
        outbox, hook = Outbox(tmp_path / "outbox"), Webhook(receiver.address, {}, 5, retry=0.01)
        for number in range(5):
            outbox.put(alert(number), [hook.key])
        sender = Sender(outbox, [hook], lambda *_: None)
        until(lambda: outbox.n_waiting() == 1)
        sender.close()
    assert outbox.n_waiting() == 1


def test_an_answer_that_comes_byte_by_byte_has_one_deadline():
    is_over = threading.Event()

    def trickle(server):
        connection, _ = server.accept()
        with connection:
            for letter in b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 10_000:
                if is_over.wait(0.02):
                    return
                try:
                    connection.sendall(bytes([letter]))
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=trickle, args=(server,))
        thread.start()
        try:
            with pytest.raises(TimeoutError, match=r"no answer within 0\.3 s"):
                post(f"http://127.0.0.1:{server.getsockname()[1]}/", b"{}", {}, 0.3)
        finally:
            is_over.set()
            thread.join()


@pytest.mark.skipif(os.name != "posix", reason="there are no process groups here")
def test_what_a_command_started_ends_with_it(tmp_path):
    kept = tmp_path / "pid"
    command = Command(("sh", "-c", f"sleep 600 & echo $! > {kept}.part; mv {kept}.part {kept}; wait"), 2.0)
    with pytest.raises(TimeoutError, match="it did not end within 2 s, and was killed"):
        command.deliver(alert(1))
    pid = int(kept.read_text())
    until(lambda: not is_running(pid))
    # What a command leaves in the background when it ends in time is its own affair.
    Command(("sh", "-c", f"sleep 600 & echo $! > {kept}"), 5.0).deliver(alert(1))
    pid = int(kept.read_text())
    assert is_running(pid)
    os.kill(pid, signal.SIGKILL)


@pytest.mark.skipif(os.name != "posix", reason="there are no process groups here")
def test_what_is_under_way_when_a_command_ends_is_ended_and_sent_again(tmp_path):
    outbox, kept = Outbox(tmp_path / "alerts"), tmp_path / "pid"
    command = Command(("sh", "-c", f"echo $$ > {kept}.part; mv {kept}.part {kept}; sleep 600"), 600.0)
    outbox.put(alert(1), [command.key])
    sender = Sender(outbox, [command], lambda *_: None)
    until(kept.exists)
    sender.close(0.1)
    assert not is_running(int(kept.read_text()))
    assert outbox.n_waiting() == 1


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().split()[2] != "Z"
    except FileNotFoundError:
        return False


# --- 9: other rules


def test_no_batch_for_hours_is_told_once(capsys, folder, tmp_path):
    path = rules(tmp_path, rule("no batch for", limit=24))
    assert told(learn(capsys, folder, path)[2]) == []
    model = adforest.load(tmp_path / "m.adf")
    aged(model, hours=30)
    model.save(tmp_path / "m.adf")
    (message,) = told(learn(capsys, folder, path)[2])
    assert message.startswith("no batch for 30.0 hours: batch 3 was learnt at ")
    assert told(learn(capsys, folder, path)[2]) == []
    write(month(4), folder / "month-4.csv")
    assert told(learn(capsys, folder, path)[2]) == []


def aged(model, hours):
    """Make the last batch of a model so old."""
    from dataclasses import replace

    track = model._model.track
    *before, last = track.history.reports
    history = replace(track.history, reports=(*before, replace(last, learnt_at=last.learnt_at - 3600 * hours)))
    model._model = replace(model._model, track=replace(track, history=history))


def test_watch_tells_that_nothing_comes(folder, tmp_path):
    path = rules(tmp_path, rule("no batch for", limit=1e-9))
    options = ("--settle", "0", "--interval", "0.05", "--alerts", path)
    process = start("watch", folder, "-t", "rent", "-m", tmp_path / "m.adf", *SMALL, *options)
    try:
        line = next(line for line in process.stderr if "no batch for" in line)
    finally:
        process.kill()
        process.communicate()
    assert "no batch for 0.0 hours: batch" in line


def test_a_rejected_file_is_told(capsys, folder, tmp_path):
    (folder / "garbage.parquet").write_bytes(b"\0\1\2 no table")
    path = rules(tmp_path, rule("files rejected"))
    options = ("--once", "--settle", "0", "--patience", "0", "--interval", "0.05", "--alerts", path)
    *_, err = run(capsys, "watch", folder, "-t", "rent", "-m", tmp_path / "m.adf", *SMALL, *options)
    (message,) = told(err)
    assert message.startswith("the file garbage.parquet cannot be learnt and is set aside: ")


def test_the_verdict_on_health_is_told(capsys, tmp_path):
    folder = write_months(tmp_path / "months", 8, n=300)
    for number in range(9, 12):
        write(month(number, n=300, turned=True), folder / f"month-{number:02}.csv")
    *_, err = learn(capsys, folder, rules(tmp_path, rule("health", level="critical")))
    message = told(err)[0]
    assert message.startswith("after batch 9 the model's health is critical: Accuracy on new batches ")


def test_other_receivers_are_told_of_one_that_fails(capsys, folder, tmp_path):
    with Receiver(204) as receiver:
        text = rule("accuracy below", limit=1.0) + rule("alerts not delivered", limit=1)
        text += webhook(f"http://127.0.0.1:{free_port()}/") + webhook(receiver.address)
        learn(capsys, folder, rules(tmp_path, text))
        path = outbox_path(tmp_path / "m.adf")
        assert Outbox(path).n_waiting() == 1
    messages = [one["message"] for one in receiver.got]
    assert len(messages) == 2
    assert messages[1].startswith("the webhook at 127.0.0.1 has failed 1 time in a row (ConnectionRefusedError: ")
    assert messages[1].endswith("; 1 alert not delivered")


# --- 8: what rules over several batches need is kept with the model


def test_six_commands_tell_what_one_does(capsys, tmp_path):
    folder = write_months(tmp_path / "months", 6)
    for number in (3, 4, 5):
        table = month(number)
        street = [f"Am Ende {number}"] * 30 + table["street"].to_pylist()[30:]
        table = table.set_column(3, "street", [street])
        write(
            table.set_column(1, "size", [[None] * 24 + table["size"].to_pylist()[24:]]), folder / f"month-{number}.csv"
        )
    text = (
        rule("missing above", limit=0.3, batches=3)
        + rule("unseen categories above", limit=0.3, batches=2, repeat=True)
        + rule("accuracy below", limit=1.0, batches=2)
        + rule("new class")
    )
    once, apart = tmp_path / "once", tmp_path / "apart"
    for one in (once, apart):
        one.mkdir()
    expected = told(learn(capsys, folder, rules(once, text))[2])
    path, found = rules(apart, text), []
    for number in range(1, 7):
        found += told(learn(capsys, folder / f"month-{number}.csv", path)[2])
    assert found == expected
    assert [one.partition(" batch ")[2][0] for one in expected] == ["3", "4", "5", "5"]
    assert content(once / "m.adf") == content(apart / "m.adf")
    counts = [origins_of(adforest.load(one / "m.adf")).rule_counts for one in (once, apart)]
    assert counts[0] == counts[1]


def test_a_batch_that_no_rule_looked_at_ends_the_row(capsys, tmp_path):
    folder = tmp_path / "months"
    folder.mkdir()
    for number in range(1, 5):
        table = month(number)
        table = table.set_column(1, "size", [[None] * 24 + table["size"].to_pylist()[24:]])
        write(table, folder / f"month-{number}.csv")
    path = rules(tmp_path, rule("missing above", limit=0.3, batches=2))
    assert told(learn(capsys, folder / "month-1.csv", path)[2]) == []
    run(capsys, "learn", folder / "month-2.csv", "-m", tmp_path / "m.adf")
    assert told(learn(capsys, folder / "month-3.csv", path)[2]) == []
    assert len(told(learn(capsys, folder / "month-4.csv", path)[2])) == 1
