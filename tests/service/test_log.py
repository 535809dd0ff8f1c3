"""The log on a real disk: torn ends are cut off, changed bits are found, a failed sync is never tried again."""

import os

import pytest

from adforest.service.log import Log, LogError, LogFullError, read_entries
from adforest.service.system import RealDisk


def filled(folder, n=5, **more):
    log = Log(RealDisk(), folder, **more)
    for number in range(n):
        log.append(1, bytes([number]) * 50)
        log.sync()
        log.rotate()
    return log


def payloads(folder):
    return [entry.payload[0] for entry in read_entries(RealDisk(), folder)]


def test_every_cut_of_the_end_leaves_the_entries_before_it(tmp_path):
    filled(tmp_path / "log").close()
    (path,) = (tmp_path / "log").iterdir()
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        log = Log(RealDisk(), tmp_path / "log")
        n_whole = max(0, size - 16) // 63
        assert log.position == n_whole
        log.append(1, b"\x09")
        log.sync()
        log.close()
        assert payloads(tmp_path / "log") == [*range(n_whole), 9]
        path.write_bytes(whole)


def test_every_changed_bit_of_what_was_acknowledged_is_found(tmp_path):
    filled(tmp_path / "log").close()
    (path,) = (tmp_path / "log").iterdir()
    whole = path.read_bytes()
    for place in range(0, len(whole), 3):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        with pytest.raises(LogError, match="damaged"):
            Log(RealDisk(), tmp_path / "log", acknowledged=5)


def test_segments_are_begun_and_dropped(tmp_path):
    log = filled(tmp_path / "log", 9, segment_bytes=150)
    assert [last for _, last in log.segments()] == [3, 6, 9, 9]
    assert payloads(tmp_path / "log") == list(range(9))
    assert log.drop(5) == 1
    assert payloads(tmp_path / "log") == [3, 4, 5, 6, 7, 8]
    log.close()
    assert Log(RealDisk(), tmp_path / "log", acknowledged=9).position == 9


def test_a_sync_that_failed_is_not_tried_again(tmp_path, monkeypatch):
    log = filled(tmp_path / "log", 1)
    log.append(1, b"x")

    def fail(_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(LogError, match="Input/output"):
        log.sync()
    monkeypatch.undo()
    log.append(1, b"x")
    with pytest.raises(LogError, match="must be restarted"):
        log.sync()


def test_a_full_disk_takes_nothing_and_the_log_goes_on_later(tmp_path, monkeypatch):
    log = filled(tmp_path / "log", 2)
    real = os.write

    def half(descriptor, content):
        if len(content) < 100:
            raise OSError(28, "No space left on device")
        return real(descriptor, content[: len(content) - 90])

    log.append(1, b"x" * 200)
    monkeypatch.setattr(os, "write", half)
    with pytest.raises(LogFullError, match="No space left"):
        log.sync()
    monkeypatch.undo()
    assert log.position == 2
    log.append(1, b"\x07")
    log.sync()
    log.close()
    assert payloads(tmp_path / "log") == [0, 1, 7]


def test_the_name_of_a_segment_is_on_the_disk_whoever_made_it(tmp_path, monkeypatch):
    filled(tmp_path / "log").close()
    synced = []
    monkeypatch.setattr("adforest.service.system.sync_folder", synced.append)
    Log(RealDisk(), tmp_path / "log").close()
    assert synced == [tmp_path, tmp_path / "log"]


def test_names_that_are_there_are_synced_too(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr("adforest.service.system.sync_folder", synced.append)
    disk = RealDisk()
    disk.make_folder(tmp_path / "a" / "b")
    assert synced == [tmp_path / "a", tmp_path]
    synced.clear()
    disk.make_folder(tmp_path / "a" / "b")
    assert synced == [tmp_path / "a"]
    (tmp_path / "a" / "file").write_bytes(b"x")
    synced.clear()
    for _ in range(2):
        disk.link(tmp_path / "a" / "file", tmp_path / "a" / "b" / "name")
    assert synced == [tmp_path / "a" / "b"] * 2


def test_what_was_not_acknowledged_is_written_again_before_it_is_synced(tmp_path, monkeypatch):
    filled(tmp_path / "log").close()
    done, real = [], os.write
    monkeypatch.setattr(os, "write", lambda file, content: (done.append(bytes(content)), real(file, content))[1])
    (path,) = (tmp_path / "log").iterdir()
    whole = path.read_bytes()
    Log(RealDisk(), tmp_path / "log", acknowledged=3).close()
    assert done == [whole[16 + 3 * 63 :]]
    assert path.read_bytes() == whole


def test_the_head_of_a_segment_is_written_again_where_none_of_its_entries_was_acknowledged(tmp_path, monkeypatch):
    filled(tmp_path / "log", 0).close()
    done, real = [], os.write
    monkeypatch.setattr(os, "write", lambda file, content: (done.append(bytes(content)), real(file, content))[1])
    (path,) = (tmp_path / "log").iterdir()
    Log(RealDisk(), tmp_path / "log").close()
    assert done == [path.read_bytes()]
