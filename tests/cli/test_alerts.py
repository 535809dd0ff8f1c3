"""Alerts: rules of a file, and receivers that are really there: a program, a web server, a mail server."""

import json
import re
import socket
import ssl
import sys
from datetime import UTC, datetime, timedelta

import pytest
from aiosmtpd.controller import Controller

import adforest
from adforest.alerts import connections
from alert_receivers import Receiver, free_port, learn, rule, rules, told
from cli_commands import MOMENT, SMALL, content, json_lines, learnt, month, run, write_months
from table_files import write


@pytest.fixture
def folder(tmp_path):
    return write_months(tmp_path / "months", 3)


class Post:
    """Keeps the mails that a server gets."""

    def __init__(self):
        self.mails = []

    async def handle_DATA(self, server, session, envelope):  # noqa: N802
        self.mails.append(envelope)
        return "250 OK"


def test_each_receiver_is_told(capsys, folder, tmp_path):
    write(month(4, new_class=True), folder / "month-4.csv")
    kept, post = tmp_path / "kept.txt", Post()
    program = (
        f"import os, sys; kept = open({str(kept)!r}, 'a'); "
        "kept.write(f'{sys.argv[1]}|{os.environ[\"ADFOREST_MESSAGE\"]}|{sys.stdin.read()}')"
    )
    server = Controller(post, hostname="127.0.0.1", port=free_port())
    server.start()
    try:
        with Receiver(204) as receiver:
            text = rule("new class") + "\n".join(
                [
                    "[[deliver]]",
                    f"command = {json.dumps([sys.executable, '-c', program, '{message}'])}",
                    "[[deliver]]",
                    f'webhook = "{receiver.address}"',
                    'headers = {Authorization = "Bearer abc"}',
                    "[[deliver]]",
                    'mail = ["one@example.org", "two@example.org"]',
                    f'smtp = "127.0.0.1:{server.port}"',
                ]
            )
            code, _, err = learn(capsys, folder, rules(tmp_path, text))
    finally:
        server.stop()
    message = "batch 4 brings the new class free"
    alert = {
        "message": message,
        "rule": "new class",
        "value": "free",
        "batch": 4,
        "files": [str(folder / "month-4.csv")],
        "model": str(tmp_path / "m.adf"),
        "about": ["free"],
    }
    assert code == 0
    assert re.fullmatch(rf"adforest: {MOMENT} alert: {message}\n", err)
    *start, sent = kept.read_text().split("|")
    assert start == [message, message]
    (got,) = receiver.got
    assert json.loads(sent) == got
    assert alert.items() <= got.items()
    assert abs(datetime.fromisoformat(got["time"]) - datetime.now(UTC)) < timedelta(minutes=5)
    assert receiver.headers[0]["Authorization"] == "Bearer abc"
    assert receiver.headers[0]["Idempotency-Key"] == got["id"]
    (mail,) = post.mails
    assert mail.rcpt_tos == ["one@example.org", "two@example.org"]
    content = mail.content.decode()
    assert f"Subject: adforest: {message}" in content
    assert "rule: new class" in content
    assert f"Message-ID: <{got['id']}@adforest>" in content


def test_receivers_that_fail_never_stop_learning(capsys, folder, tmp_path):
    silent = socket.create_server(("127.0.0.1", 0))  # takes connections, and says nothing
    port = silent.getsockname()[1]
    with Receiver(500) as receiver, silent:
        deliveries = [
            'command = "no-such-program-anywhere"',
            f"command = {json.dumps([sys.executable, '-c', 'import sys; sys.exit(3)'])}",
            f"command = {json.dumps([sys.executable, '-c', 'import time; time.sleep(60)'])}\ntimeout = 0.5",
            f'webhook = "http://127.0.0.1:{free_port()}/"',
            f'webhook = "{receiver.address}"',
            f'webhook = "http://127.0.0.1:{port}/"\ntimeout = 0.2',
            f'mail = "a@example.org"\nsmtp = "127.0.0.1:{port}"\ntimeout = 0.2',
            f'mail = "a@example.org"\nsmtp = "127.0.0.1:{free_port()}"',
        ]
        text = rule("missing above", limit=0.0) + "".join(f"[[deliver]]\n{one}\n" for one in deliveries)
        code, out, err = learn(capsys, folder, rules(tmp_path, text))
    assert code == 0
    assert "learnt 3 batches" in out
    assert len(adforest.load(tmp_path / "m.adf").history_) == 3
    failures = [line for line in err.splitlines() if line.endswith("; learning goes on, and the alert is sent again")]
    assert len(failures) == len(deliveries)  # told once, of the first of three batches in a row
    told = "\n".join(failures)
    assert "it ended with code 3" in told
    assert "it did not end within 0.5 s, and was killed" in told
    assert "it answered 500, expected 2xx" in told
    assert "TimeoutError: no answer within 0.2 s" in told
    waiting = [line for line in err.splitlines() if "1 alert for" in line]
    assert len(waiting) == len(deliveries)
    assert all(line.endswith(" not delivered yet: the next command sends them") for line in waiting)


def test_a_late_timer_changes_no_message(monkeypatch):
    """The timeouts of sockets may come before the timer of the whole delivery."""

    class NeverOver:
        def __init__(self, *_):
            self.daemon = False

        start = cancel = lambda self: None

    monkeypatch.setattr(connections, "Timer", NeverOver)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(TimeoutError, match=r"no answer within 0\.1 s"):
            connections.post(f"http://127.0.0.1:{port}/", b"{}", {}, 0.1)
        with (
            pytest.raises(TimeoutError, match=r"no answer within 0\.1 s"),
            connections.opened_mail_server("127.0.0.1", port, None, 0.1),
        ):
            pass


def test_what_each_rule_finds(capsys, folder, tmp_path):
    table = month(4)
    table = table.set_column(3, "street", [["Am Ende"] * 30 + table["street"].to_pylist()[30:]])
    table = table.set_column(1, "size", [[None] * 24 + table["size"].to_pylist()[24:]])
    write(table, folder / "month-4.csv")
    path = rules(
        tmp_path,
        rule("unseen categories above", limit=0.4)
        + rule("missing above", limit=0.3, columns=["size"])
        + rule("missing above", limit=0.3, columns=["street"])
        + rule("accuracy below", limit=1.0, batches=2),
    )
    code, _, err = learn(capsys, folder, path)
    assert code == 0
    reports = adforest.load(tmp_path / "m.adf").history_
    n_missing = table["size"].null_count
    assert told(err) == [
        f"accuracy on batch 3 before learning it is {reports[2].accuracy['vote']:.3f}, below 1",
        "50.0% of values were never seen before in column street of batch 4, above 40.0%",
        f"{n_missing / 60:.1%} of values are missing in column size of batch 4, above 30.0%",
    ]


def test_rules_about_metrics_of_the_answers_before_learning(capsys, folder, tmp_path):
    path = rules(
        tmp_path,
        rule("balanced accuracy below", limit=1.0)
        + rule("roc auc below", limit=1.0)
        + rule("average precision below", limit=0.0)
        + rule("log loss above", limit=0.01)
        + rule("log loss above", limit=40),
    )
    code, _, err = learn(capsys, folder, path)
    assert code == 0
    second = adforest.load(tmp_path / "m.adf").history_[1]
    named = {"balanced accuracy": second.balanced_accuracy, "ROC AUC": second.roc_auc, "log loss": second.log_loss}
    expected = [
        f"{name} on batch 2 before learning it is {value:.3f}, {'above 0.01' if name == 'log loss' else 'below 1'}"
        for name, value in named.items()
        if value is not None and (name == "log loss" or value < 1)
    ]
    assert [one for one in told(err) if "batch 2" in one] == expected
    assert len(expected) >= 2


def test_drift_is_told_once_and_again_only_if_asked_for(capsys, tmp_path):
    folder = write_months(tmp_path / "months", 4, n=300)
    for number in range(5, 11):
        write(month(number, n=300, turned=True), folder / f"month-{number}.csv")
    once = rules(tmp_path, rule("drift temporary") + rule("drift sustained"))
    _, _, err = learn(capsys, folder, once)
    drifts = [report.drift for report in adforest.load(tmp_path / "m.adf").history_]
    assert {"temporary", "sustained"} <= set(drifts)
    starts = [place for place, drift in enumerate(drifts) if drift != "none" and drifts[place - 1] != drift]
    assert told(err) == [f"drift is {drifts[place]} in batch {place + 1}" for place in starts]
    (tmp_path / "m.adf").unlink()
    _, _, err = learn(capsys, folder, rules(tmp_path, rule("drift temporary", repeat=True)))
    assert told(err) == [f"drift is {drift} in batch {n}" for n, drift in enumerate(drifts, 1) if drift == "temporary"]


def test_what_was_told_before_a_restart_is_not_told_again(capsys, folder, tmp_path):
    path = rules(tmp_path, rule("accuracy below", limit=1.0))
    assert len(told(learn(capsys, folder, path)[2])) == 1
    write(month(5), folder / "month-5.csv")
    assert told(learn(capsys, folder, path)[2]) == []


def test_watch_checks_rules_too(capsys, folder, tmp_path):
    path = rules(tmp_path, rule("accuracy below", limit=1.0))
    options = ("--once", "--settle", "0", "--interval", "0.05", "--alerts", path)
    code, _, err = run(capsys, "watch", folder, "-t", "rent", "-m", tmp_path / "w.adf", *SMALL, *options)
    assert code == 0
    assert len(told(err)) == 1


# --- the file


def test_rules_in_words(capsys, tmp_path):
    text = rule("accuracy below", limit=0.8, batches=2, repeat=True) + rule(
        "missing above", limit=0.25, columns=["a", "b"]
    )
    path = rules(tmp_path, text + '[[deliver]]\nmail = "a@b.org"\n')
    code, out, err = run(capsys, "alert", path)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "rule: accuracy below 0.8, 2 batches in a row, told at every batch",
        "rule: missing above 0.25 in a, b",
        "receiver: mail to a@b.org by localhost:25",
    ]
    (as_json,) = json_lines(run(capsys, "alert", path, "--json")[1])
    assert as_json == {
        "rules": [line.removeprefix("rule: ") for line in out.splitlines()[:2]],
        "receivers": ["mail to a@b.org by localhost:25"],
        "failures": [],
    }


def test_a_connection_with_tls_is_cut_at_the_end_of_its_time():
    """Such a socket refuses to be copied by its own method."""
    ours, theirs = socket.socketpair()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    with theirs, context.wrap_socket(ours, server_hostname="a", do_handshake_on_connect=False) as secure:
        deadline = connections.Deadline(0.05)
        deadline.watch(secure)
        theirs.settimeout(60)
        with pytest.raises(TimeoutError, match=r"no answer within 0\.05 s"), deadline.running():
            received = theirs.recv(1)
        assert received == b""


def test_a_trial(capsys, tmp_path):
    with Receiver(200) as receiver:
        path = rules(tmp_path, rule("new class") + f'[[deliver]]\nwebhook = "{receiver.address}"\n')
        assert run(capsys, "alert", path, "--test")[0] == 0
    assert receiver.got[0]["message"] == "this is a test: alerts of adforest arrive here"
    code, _, err = run(capsys, "alert", path, "--test")  # nobody is there any more
    assert code == 1
    assert "Connection refused" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'{path}' has no rule; expected at least one table [[rule]]."),
        ("[[rule]\n", "'{path}' is no TOML ("),
        (rule("accuracy"), "'{path}': [[rule]] 1: when is 'accuracy'; expected 'drift sustained', 'drift temporary',"),
        (rule("accuracy below"), "'{path}': [[rule]] 1: limit is None; expected a fraction between 0 and 1"),
        (rule("accuracy below", limit=80), "'{path}': [[rule]] 1: limit is 80; expected a fraction between 0 and 1"),
        (rule("log loss above", limit=-1), "'{path}': [[rule]] 1: limit is -1; expected a number from 0 on"),
        (rule("new class", limit=0.5), "'{path}': [[rule]] 1: limit is not known here."),
        (rule("new class", batches=0), "'{path}': [[rule]] 1: batches is 0; expected 1 or more."),
        (rule("new class", repeat=1), "'{path}': [[rule]] 1: repeat is 1; expected true or false."),
        (
            rule("missing above", limit=0.5, columns=[1]),
            "'{path}': [[rule]] 1: columns is [1]; expected a list of text.",
        ),
        (rule("new class") + "[[deliver]]\n", "'{path}': [[deliver]] 1: it has none of command, webhook, mail;"),
        (
            rule("new class") + '[[deliver]]\nwebhook = "ftp://x"\n',
            "'{path}': [[deliver]] 1: webhook is no address",
        ),
        (
            rule("new class") + "[[deliver]]\ncommand = []\n",
            "'{path}': [[deliver]] 1: command names no program; expected one",
        ),
        (rule("new class") + '[[deliver]]\nmail = "a"\ntls = "yes"\n', "'{path}': [[deliver]] 1: expected mail ="),
        (rule("new class") + '[[deliver]]\nmail = "a"\nuser = "b"\n', "'{path}': [[deliver]] 1: user needs password_v"),
        (rule("health", level="bad"), "'{path}': [[rule]] 1: level is 'bad'; expected 'warning' or 'critical'."),
        (
            rule("health", level="act"),
            "'{path}': [[rule]] 1: level is 'act'; expected 'warning' or 'critical'; 'act' is called 'critical' now.",
        ),
        (rule("no batch for"), "'{path}': [[rule]] 1: limit is None; expected a number from 0 on"),
        (rule("files rejected", batches=2), "'{path}': [[rule]] 1: batches is not known here."),
        (rule("new class") + "[deliver]\n", "'{path}': deliver is no array of tables; expected [[deliver]]."),
        ("[[rules]]\n" + rule("new class"), "'{path}': rules is not known here."),
    ],
)
def test_files_of_rules_that_are_wrong(capsys, folder, tmp_path, text, message):
    path = rules(tmp_path, text)
    code, out, err = learn(capsys, folder, path)
    assert (code, out) == (1, "")
    assert err.startswith("adforest: " + message.format(path=path))
    assert err.count("\n") == 1
    assert not (tmp_path / "m.adf").exists()


def test_a_file_of_rules_that_is_not_there(capsys, folder, tmp_path):
    code, _, err = learn(capsys, folder, tmp_path / "no.toml")
    assert (code, err) == (1, f"adforest: there is no file of rules '{tmp_path}/no.toml'. Correct --alerts.\n")


def test_learning_is_the_same_with_rules(capsys, folder, tmp_path):
    learn(
        capsys, folder, rules(tmp_path, rule("unseen categories above", limit=0.0) + rule("missing above", limit=0.0))
    )
    assert content(tmp_path / "m.adf") == content(learnt(capsys, folder, model=tmp_path / "other.adf"))
