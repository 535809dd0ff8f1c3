"""Files of alert rules, and receivers that are really there."""

import http.server
import json
import socket
import threading

from cli_commands import SMALL, run


class Receiver:
    """A web server that keeps what is posted to it, and answers with a code, or as a function of the alert says."""

    def __init__(self, code=204, headers=None, port=0):
        self.got, self.headers = [], []
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                alert = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                receiver.headers.append(dict(self.headers))
                receiver.got.append(alert)
                self.send_response(code(alert) if callable(code) else code)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/alerts"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def rules(tmp_path, text):
    path = tmp_path / "rules.toml"
    path.write_text(text, encoding="utf-8")
    return path


def rule(when, **more):
    lines = [f"{name} = {json.dumps(value)}" for name, value in {"when": when, **more}.items()]
    return "\n".join(["[[rule]]", *lines, ""])


def webhook(address, **more):
    headers = more.pop("headers", {})
    lines = [f"{name} = {json.dumps(value)}" for name, value in {"webhook": address, **more}.items()]
    lines += ["[deliver.headers]", *(f"{name} = {json.dumps(value)}" for name, value in headers.items())]
    return "\n".join(["[[deliver]]", *lines, ""])


def told(err):
    """Return the alerts that were told on standard error."""
    return [line.partition("alert: ")[2] for line in err.splitlines() if "alert: " in line]


def learn(capsys, source, path, *options):
    """Learn a folder or a file of months into m.adf beside the file of rules."""
    command = ("learn", source, "-t", "rent", "--drop", "id", "-m", path.parent / "m.adf", *SMALL)
    return run(capsys, *command, "--alerts", path, *options)
