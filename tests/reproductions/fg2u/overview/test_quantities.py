"""Quantities on time, from tables made by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.declare import InvalidQuantity
from harness.declare.reference import load_reference
from reproductions.fg2u.overview import quantities as q
from tests.checkout import PAPERS

SECONDS = {1: 16.0, 2: 10.0, 4: 7.0, 8: 5.0, 16: 4.0}
BYTES = {1: 100, 2: 150, 4: 250, 8: 450, 16: 850}
TRGU = {"method": "trgu", "chunk": 0, "workers": 1, "median_s": 2.0, "peak_bytes": 260}


def table(**trgu: float) -> pd.DataFrame:
    alone = [
        {"method": "fg2u", "chunk": chunk, "workers": 1, "median_s": s, "peak_bytes": BYTES[chunk]}
        for chunk, s in SECONDS.items()
    ]
    shared = [
        {**row, "workers": 2, "median_s": 0.5 * row["median_s"] + 0.1}  # type: ignore[operator]
        for row in alone[:-1]
    ]
    # Not in the order of chunks.
    return pd.DataFrame([*shared, {**TRGU, **trgu}, *alone[::-1]])


def test_equal_memory_takes_the_largest_chunk_that_fits() -> None:
    assert q.at_memory_of(table()) == (7.0, 2.0)
    assert q.at_memory_of(table(peak_bytes=250)) == (7.0, 2.0)
    assert q.at_memory_of(table(peak_bytes=249)) == (10.0, 2.0)
    with pytest.raises(InvalidQuantity, match="more than trgu"):
        q.at_memory_of(table(peak_bytes=99))


def test_the_paper_s_numbers_are_those_of_its_points() -> None:
    """37.12 to 8.96 s on one GPU; 21.88 s within TRGU's memory, which takes 0.916 s."""
    reference = load_reference(PAPERS / "fg2u", "fig01")
    assert q.papers_chunked_over_single(reference) == pytest.approx(8.96 / 37.12)
    assert q.papers_at_memory_of_trgu(reference) == pytest.approx(21.88 / 0.916)
    # Derived rows of the same file hold the ratios, rounded.
    assert q.papers_least_speed_up(reference) == pytest.approx(1.91, abs=0.005)
