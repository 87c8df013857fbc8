"""Ways that are timed in turn: what surrounds them, what they chose, and their rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pandas as pd
import pytest
import torch

from harness.choices import chose
from harness.declare.statistics import MissingRows
from harness.declare.table import Table
from harness.measure.in_turn import COLUMNS, Way, disagreeing, rows_in_turn
from harness.measure.timing import Work
from harness.store.table_csv import validate

NUM_WARMUP, NUM_TIMED = 2, 3


def test_ways_take_turns_within_what_surrounds_them_and_say_what_they_chose() -> None:
    log: list[str] = []
    inside: list[str] = []

    @contextmanager
    def within() -> Iterator[None]:
        inside.append("here")
        try:
            yield
        finally:
            inside.pop()

    def make(name: str) -> Work:
        log.append(f"made {name}{len(inside)}")
        if inside:
            chose("a kernel", "triton")

        def step() -> None:
            log.append(f"{name}{len(inside)}")
            if inside:
                chose("another", "plain")

        return step

    ways = [
        Way(told={"kernels": True}, make=lambda: make("a"), within=within),
        Way(told={"kernels": False}, make=lambda: make("b")),
    ]
    first, second = rows_in_turn(ways, device="cpu", num_warmup=NUM_WARMUP, num_timed=NUM_TIMED)
    rounds = ["a1", "b0"] * (NUM_WARMUP + NUM_TIMED)
    assert log == ["made a1", "a1", "made b0", "b0", *rounds, "a1", "b0"]
    assert (first["kernels"], second["kernels"]) == (True, False)
    assert first["ran"] == "a kernel: triton; another: plain"
    assert second["ran"] == "plain torch"
    assert first["num_samples"] == second["num_samples"] == NUM_TIMED


def test_rows_hold_the_columns_and_the_peak_is_that_of_a_step() -> None:
    held = torch.zeros(1000)

    def allocate(count: int) -> Work:
        kept = held.clone()
        return lambda: kept.new_ones(count).sum()

    ways = [Way(told={}, make=lambda n=n: allocate(n)) for n in (100, 5000)]
    rows = rows_in_turn(ways, device="cpu", num_warmup=0, num_timed=2)
    assert [row["peak_bytes"] for row in rows] == [4 * 100 + 4, 4 * 5000 + 4]
    table = pd.DataFrame([row | {"agrees": None, "apart": None} for row in rows])
    assert set(table) == {column.name for column in COLUMNS}
    assert len(validate(table[[c.name for c in COLUMNS]], Table(COLUMNS), where="here")) == 2
    assert (table["p20_ms"] <= table["median_ms"]).all()
    assert (table["median_ms"] <= table["p80_ms"]).all()


def test_rows_that_disagree_are_counted_where_it_was_asked() -> None:
    table = pd.DataFrame({"agrees": [True, None, False, None]})
    assert disagreeing(table) == 1
    assert disagreeing(table[:2]) == 0
    with pytest.raises(MissingRows, match="no steps by kernels"):
        disagreeing(table[1:2])
