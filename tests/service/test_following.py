"""A replica answers from the versions of another service, and keeps nothing."""

import shutil

import httpx
import pytest

from served import as_records, make, rents, service, teach, until

M = "/v1/models/rents"


def ask(client, **more):
    return client.post(f"{M}/predict", json={"records": as_records(rents(5, 3))} | more)


def test_a_replica_follows_and_answers_alone(tmp_path):
    with service(tmp_path / "first") as first:
        make(first)
        address = str(first.base_url).rstrip("/")
        with service(tmp_path / "second", follow=address) as replica:
            until(lambda: ask(replica).status_code == 200)
            assert ask(replica).json() == ask(first).json()
            version = teach(first, seed=1)["number"]
            until(lambda: ask(replica).json()["model_version"] == version)
            assert ask(replica).json() == ask(first).json()
            refused = ask(replica, record_ids=list("abcde"))
            assert refused.status_code == 409
            assert address in refused.json()["error"]
            for other in (replica.post(f"{M}/labels", json={"labels": {"a": "low"}}), replica.get(M)):
                assert other.status_code == 404
                assert "a replica predicts alone, and has no call '/v1/models/rents" in other.json()["error"]
            assert replica.get(f"/v2{M[3:]}/ready").status_code == 200
            expected = ask(first).json()
    with service(tmp_path / "second", follow=address) as replica:  # the other one is gone
        assert ask(replica).json() == expected
        until(lambda: "rents" in replica.get("/readyz").json()["problems"])


def test_a_model_that_comes_damaged_is_not_taken(tmp_path, monkeypatch):
    with service(tmp_path / "first") as first:
        make(first)
        address, real, damaged = str(first.base_url).rstrip("/"), httpx.Client.get, []

        def get(self, url, **more):
            answer = real(self, url, **more)
            if str(url).endswith("/model") and len(damaged) < 2:
                answer._content = answer.content[:-1] + b"x"
                damaged.append(url)
            return answer

        monkeypatch.setattr(httpx.Client, "get", get)
        with service(tmp_path / "second", follow=address) as replica:
            until(lambda: len(damaged) == 2)
            until(lambda: ask(replica).status_code == 200)
            assert ask(replica).json() == ask(first).json()


def test_a_replica_leaves_folders_of_others_alone(tmp_path):
    with service(tmp_path / "mine") as mine:
        make(mine, "mine")
    (tmp_path / "notebook").mkdir()
    shutil.copy(tmp_path / "mine" / "mine.adf", tmp_path / "notebook")
    with service(tmp_path / "first") as first:
        make(first)
        address = str(first.base_url).rstrip("/")
        for name in ("mine", "notebook"):
            with pytest.raises(ValueError, match="not fetched"), service(tmp_path / name, follow=address):
                pass
            assert (tmp_path / name / "mine.adf").exists()
        with pytest.raises(OSError, match="another service"), service(tmp_path / "first", follow=address):
            pass
        with (
            service(tmp_path / "second", follow=address),
            pytest.raises(OSError, match="another service"),
            service(tmp_path / "second", follow=address),
        ):
            pass


def test_a_model_that_cannot_be_fetched_does_not_keep_others_back(tmp_path, monkeypatch):
    with service(tmp_path / "first") as first:
        make(first)
        make(first, "apples")
        (tmp_path / "first" / "apples.adf").unlink()
        with service(tmp_path / "second", follow=str(first.base_url).rstrip("/")) as replica:
            until(lambda: ask(replica).status_code == 200)
            assert list(replica.get("/readyz").json()["problems"]) == ["apples"]


def test_a_name_that_cannot_be_followed_is_told_and_others_are_followed(tmp_path, monkeypatch):
    with service(tmp_path / "first") as first:
        make(first)
        real = httpx.Client.get

        def get(self, url, **more):
            answer = real(self, url, **more)
            if str(url) == "/v1/models":
                answer._content = b'{"models": ["../odd", 7, "rents"]}'
            return answer

        with service(tmp_path / "second", follow=str(first.base_url).rstrip("/")) as replica:
            monkeypatch.setattr(httpx.Client, "get", get)
            until(lambda: ask(replica).status_code == 200)
            assert "expected 1 to 64 letters" in until(lambda: replica.get("/readyz").json()["problems"].get("../odd"))


def test_a_replica_that_never_reached_the_service_tells_it(tmp_path):
    with service(tmp_path, follow="http://127.0.0.1:9") as replica:
        problems = until(lambda: replica.get("/readyz").json()["problems"])
        assert "cannot be followed" in problems["http://127.0.0.1:9"]


@pytest.fixture(autouse=True)
def _clean(tmp_path):
    yield
    shutil.rmtree(tmp_path)


def test_an_address_that_cannot_be_followed_is_refused_at_the_start(tmp_path):
    with pytest.raises(ValueError, match="begins with 'ftp'"), service(tmp_path, follow="ftp://user:secret@models"):
        pass
