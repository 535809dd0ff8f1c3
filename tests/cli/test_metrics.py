"""Metrics for Prometheus: the text, the monitor's /metrics, and a file."""

import re

import pytest

import adforest
from adforest.cli.folder import FileLog
from adforest.monitor.metrics import Status, figures_of, metrics_text, read_status, status_path, written_status
from adforest.monitor.model_view import ModelView
from alert_receivers import free_port, rule, rules, webhook
from cli_commands import SMALL, month, run, write_months
from monitor_server import monitoring
from table_files import write

SAMPLE = re.compile(r'(\w+)\{model="((?:[^"\\\n]|\\.)*)"\} (\S+)')


def parsed(text):
    """Return the values by name and model, or fail if the text is not what Prometheus reads."""
    assert text.endswith("\n")
    found, kinds = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert name not in kinds
            kinds[name] = kind
        elif not line.startswith("# HELP "):
            name, model, value = SAMPLE.fullmatch(line).groups()
            assert name in kinds
            assert (kinds[name] == "counter") == name.endswith("_total")
            found[name.removeprefix("adforest_"), model] = float(value)
    return found


@pytest.fixture
def folder(tmp_path):
    folder = write_months(tmp_path / "months", 3)
    (folder / "garbage.parquet").write_bytes(b"no table")
    return folder


def watch(capsys, folder, *options):
    quick = ("--once", "--settle", "0", "--patience", "0", "--interval", "0.05")
    model = folder.parent / "m.adf"
    run(capsys, "watch", folder, "-t", "rent", "--drop", "id", "-m", model, *SMALL, *quick, *options)
    return model


def test_a_file_for_node_exporter(capsys, folder, tmp_path):
    path = tmp_path / "adforest.prom"
    alerts = rules(tmp_path, rule("accuracy below", limit=1.0) + webhook(f"http://127.0.0.1:{free_port()}/"))
    model = watch(capsys, folder, "--metrics-file", path, "--alerts", alerts)
    found = {name: value for (name, _), value in parsed(path.read_text()).items()}
    reports = adforest.load(model).history_
    expected = {
        "readable": 1,
        "batches_total": 3,
        "records_total": 180,
        "classes": 3,
        "accuracy": reports[-1].accuracy["vote"],
        "log_loss": reports[-1].log_loss,
        "last_batch_time_seconds": reports[-1].learnt_at,
        "last_batch_seconds": reports[-1].seconds,
        "drift": 0,
        "health": 0,
        "files_rejected_total": 1,
        "files_waiting": 0,
    }
    assert {name: found[name] for name in expected} == expected
    assert found["learning_seconds_total"] == pytest.approx(sum(report.seconds for report in reports))
    assert {"alerts_waiting", "alert_failures_total", "alerts_delivered_total"} <= set(found)


def test_the_monitor_tells_the_same(capsys, folder, tmp_path):
    model = watch(capsys, folder, "--metrics-file", tmp_path / "adforest.prom")
    (tmp_path / "damaged.adf").write_bytes(b"no model")
    with monitoring(tmp_path) as running:
        answer = running.ask("/metrics")
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        found = parsed(answer.text)
        assert found["readable", "damaged.adf"] == 0
        assert ("batches_total", "damaged.adf") not in found
        of_model = {pair: value for pair, value in found.items() if pair[1] == model.name}
        assert of_model == parsed((tmp_path / "adforest.prom").read_text())
        write(month(9), folder / "month-9.csv")
        watch(capsys, folder)
        assert parsed(running.ask("/metrics").text)["batches_total", model.name] == 4
    with monitoring(tmp_path, token="a-token-of-some-length") as running:
        assert running.ask("/metrics").status == 401
        assert running.ask("/metrics", Authorization="Bearer a-token-of-some-length").status == 200


def test_rejected_files_are_counted_across_restarts(capsys, folder):
    model = watch(capsys, folder)
    assert read_status(model) == Status(files_rejected=1)
    (folder / "more.parquet").write_bytes(b"no table")
    watch(capsys, folder)
    assert read_status(model) == Status(files_rejected=2)
    status_path(model).unlink()
    watch(capsys, folder)
    assert read_status(model) == Status(files_rejected=FileLog(model).n_rejected) == Status(files_rejected=2)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"files_waiting": -1}', b"[" * 9000, b"\xff"])
def test_a_status_that_makes_no_sense_is_none(tmp_path, content):
    status_path(tmp_path / "m.adf").write_bytes(content)
    assert read_status(tmp_path / "m.adf") == Status()


def test_names_are_escaped():
    name = 'a"b\\c\nd'
    model = adforest.AdaptiveDecisionForestClassifier(n_estimators=2, random_state=0)
    model.fit([[0.0], [1.0]] * 9, [0, 1] * 9)
    text = metrics_text({name: (figures_of(ModelView.from_estimator(model)), Status(1, 2, 3, 4, 5))})
    found = parsed(text)
    assert found["alert_failures_total", 'a\\"b\\\\c\\nd'] == 5
    assert ("accuracy", 'a\\"b\\\\c\\nd') not in found  # nothing was answered yet
    assert written_status(Status(1, 2, 3, 4, 5)).count(b"\n") == 1
