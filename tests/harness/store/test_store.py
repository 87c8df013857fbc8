"""Records: what is read back is what was written, or it is refused with its reason."""

from __future__ import annotations

import gzip
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from harness.canonical import canonical_json
from harness.errors import DataError
from harness.store.record import Record, _line, lines_of, pack_bytes, parse_record, read_pack
from harness.store.store import RecordStore, Rejected
from harness.store.trial import Trial
from harness.store.workspace import Workspace
from tests.harness.inline_lab import SQUARES, make_record


@pytest.fixture
def store(tmp_path: Path) -> RecordStore:
    return RecordStore(Workspace(tmp_path))


def a_trial(x: int = 1) -> Trial:
    return Trial(SQUARES, {"x": x, "seed": 0}, "cpu")


def write_raw(store: RecordStore, trial: Trial, data: bytes) -> None:
    path = store.path(trial)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def reason(store: RecordStore, trial: Trial) -> str:
    found = store.read(trial)
    assert isinstance(found, Rejected), found
    return found.reason


def with_new_digest(line: str, **changes: Any) -> bytes:
    """Return a record's line with some fields changed and a digest that fits."""
    body = {**json.loads(line)["record"], **changes}
    return _line(canonical_json(body).encode())


def test_a_record_comes_back_as_it_was_written(store: RecordStore) -> None:
    record = make_record(
        a_trial(), rows=[{"square": 0.1, "text": "line\u2028 sep \x85", "n": None}]
    )
    store.write(record)
    assert store.read(a_trial()) == record


def test_a_record_truncated_at_any_byte_is_refused(store: RecordStore) -> None:
    data = (make_record(a_trial()).to_line() + "\n").encode()
    # The last byte is the line end: without it the record is still whole.
    for length in range(len(data) - 1):
        write_raw(store, a_trial(), data[:length])
        assert "torn" in reason(store, a_trial()), f"cut after {length} of {len(data)} bytes"


def test_a_record_with_any_character_changed_is_refused(store: RecordStore) -> None:
    line = make_record(a_trial()).to_line().encode()
    for place, old in enumerate(line):
        changed = line[:place] + (b"1" if old == ord("0") else b"0") + line[place + 1 :]
        with pytest.raises(DataError):
            parse_record(changed, where="it")


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"{}", "foreign"),
        (b"[1, 2]", "foreign"),
        (b'{"digest": "0", "record": 3}', "does not match its digest"),
        (b"\xff\xfe\x00", "cannot be read"),
        (b"[" * 100_000, "foreign"),
        (b"", "torn"),
    ],
)
def test_foreign_content_is_refused_with_its_reason(
    store: RecordStore, data: bytes, word: str
) -> None:
    write_raw(store, a_trial(), data)
    assert word in reason(store, a_trial())


def test_what_cannot_be_used_is_set_aside_and_kept(store: RecordStore) -> None:
    for number, garbage in enumerate((b"torn one", b"torn two"), start=1):
        write_raw(store, a_trial(), garbage)
        store.write(make_record(a_trial()))
        kept = store.path(a_trial()).with_name(f"{store.path(a_trial()).name}.rejected-{number}")
        assert kept.read_bytes() == garbage
    assert store.result(a_trial()) is not None


def test_a_failure_never_takes_the_place_of_a_result(store: RecordStore) -> None:
    result, failure = make_record(a_trial()), make_record(a_trial(), status="failed")
    store.write(failure)
    store.write(result)
    store.write(failure)
    store.write(failure, replace=True)
    assert store.read(a_trial()) == result


def test_a_result_is_replaced_only_on_request(store: RecordStore) -> None:
    old = make_record(a_trial(), rows=[{"square": 1.0}])
    new = make_record(a_trial(), rows=[{"square": 2.0}])
    store.write(old)
    store.write(new)
    assert store.read(a_trial()) == old
    store.write(new, replace=True)
    assert store.read(a_trial()) == new


def test_a_large_pack_is_cut_into_files_and_put_together_again(
    store: RecordStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = packed(store, 12)
    first = store.pack_path(SQUARES.id, "cpu")
    with monkeypatch.context() as patch:
        patch.setattr("harness.store.store.MAX_PACK_BYTES", 500)
        assert packed(store, 12) == records
        assert not first.exists() and len([*first.parent.iterdir()]) > 1
        found = {record.key: record for record in store.packed(SQUARES.id, "cpu")}
        assert found == {record.key: record for record in records}
        store.unpack(SQUARES.id, "cpu")
        assert [store.result(a_trial(x)) for x in range(12)] == records
    assert packed(store, 12) == records
    assert [*first.parent.iterdir()] == [first]


def test_a_pack_that_would_unpack_to_more_than_is_read_is_cut(
    store: RecordStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = sum(map(len, lines_of(packed(store, 40)).values())) // 2
    monkeypatch.setattr("harness.store.store.MAX_BYTES", limit)
    records = packed(store, 40)
    files = [*store.pack_path(SQUARES.id, "cpu").parent.iterdir()]
    assert len(files) == 3
    assert all(len(gzip.decompress(file.read_bytes())) <= limit for file in files)
    assert len([*store.packed(SQUARES.id, "cpu")]) == len(records)


def test_a_pack_has_the_same_bytes_in_any_order_and_loses_nothing(tmp_path: Path) -> None:
    records = [make_record(a_trial(x), rows=[{"t": "a\u2028b\x85c\x1c"}]) for x in range(9)]
    path = tmp_path / "pack.jsonl.gz"
    path.write_bytes(pack_bytes(lines_of(records).values()))
    time.sleep(1.1)  # a header with the time in it would differ now
    assert pack_bytes(lines_of(reversed(records)).values()) == path.read_bytes()
    assert sorted(read_pack(path), key=lambda r: str(r.params)) == records


def packed(store: RecordStore, count: int = 3) -> list[Record]:
    """Write a committed file of some trials and empty the working copy."""
    trials = [a_trial(x) for x in range(count)]
    for trial in trials:
        store.write(make_record(trial))
    store.pack(SQUARES.id, "cpu", trials)
    records = [store.result(trial) for trial in trials]
    for trial in trials:
        store.path(trial).unlink()
    return [record for record in records if record]


def test_a_committed_result_takes_the_place_of_what_is_not_newer(store: RecordStore) -> None:
    """Of one that is torn, that failed, or that another profile made of the same trial."""
    records = packed(store)
    write_raw(store, a_trial(0), b"torn")
    store.write(make_record(a_trial(1), status="failed"))
    store.write(make_record(a_trial(2)).model_copy(update={"profile": "gpu"}))
    store.unpack(SQUARES.id, "cpu")
    assert [store.result(a_trial(x)) for x in range(3)] == records
    assert [p.read_bytes() for p in store.path(a_trial(0)).parent.glob("*.rejected-1")] == [b"torn"]


@pytest.mark.parametrize("key", ["../../../outside", "a" * 63, "A" * 64])
def test_a_pack_cannot_name_a_file_outside_its_folder(store: RecordStore, key: str) -> None:
    path = store.pack_path(SQUARES.id, "cpu")
    path.parent.mkdir(parents=True)
    body = json.loads(make_record(a_trial()).to_line())["record"]
    path.write_bytes(
        gzip.compress(
            with_new_digest(json.dumps({"record": body}), key=key, status="failed") + b"\n"
        )
    )
    with pytest.raises(DataError, match="foreign: key: String should match"):
        store.unpack(SQUARES.id, "cpu")


def test_two_writers_that_find_the_same_torn_record_set_it_aside_once(
    store: RecordStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_raw(store, a_trial(), b"torn")
    both_look = threading.Barrier(2)

    def parse_together(line: bytes, *, where: str) -> Record:
        with suppress(threading.BrokenBarrierError):  # the other one is not let in
            both_look.wait(timeout=0.3)
        return parse_record(line, where=where)

    with monkeypatch.context() as patch, ThreadPoolExecutor(2) as pool:
        patch.setattr("harness.store.store.parse_record", parse_together)
        list(pool.map(store.write, [make_record(a_trial())] * 2))
    assert store.result(a_trial()) is not None
    (kept,) = store.path(a_trial()).parent.glob("*.rejected-*")
    assert kept.read_bytes() == b"torn"
