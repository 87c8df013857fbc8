"""Every reader of a file meets what is no file, nested without end, or packed without end."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.canonical import digest
from harness.data.catalogue import Dataset, read_catalogue
from harness.data.codec import decode
from harness.data.hub import read_fetched
from harness.data.load import Source, read
from harness.declare.papers import load_deviations, load_paper
from harness.declare.reference import COLUMNS, load_reference
from harness.errors import DataError, HarnessError
from harness.measure.goals import load_baselines
from harness.run.verify import load_verified
from harness.store.archive import RECORDS, import_records
from harness.store.record import parse_record, read_pack
from harness.store.result import load_result
from harness.store.store import RecordStore, Rejected
from harness.store.trial import Trial, grid_of
from harness.store.workspace import Workspace
from tests.harness.conftest import Cli
from tests.harness.hand_made import make_claim, make_task
from tests.harness.hostile import ODD_FILES, put
from tests.harness.inline_lab import SQUARES, make_record
from tests.harness.toy_paper import ToyPaper

TASK = make_task(make_claim())
STAGED = {"path": "d/words.txt.gz", "bytes": 1, "file_sha256": "0" * 64}
HUB = {"repo": "a/b", "splits": ["train"], "field": "text"}
WORDS = Dataset.model_validate(
    {"name": "words", "kind": "text", "licence": "", "upstream": "", "rule": "",
     "sha256": "0" * 64, "staged": STAGED, "hub": HUB}
)  # fmt: skip
SOURCE = {"variant": "staged", "sha256": "0" * 64, "file_sha256": "0" * 64}


def rejected(root: Path) -> None:
    """Raise what is said of a record, which is set aside instead."""
    found = RecordStore(Workspace(root)).read(Trial(SQUARES, {"x": 1, "seed": 0}, "cpu"))
    assert isinstance(found, Rejected)
    raise DataError(found.reason)


RECORD = RecordStore(Workspace(Path())).path(Trial(SQUARES, {"x": 1, "seed": 0}, "cpu"))
READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "paper": ("paper.toml", load_paper),
    "deviations": ("deviations.toml", load_deviations),
    "reference": ("reference/tab01.csv", load_reference),
    "catalogue": ("mine.toml", lambda root: read_catalogue(root / "mine.toml")),
    "fetch record": ("hub/words.json", lambda root: read_fetched(WORDS, root)),
    "data": ("words", lambda root: read(WORDS, Source(path=root / "words", **SOURCE))),  # type: ignore[arg-type]
    "record": (str(RECORD), rejected),
    "pack": ("p.jsonl.gz", lambda root: list(read_pack(root / "p.jsonl.gz"))),
    "archive": ("a.tar.gz", lambda root: import_records(Workspace(root / "w"), root / "a.tar.gz")),
    "table": (
        "runs/output/smoke/results/demo/tab01.smoke.csv",
        lambda root: load_result(Workspace(root), TASK, "smoke"),
    ),
    "benchmark": ("results/benchmarks/b.json", load_baselines),
    "verified": (
        "results/lab/verified.jsonl",
        lambda root: load_verified(Workspace(root), "lab"),
    ),
}


@pytest.mark.parametrize("kind", ODD_FILES)
@pytest.mark.parametrize(("name", "reader"), READERS.values(), ids=READERS)
def test_what_is_no_file_is_one_sentence_that_names_it(
    tmp_path: Path, name: str, reader: Callable[[Path], object], kind: str
) -> None:
    word = put(tmp_path / name, kind)
    if name.endswith("smoke.csv"):
        # The JSON is read first, so it is the one that stands in the place of a file.
        (tmp_path / name).rename(tmp_path / name.replace(".csv", ".json"))
        (tmp_path / name).write_text("seed,y\n")
    with pytest.raises(HarnessError) as caught:
        reader(tmp_path)
    assert word in str(caught.value) and "\n" not in str(caught.value)
    assert Path(name).stem in str(caught.value)


NESTED = {"a list": "zz = " + "[" * 3000, "digits": "zz = " + "9" * 5000}


@pytest.mark.parametrize("text", NESTED.values(), ids=NESTED)
@pytest.mark.parametrize("place", ["paper", "deviations", "catalogue"])
def test_toml_without_end_is_one_sentence(tmp_path: Path, place: str, text: str) -> None:
    name, reader = READERS[place]
    (tmp_path / name).write_text(text)
    with pytest.raises(HarnessError, match=f"{name} is not valid TOML"):
        reader(tmp_path)


def nested_record() -> str:
    """Return a record whose machine facts are nested 300-fold, with a digest that matches."""
    record = make_record(grid_of(SQUARES, "cpu")[0])
    body: dict[str, Any] = json.loads(record.to_line())["record"]
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"a": deep}
    plain = digest(body)
    body["provenance"]["machine"] = {"deep": deep}
    return json.dumps({"digest": plain, "record": body})


def test_record_nested_without_end_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nested more than 64 deep"):
        parse_record(nested_record(), where="it")
    (tmp_path / "p.jsonl.gz").write_bytes(gzip.compress(nested_record().encode()))
    with pytest.raises(DataError, match="line 1 is nested"):
        list(read_pack(tmp_path / "p.jsonl.gz"))


def bomb() -> bytes:
    """Return some kilobytes that unpack to 272 MiB."""
    return gzip.compress(bytes(2**24)) * 17


def tar_of(members: dict[str, bytes]) -> bytes:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return plain.getvalue()


def test_pack_that_unpacks_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl.gz").write_bytes(bomb())
    with pytest.raises(DataError, match="too large: more than 256 MiB: restore"):
        list(read_pack(tmp_path / "p.jsonl.gz"))


def test_archive_that_unpacks_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.store.archive.MAX_ARCHIVE_BYTES", 2**20)
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(tar_of({RECORDS: bytes(2**20)})))
    with pytest.raises(DataError, match=r"a\.tar\.gz is too large: more than 1 MiB"):
        import_records(Workspace(tmp_path), tmp_path / "a.tar.gz")


def test_member_that_claims_a_terabyte_is_refused(tmp_path: Path) -> None:
    """Written as GNU tar writes a sparse file: its real size stands in a header of its own."""
    info = tarfile.TarInfo("GNUSparseFile.0/" + RECORDS)
    info.pax_headers = {
        "GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": RECORDS,
        "GNU.sparse.realsize": str(2**40),
    }  # fmt: skip
    data = f"1\n0\n{0}\n".encode().ljust(512, b"\0")
    info.size = len(data)
    plain = info.tobuf(tarfile.PAX_FORMAT) + data + bytes(1024)
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(plain))
    with pytest.raises(DataError, match="sparse"):
        import_records(Workspace(tmp_path), tmp_path / "a.tar.gz")


def test_empty_archive_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(b""))
    with pytest.raises(DataError, match=r"a\.tar\.gz") as caught:
        import_records(Workspace(tmp_path), tmp_path / "a.tar.gz")
    assert "\n" not in str(caught.value)


def test_data_that_unpack_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    monkeypatch.setattr("harness.data.codec.MAX_DATA_BYTES", 2**20)
    for kind in ("text", "records"):
        with pytest.raises(DataError, match="more than 1 MiB"):
            decode(kind, gzip.compress(bytes(2**21)))  # type: ignore[arg-type]
    packed = io.BytesIO()
    np.savez_compressed(packed, x=np.zeros(2**20))
    with pytest.raises(DataError, match="more than 1 MiB"):
        decode("arrays", packed.getvalue())


def test_nul_byte_in_a_reference_file_is_refused_by_line(tmp_path: Path) -> None:
    row = "tab01,a,x,1,y,2\0,1,,exact,final,Table 1"
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "tab01.csv").write_text(f"{','.join(COLUMNS)}\n{row}\n")
    with pytest.raises(HarnessError, match=r"tab01\.csv:2: a NUL byte"):
        load_reference(tmp_path)


def test_override_nested_without_end_is_one_sentence(cli: Cli) -> None:
    done = cli("plan", "toylab", "--set", "x=" + "[" * 50_000)
    assert done.code == 2
    assert "Traceback" not in done.err and "no int" in done.err


def test_pipe_in_the_place_of_a_result_is_an_error_of_check(cli: Cli, toy: ToyPaper) -> None:
    assert cli("run", "toylab", "--profile", "cpu", "--executor", "inline").code == 0
    word = put(toy.csv("cpu").with_suffix(".json"), "pipe")
    done = cli("check", "toylab", "--json")
    (row,) = json.loads(done.out)
    assert (done.code, row["verdict"], word in row["reason"]) == (1, "ERROR", True)


def test_named_key_of_a_record_that_does_not_fit() -> None:
    body = json.loads(make_record(grid_of(SQUARES, "cpu")[0]).to_line())["record"]
    body["version"] = "one"
    line = json.dumps({"digest": digest(body), "record": body})
    with pytest.raises(DataError, match="it is foreign: version: Input should be a valid integer"):
        parse_record(line, where="it")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("list", "TOYLAB/TAB01"), "'toylab/tab01'"),
        (("plan", "toylab", "--profile", "SMOKE"), "'smoke'"),
        (("list", "Toylab"), "'toylab'"),
    ],
)
def test_a_name_in_another_case_is_hinted_at(cli: Cli, words: list[str], hint: str) -> None:
    done = cli(*words)
    assert (done.code, f"did you mean {hint}" in done.err) == (2, True)
