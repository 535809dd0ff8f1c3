"""Requests of strangers: whatever comes is answered with an error that says so, and the service goes on."""

import io
import json
import random
import re
import socket
import time
import tracemalloc
from contextlib import suppress
from itertools import product

import pyarrow as pa
import pytest
from pyarrow import parquet

from adforest.monitor.connections import Bounded
from adforest.service.bodies import parse_json, read_body, table_of
from adforest.service.parquet_pages import unpacked_size
from adforest.service.requests import RequestError
from served import SMALL, as_csv, as_records, make, rents, service, until

M = "/v1/models/rents"
ARROW = "application/vnd.apache.arrow.stream"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with service(tmp_path_factory.mktemp("data")) as found:
        make(found)
        yield found


def stream(table, **options):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def parquet_bomb():
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table({"area": pa.nulls(2_000_000, pa.float64())}), sink, compression="zstd")
    return sink.getvalue().to_pybytes()


def giant_shape():
    body = bytearray(stream(pa.table({"area": [1.0, 2.0]})))
    place = body.index((2).to_bytes(8, "little"), 200)
    body[place : place + 8] = (2**50).to_bytes(8, "little")
    return bytes(body)


LONG = "x" * 9_000


def parquet_of_one_text():
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table({"district": pa.array([LONG]).take(pa.array([0] * 100_000))}), sink)
    return sink.getvalue().to_pybytes()


def categories(n):
    return pa.table({"district": pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int8()), pa.array([LONG]))})


def compressed_categories():
    """Return a stream whose records are as they are, and whose categories are compressed."""
    kinds = [stream(categories(1)), stream(categories(1), compression="zstd")]
    plain, packed = [list(pa.ipc.MessageReader.open_stream(pa.BufferReader(one))) for one in kinds]
    sink = pa.BufferOutputStream()
    for message in (plain[0], packed[1], plain[2]):
        message.serialize_to(sink)
    return sink.getvalue().to_pybytes()


def views_of_one_text():
    _, views, *held = pa.array([LONG]).cast(pa.string_view()).buffers()
    views = pa.py_buffer(views.to_pybytes()[:16] * 100_000)
    return stream(pa.table({"district": pa.Array.from_buffers(pa.string_view(), 100_000, [None, views, *held])}))


# What is small and unpacks to 900 MB, or may: nothing of it is unpacked.
BOMBS = {
    "parquet": ("application/vnd.apache.parquet", parquet_of_one_text, 413),
    "categories": (ARROW, lambda: stream(categories(100_000)), 413),
    "compressed categories": (ARROW, compressed_categories, 415),
    "views": (ARROW, views_of_one_text, 413),
}


@pytest.mark.parametrize("name", BOMBS)
def test_text_that_is_there_once_for_many_records_is_not_unpacked(client, name):
    kind, body, status = BOMBS[name]
    answer = client.post(f"{M}/predict", content=body(), headers={"content-type": kind})
    assert answer.status_code == status, answer.text
    assert "expected" in answer.json()["error"]


CATEGORICAL = pa.dictionary(pa.uint32(), pa.string_view())  # of polars


@pytest.mark.parametrize("kind", [pa.string_view(), pa.dictionary(pa.int32(), pa.string()), CATEGORICAL])
def test_views_and_categories_are_read_as_text(client, kind):
    plain = rents(9, 3).drop_columns(["rent"])
    text = plain["district"]
    column = text.combine_chunks().dictionary_encode() if kind == CATEGORICAL else text.cast(kind)
    given = plain.set_column(2, "district", column.cast(CATEGORICAL) if kind == CATEGORICAL else column)
    answers = [
        client.post(f"{M}/predict", content=stream(one), headers={"content-type": ARROW}) for one in (plain, given)
    ]
    assert answers[0].status_code == 200
    assert answers[0].json() == answers[1].json()


HOSTILE = {
    "deep": ("application/json", b'{"records":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "nan": ("application/json", b'{"records":[{"area":NaN}]}'),
    "huge number": ("application/json", b'{"records":[{"area":1' + b"0" * 5000 + b"}]}"),
    "large number": ("application/json", b'{"records":[{"area":1e400}]}'),
    "big integer": ("application/json", b'{"records":[{"area":99999999999999999999999}]}'),
    "no utf-8": ("application/json", b'{"records":[{"area":"\xff\xfe"}]}'),
    "half a character": ("application/json", b'{"records":[{"area":1,"rooms":1,"district":"\\ud800"}]}'),
    "half a name": ("application/json", b'{"records":[{"\\ud800":1}]}'),
    "nested": ("application/json", b'{"records":[{"area":{"a":[1]}}]}'),
    "several kinds": ("application/json", b'{"records":[{"area":1},{"area":"x"}]}'),
    "empty": ("application/json", b""),
    "null": ("application/json", b"null"),
    "no columns": ("application/json", b'{"records":[{}]}'),
    "empty list": ("application/json", b'{"records":[]}'),
    "no id": ("application/json", b'{"records":[{"area":1}],"record_ids":[null]}'),
    "ids of NaN": ("application/json", b'{"records":[{"area":1}],"record_ids":[NaN]}'),
    "id of control": ("application/json", b'{"records":[{"area":1}],"record_ids":["\\u0000"]}'),
    "many columns": ("application/json", json.dumps({"records": [{str(n): 1 for n in range(20_000)}]}).encode()),
    "long text": ("application/json", b'{"records":[{"area":1,"rooms":1,"district":"' + b"x" * 20_000 + b'"}]}'),
    "csv without lines": ("text/csv", b""),
    "csv of zeros": ("text/csv", bytes(10_000)),
    "csv of commas": ("text/csv", b"," * 100_000 + b"\n"),
    "csv that ends in quotes": ("text/csv", b'a,b\n"1,2'),
    "csv with a name twice": ("text/csv", b"a,a\n1,2\n"),
    "no parquet": ("application/vnd.apache.parquet", b"PAR1" + bytes(100) + b"PAR1"),
    "parquet bomb": ("application/vnd.apache.parquet", parquet_bomb),
    "no arrow": (ARROW, b"ARROW1\0\0" + bytes(100)),
    "arrow of zeros": (ARROW, bytes(1000)),
    "compressed arrow": (ARROW, lambda: stream(pa.table({"area": [0.0] * 100_000}), compression="zstd")),
    "nested arrow": (ARROW, lambda: stream(pa.table({"area": [[1, 2]]}))),
    "giant shape": (ARROW, giant_shape),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("path", ["predict", "batches?wait=true"])
def test_hostile_bodies_are_refused(client, name, path):
    kind, body = HOSTILE[name]
    content = body() if callable(body) else body
    answer = client.post(f"{M}/{path}", content=content, headers={"content-type": kind})
    assert 400 <= answer.status_code < 500, answer.text
    assert answer.json()["error"] if "error" in answer.json() else answer.json()["report"]["reason"]


def nulls(n_records, n_columns):
    """Return a small Parquet file of a large table."""
    sink, column = pa.BufferOutputStream(), pa.nulls(n_records, pa.float64())
    parquet.write_table(pa.table({f"x{place}": column for place in range(n_columns)}), sink)
    return sink.getvalue().to_pybytes()


PARQUET = {"content-type": "application/vnd.apache.parquet"}
TENSOR = {"name": "x", "datatype": "FP64"}
TOO_MUCH = {
    "records": ("post", f"{M}/predict", 413, {"content": lambda: nulls(1_000_001, 1), "headers": PARQUET}),
    "values": ("post", f"{M}/predict", 413, {"content": lambda: nulls(500_001, 100), "headers": PARQUET}),
    "columns": ("post", f"{M}/predict", 413, {"json": {"columns": {f"x{n}": [1] for n in range(10_001)}}}),
    "tensor": (
        "post",
        "/v2/models/rents/infer",
        413,
        {"json": {"inputs": [TENSOR | {"shape": [1, 10_001], "data": [0] * 10_001}]}},
    ),
    "name": ("post", f"{M}/predict", 422, {"json": {"columns": {"x" * 201: [1]}}}),
    "id": ("post", f"{M}/predict", 422, {"json": {"records": [{"area": 1}], "record_ids": ["x" * 201]}}),
    "key": (
        "post",
        f"{M}/batches",
        422,
        {"json": {"records": rents(2).to_pylist()}, "headers": {"idempotency-key": "x" * 201}},
    ),
    "label": ("put", f"{M}/records/a/label", 422, {"json": {"label": "x" * 1_001}}),
    "labels": ("post", f"{M}/labels", 422, {"json": {"labels": {str(n): "low" for n in range(100_001)}}}),
    "model name": ("put", f"/v1/models/{'x' * 65}", 422, {"json": {"target": "y"}}),
    "parameter": ("put", "/v1/models/other", 422, {"json": {"parameters": {"n_estimators": 10_001}}}),
    "batch": ("put", M, 422, {"json": {"batch_size": 1_000_001}}),
    "classes": ("put", M, 422, {"json": {"max_classes": 10_001}}),
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_what_is_more_than_a_limit_is_refused(client, name):
    method, path, status, sent = TOO_MUCH[name]
    if callable(sent.get("content")):
        sent = sent | {"content": sent["content"]()}
    answer = client.request(method, path, **sent)
    assert answer.status_code == status
    assert re.search("expected|more than|1 to", answer.json()["error"])


def test_a_column_of_more_categories_than_a_model_knows_is_learnt(client):
    n = 66_000
    made = client.put("/v1/models/names", json={"target": "y", "parameters": SMALL | {"n_estimators": 1}})
    assert made.status_code == 201
    body = {"columns": {"name": [f"n{place}" for place in range(n)], "y": [place % 2 for place in range(n)]}}
    answer = client.post("/v1/models/names/batches?wait=true", json=body)
    assert (answer.status_code, answer.json()["state"]) == (200, "learnt"), answer.text
    assert client.delete("/v1/models/names").status_code == 204


def test_arrow_with_changed_bytes_never_ends_the_service(client):
    whole = stream(rents(20).drop_columns(["rent"]))
    for place in range(0, len(whole), 5):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        answer = client.post(f"{M}/predict", content=bytes(damaged), headers={"content-type": ARROW})
        assert answer.status_code < 500, (place, answer.text)


@pytest.mark.parametrize("number", ["-1", "-" + "9" * 30, "9" * 30])
def test_numbers_of_batches_that_cannot_be(client, number):
    assert client.get(f"{M}/batches/{number}").status_code == 404


def test_bodies_have_a_limit(client):
    port = client.base_url.port
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(
            b"POST /v1/models/rents/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 99999999999\r\n\r\n"
        )
        assert b"413" in connection.recv(1000)
    answer = client.post(f"{M}/predict", content=b"x", headers={"content-encoding": "gzip"})
    assert answer.status_code == 415


@pytest.mark.parametrize("part", ["address", "header", "headers", "trailer", "extension"])
def test_heads_have_a_limit(client, part):
    start = b"POST /v1/models/rents/predict HTTP/1.1\r\nHost: localhost\r\n"
    filler = b"a" * 10_000
    first, more = {
        "address": (b"GET /", filler),
        "header": (start + b"X-Filler: ", filler),
        "headers": (start, b"X-Filler: " + filler + b"\r\n"),
        "trailer": (start + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\nX-Filler: ", filler),
        "extension": (start + b"Transfer-Encoding: chunked\r\n\r\n1;", filler),
    }[part]
    with socket.create_connection(("127.0.0.1", client.base_url.port), 20) as one:
        one.sendall(first)
        sent, answer = 0, b""
        with suppress(ConnectionError):
            while sent < 2_000_000:
                one.sendall(more)
                sent += len(more)
        with suppress(ConnectionError):
            answer = one.recv(1_000)
    assert sent < 2_000_000 or answer.startswith(b"HTTP/1.1 431")
    assert client.get("/healthz").status_code == 200


def test_a_large_head_within_the_limit_is_read_and_a_larger_one_is_told(client):
    for n_bytes, status in ((50_000, 200), (70_000, 431), (1_000, 200)):
        head = {f"x-{place}": "a" * (n_bytes // 10) for place in range(10)}
        assert client.get("/v1/models", headers=head).status_code == status


def test_a_target_that_no_column_can_be_called_is_refused(client):
    for target in ("\\ud800", "a\\nb", "", "a" * 201):
        answer = client.put("/v1/models/target", content=f'{{"target": "{target}"}}'.encode())
        assert answer.status_code == 422
    assert "target" not in client.get("/v1/models").json()["models"]


def test_a_thousand_half_open_connections_do_not_stop_it(client):
    port, held = client.base_url.port, []
    try:
        for _ in range(1000):
            one = socket.create_connection(("127.0.0.1", port), timeout=5)
            one.sendall(b"POST /v1/models/rents/predict HTTP/1.1\r\nHost: loc")
            held.append(one)
        begin = time.monotonic()
        for _ in range(5):
            answer = client.post(f"{M}/predict", json={"records": as_records(rents(1))})
            assert answer.status_code == 200
        assert time.monotonic() - begin < 10
    finally:
        for one in held:
            one.close()


def stalled(port, ending=b""):
    """Ask for more than the buffers of a connection hold, and read nothing."""
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    one.connect(("127.0.0.1", port))
    body = json.dumps({"records": as_records(rents(80_000))}).encode()
    head = b"POST %s/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n"
    one.sendall(head % (M.encode(), len(body), ending) + body)
    return one


@pytest.mark.parametrize("ending", [b"", b"Connection: close\r\n"])
def test_a_client_that_does_not_read_its_answer_is_ended(client, monkeypatch, ending):
    ended, real = [], Bounded.connection_lost

    def connection_lost(self, exc):
        ended.append(self.client)
        real(self, exc)

    monkeypatch.setattr(Bounded, "connection_lost", connection_lost)
    monkeypatch.setattr(Bounded, "send_seconds", 0.3)
    with stalled(client.base_url.port, ending) as one:
        until(lambda: one.getsockname() in ended)


class Looked(Bounded):
    """A connection as the look at what it has sent sees it."""

    cycle = None

    def __init__(self, sizes):
        self.loop = self.transport = self
        self.left, self.is_ended = list(sizes), False

    def get_write_buffer_size(self):
        return self.left.pop(0)

    def call_later(self, seconds, action):
        return action if self.left else None

    def abort(self):
        self.is_ended = True


@pytest.mark.parametrize(
    ("sizes", "is_ended"),
    [
        ([300_000, 200_000, 100_000, 20_000, 0], False),
        ([300_000, 300_000], True),
        ([300_000, 290_000], True),
        ([0], False),
        ([20_000, 0], False),
        ([20_000, 10_000], True),
    ],
)
def test_a_client_may_read_slowly_and_must_read_on(sizes, is_ended):
    one = Looked(sizes)
    action = one._look_at_sending
    while action is not None and not one.is_ended:
        one._sending = None
        action()
        action = one._sending
    assert (one.is_ended, one.left) == (is_ended, [])


def test_too_much_at_once_is_told_when_to_come_again(client, monkeypatch):
    monkeypatch.setattr("adforest.service.served_model.MAX_WAITING", 0)
    answer = client.post(f"{M}/predict", json={"records": as_records(rents(1)), "record_ids": ["x"]})
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    monkeypatch.setattr("adforest.service.api.MAX_TASKS", 0)
    answer = client.post(f"{M}/batches", content=as_csv(rents(5)), headers={"content-type": "text/csv"})
    assert answer.status_code == 429


def test_bodies_of_all_requests_together_have_a_limit(client, monkeypatch):
    monkeypatch.setattr("adforest.service.receiving.MAX_BODY_BYTES", 100_000)
    port, body = client.base_url.port, {"records": as_records(rents(2))}
    with socket.create_connection(("127.0.0.1", port), timeout=10) as one:
        head = b"POST /v1/models/rents/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000\r\n\r\n"
        one.sendall(head + b" " * 99_990)
        until(lambda: client.post(f"{M}/predict", json=body).status_code == 429)
        answer = client.post(f"{M}/predict", json=body)
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    until(lambda: client.post(f"{M}/predict", json=body).status_code == 200)
    batch = {"content": as_csv(rents(3_000)), "headers": {"content-type": "text/csv"}}
    for _ in range(3):  # what is in the log is held no more
        assert client.post(f"{M}/batches?wait=true", **batch).status_code == 200


def sparse(n_records, n_columns):
    """Return records of which the last one has all columns."""
    return (
        b'{"records": ['
        + b"{}, " * (n_records - 1)
        + json.dumps({f"x{n}": 1 for n in range(n_columns)}).encode()
        + b"]}"
    )


def test_a_table_that_is_larger_than_its_body_is_counted(client, monkeypatch):
    monkeypatch.setattr("adforest.service.receiving.MAX_BODY_BYTES", 1_000_000)
    tall = io.BytesIO()
    parquet.write_table(pa.table({f"x{n}": pa.array([1] * 20_000) for n in range(10)}), tall)
    for body, kind in ((sparse(4_000, 50), "application/json"), (tall.getvalue(), "application/vnd.apache.parquet")):
        assert len(body) < 100_000
        for path in ("predict", "batches"):
            answer = client.post(f"{M}/{path}", content=body, headers={"content-type": kind})
            assert (answer.status_code, answer.headers.get("retry-after")) == (429, "1")
    assert client.post(f"{M}/predict", json={"records": as_records(rents(2))}).status_code == 200


def test_sparse_records_take_the_memory_of_one_column_at_a_time():
    found = parse_json(sparse(50_000, 50))
    tracemalloc.start()
    try:
        assert table_of(found).shape == (50_000, 50)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000  # 20 MB as lists
    finally:
        tracemalloc.stop()


def test_json_of_very_many_objects_is_refused_before_it_is_read(client):
    answer = client.post(f"{M}/predict", content=b'{"records": [' + b"{}," * 2_000_000 + b"{}]}")
    assert answer.status_code == 413
    assert "2,000,000 objects" in answer.json()["error"]


@pytest.mark.parametrize("options", [{}, {"data_page_version": "2.0"}, {"use_dictionary": False, "data_page_size": 1}])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip"])
def test_the_size_of_a_parquet_file_is_that_of_its_pages(options, compression):
    sink = io.BytesIO()
    parquet.write_table(rents(3_000), sink, compression=compression, row_group_size=1_000, **options)
    about = parquet.ParquetFile(sink).metadata
    told = sum(about.row_group(place).total_byte_size for place in range(about.num_row_groups))
    assert 0.8 * told < unpacked_size(sink.getvalue()) <= told  # which counts headers, too


def test_the_footer_of_a_parquet_file_is_not_believed(client, monkeypatch):
    monkeypatch.setattr("adforest.service.bodies.MAX_UNPACKED", 1_000_000)
    kind = {"content-type": "application/vnd.apache.parquet"}
    sink = io.BytesIO()
    text = pa.table({"district": [f"{n:06d}" + "x" * 9_000 for n in range(300)]})
    parquet.write_table(text, sink, compression="zstd", use_dictionary=False)
    content = sink.getvalue()
    size = parquet.ParquetFile(sink).metadata.row_group(0).total_byte_size
    told, few = varint(size), bytearray(varint(1))
    few = bytes([few[0] | 128, *[128] * (len(told) - 2), 0])  # as long
    place = len(content) - 8 - int.from_bytes(content[-8:-4], "little")  # of the footer
    lying = content[:place] + content[place:].replace(told, few)
    about = parquet.ParquetFile(io.BytesIO(lying)).metadata
    assert about.row_group(0).total_byte_size < 1_000 < size
    assert client.post(f"{M}/predict", content=lying, headers=kind).status_code == 413
    sink = io.BytesIO()
    encoding = {"use_dictionary": False, "column_encoding": {"district": "DELTA_BYTE_ARRAY"}}
    parquet.write_table(pa.table({"district": ["x" * 9_000] * 300}), sink, **encoding)
    answer = client.post(f"{M}/predict", content=sink.getvalue(), headers=kind)
    assert answer.status_code == 400
    assert "another encoding" in answer.json()["error"]


def varint(number):
    """Return a number as Thrift writes it."""
    number, found = number << 1, b""
    while number > 127:
        number, found = number >> 7, found + bytes([number & 127 | 128])
    return found + bytes([number])


def test_changed_bytes_of_parquet_never_end_the_service():
    sink = io.BytesIO()
    parquet.write_table(rents(50), sink)
    draws, n_read = random.Random(0), 0
    for _ in range(300):
        content = bytearray(sink.getvalue())
        content[draws.randrange(len(content))] = draws.randrange(256)
        with suppress(RequestError):
            n_read += bool(read_body(bytes(content), "application/vnd.apache.parquet", {}))
    assert n_read > 0


@pytest.mark.parametrize("asked", ["json", "arrow", "explain", "v2"])
def test_answers_have_a_limit(client, monkeypatch, asked):
    monkeypatch.setattr(f"adforest.service.predictions.MAX_{'CELLS' if asked == 'arrow' else 'JSON'}", 20)

    def ask(n):
        table = rents(n).drop_columns(["rent"])
        head = {"content-type": ARROW, "accept": ARROW if asked == "arrow" else "*/*"}
        if asked == "v2":
            tensors = [
                {"name": name, "shape": [n], "datatype": "BYTES" if name == "district" else "FP64", "data": values}
                for name, values in table.to_pydict().items()
            ]
            return client.post("/v2/models/rents/infer", json={"inputs": tensors})
        path = f"{M}/predict?explain=true" if asked == "explain" else f"{M}/predict"
        return client.post(path, content=stream(table), headers=head)

    most = 3 if asked == "explain" else 10
    assert ask(most).status_code == 200
    answer = ask(most + 1)
    assert answer.status_code == 413
    assert "at most 20" in answer.json()["error"]


def test_a_full_disk_is_told_and_it_goes_on_when_there_is_room(client, monkeypatch):
    import os

    real, is_full = os.write, True

    def write(descriptor, content):
        if is_full and bytes(content[12:13]) in (b"\x01", b"\x02"):
            raise OSError(28, "No space left on device")
        return real(descriptor, content)

    monkeypatch.setattr(os, "write", write)
    body = {"records": as_records(rents(1)), "record_ids": ["full"]}
    answer = client.post(f"{M}/predict", json=body)
    assert (answer.status_code, answer.headers["retry-after"]) == (507, "1")
    assert "No space left" in answer.json()["error"]
    assert client.post(f"{M}/predict", json={"records": as_records(rents(1))}).status_code == 200
    is_full = False
    assert client.post(f"{M}/predict", json=body).status_code == 200
    assert client.get(f"{M}/records/full").json()["state"] == "pending"


def test_schemathesis_finds_no_error_of_the_server(client):
    schemathesis = pytest.importorskip("schemathesis")
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis.errors import Unsatisfiable

    schema = schemathesis.openapi.from_url(f"{str(client.base_url).rstrip('/')}/openapi.json")
    modes = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
    for found, mode in product(schema.get_all_operations(), modes):
        operation = found.ok()
        if operation.method == "delete" and operation.path == "/v1/models/{model}":
            continue

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=8,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def ask(case):
            for name in ("rents", None):
                if name is not None and "model" in (case.path_parameters or {}):
                    case.path_parameters["model"] = name
                answer = case.call(timeout=60)
                assert answer.status_code < 500, (case, answer.content)

        with suppress(*([Unsatisfiable] if mode is modes[1] else [])):  # calls of which nothing can be wrong
            ask()
    assert client.get("/healthz").status_code == 200
