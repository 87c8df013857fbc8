"""Every reader of a file meets what is no file, nested without end, or packed without end."""

from __future__ import annotations

import gzip
import io

import pytest

from harness.data.codec import decode
from harness.errors import DataError, nearest
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


def test_nearest_names_the_typo_s_target_and_nothing_for_gibberish() -> None:
    known = ["supar/fig06", "supar/fig08", "lisa/tab01"]
    assert nearest("supr/fig06", known).startswith("; did you mean 'supar/fig06'")
    assert nearest("qqqqqqqqqqqqq", known) == nearest("x", []) == ""
