"""Alerts: rules of a file, and receivers that are really there: a program, a web server, a mail server."""

import http.server
import json
import socket
import sys
import threading

import pytest
from aiosmtpd.controller import Controller

import adforest
from cli_commands import SMALL, content, json_lines, learnt, month, run, write_months
from table_files import write


@pytest.fixture
def folder(tmp_path):
    return write_months(tmp_path / "months", 3)


class Receiver:
    """A web server that keeps what is posted to it, and answers with a code."""

    def __init__(self, code):
        self.got, self.headers = [], []
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                receiver.headers.append(dict(self.headers))
                receiver.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(code)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/alerts"
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class Post:
    """Keeps the mails that a server gets."""

    def __init__(self):
        self.mails = []

    async def handle_DATA(self, server, session, envelope):  # noqa: N802
        self.mails.append(envelope)
        return "250 OK"


def rules(tmp_path, text):
    path = tmp_path / "rules.toml"
    path.write_text(text, encoding="utf-8")
    return path


def rule(when, **more):
    lines = [f"{name} = {json.dumps(value)}" for name, value in {"when": when, **more}.items()]
    return "\n".join(["[[rule]]", *lines, ""])


def told(err):
    """Return the alerts that were told on standard error."""
    return [line.removeprefix("adforest: alert: ") for line in err.splitlines() if "alert: " in line]


def learn(capsys, folder, path, *options):
    command = ("learn", folder, "-t", "rent", "--drop", "id", "-m", folder.parent / "m.adf", *SMALL)
    return run(capsys, *command, "--alerts", path, *options)


def test_each_receiver_is_told(capsys, folder, tmp_path):
    write(month(4, new_class=True), folder / "month-4.csv")
    kept, post = tmp_path / "kept.txt", Post()
    program = f"import sys; open({str(kept)!r}, 'a').write(sys.argv[1] + '|' + sys.stdin.read())"
    server = Controller(post, hostname="127.0.0.1", port=free_port())
    server.start()
    try:
        with Receiver(204) as receiver:
            text = rule("new class") + "\n".join(
                [
                    "[[deliver]]",
                    f"command = {json.dumps([sys.executable, '-c', program, 'told: {message}'])}",
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
    }
    assert (code, err) == (0, f"adforest: alert: {message}\n")
    start, _, sent = kept.read_text().partition("|")
    assert (start, json.loads(sent)) == (f"told: {message}", alert)
    assert receiver.got == [alert]
    assert receiver.headers[0]["Authorization"] == "Bearer abc"
    (mail,) = post.mails
    assert mail.rcpt_tos == ["one@example.org", "two@example.org"]
    content = mail.content.decode()
    assert f"Subject: adforest: {message}" in content
    assert "rule: new class" in content


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


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
    failures = [line for line in err.splitlines() if "warning" in line]
    assert len(failures) == len(deliveries)  # told once, of the first of three batches in a row
    assert all(line.endswith("; the alert was not delivered there, learning goes on") for line in failures)
    assert "ended with code 3" in failures[1]
    assert "HTTP Error 500" in failures[4]


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
        "when: accuracy below 0.8, 2 batches in a row, told at every batch",
        "when: missing above 0.25 in a, b",
        "tell: mail to a@b.org by localhost:25",
    ]
    (as_json,) = json_lines(run(capsys, "alert", path, "--json")[1])
    assert as_json == {
        "rules": [line.removeprefix("when: ") for line in out.splitlines()[:2]],
        "receivers": ["mail to a@b.org by localhost:25"],
        "failures": [],
    }


def test_a_trial(capsys, tmp_path):
    with Receiver(200) as receiver:
        path = rules(tmp_path, rule("new class") + f'[[deliver]]\nwebhook = "{receiver.address}"\n')
        assert run(capsys, "alert", path, "--test")[0] == 0
    assert receiver.got[0]["message"] == "this is a trial: alerts of adforest arrive here"
    code, _, err = run(capsys, "alert", path, "--test")  # nobody is there any more
    assert code == 1
    assert "Connection refused" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'{path}' has no rule; expected at least one table [[rule]]."),
        ("[[rule]\n", "'{path}' is no TOML ("),
        (rule("accuracy"), "'{path}': [[rule]] 1: when is 'accuracy'; expected 'drift sustained', 'drift temporary',"),
        (rule("accuracy below"), "'{path}': [[rule]] 1: limit is None; expected a share between 0 and 1"),
        (rule("accuracy below", limit=80), "'{path}': [[rule]] 1: limit is 80; expected a share between 0 and 1"),
        (rule("log loss above", limit=-1), "'{path}': [[rule]] 1: limit is -1; expected a number from 0 on"),
        (rule("new class", limit=0.5), "'{path}': [[rule]] 1: limit is not known here."),
        (rule("new class", batches=0), "'{path}': [[rule]] 1: batches is 0; expected 1 or more."),
        (rule("new class", repeat=1), "'{path}': [[rule]] 1: repeat is 1; expected true or false."),
        (
            rule("missing above", limit=0.5, columns=[1]),
            "'{path}': [[rule]] 1: columns is [1]; expected a list of text.",
        ),
        (rule("new class") + "[[deliver]]\n", "'{path}': [[deliver]] 1: it has none of command, webhook, mail;"),
        (rule("new class") + '[[deliver]]\nwebhook = "ftp://x"\n', "'{path}': [[deliver]] 1: webhook is 'ftp://x';"),
        (
            rule("new class") + "[[deliver]]\ncommand = []\n",
            "'{path}': [[deliver]] 1: command is []; expected a program",
        ),
        (rule("new class") + '[[deliver]]\nmail = "a"\ntls = "yes"\n', "'{path}': [[deliver]] 1: expected mail ="),
        (rule("new class") + '[[deliver]]\nmail = "a"\nuser = "b"\n', "'{path}': [[deliver]] 1: user needs password_v"),
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
