"""Every reader of a file meets what is no file, nested without end, or packed without end."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from harness.data.codec import decode
from harness.declare.reference import COLUMNS, load_reference
from harness.errors import DataError, HarnessError
from tests.harness.conftest import Cli


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
