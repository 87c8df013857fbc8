"""Every reader of a file meets what is no file, nested without end, or packed without end."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from harness.data.codec import decode
from harness.declare.reference import COLUMNS, load_reference
from harness.errors import DataError, HarnessError
from harness.store.archive import RECORDS, import_records
from harness.store.workspace import Workspace
from tests.harness.conftest import Cli


def tar_of(members: dict[str, bytes]) -> bytes:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return plain.getvalue()


def test_archive_that_unpacks_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.store.archive.MAX_ARCHIVE_BYTES", 2**20)
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(tar_of({RECORDS: bytes(2**20)})))
    with pytest.raises(DataError, match=r"a\.tar\.gz is too large: more than 1 MiB"):
        import_records(Workspace(tmp_path), tmp_path / "a.tar.gz")


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
