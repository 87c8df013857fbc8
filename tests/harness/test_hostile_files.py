"""Every reader of a file meets what is no file, nested without end, or packed without end."""

from __future__ import annotations

import gzip
import io

import pytest

from harness.data.codec import decode
from harness.errors import DataError
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
