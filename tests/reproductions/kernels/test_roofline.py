"""Rooflines of races: where calls lie, by hand, and what is drawn."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from harness.errors import SpecError
from reproductions.kernels.cases import Work, case_of
from reproductions.kernels.speed.figures import flops_of, in_roofline


def row(kernel: str, case: str, name: str = "eager", **changed: Any) -> dict[str, Any]:
    work = case_of(kernel, case).work("float32")
    return {
        "kernel": kernel, "case": case, "precision": "float32", "implementation": name, "seed": 0,
        "bytes": work.bytes, "flops": work.flops, "median_us": 100.0, "p20_us": 90.0,
        "p80_us": 110.0, "copy_us": 50.0, "floor_us": 40.0, "product_gflop_per_s": 80.0, **changed,
    }  # fmt: skip


def test_bytes_products_and_arithmetic_of_a_call_by_hand() -> None:
    """A few cases worked out apart from the code."""
    adamw = case_of("masked_adamw", "268 million")
    # Value and gradient read, value written; both moments read and written; a byte of mask.
    assert adamw.work("float32") == Work(2**28 * (12 + 16 + 1), 0)
    assert adamw.work("bfloat16") == Work(2**28 * (6 + 16 + 1), 0)
    assert flops_of(adamw, "float32") == 15 * 2**28
    assert case_of("rademacher", "50 per class, sum").work("float32").bytes == 4 * 1_536_128
    head = case_of("linear_cross_entropy", "LLaMA-7B").work("bfloat16")
    assert head == Work(4 * 4096 * (4096 + 32_000), 6 * 4096 * 4096 * 32_000)
    assert flops_of(case_of("tangent_step", "a layer"), "float32") == 3000 * (18 + 15 * 2)
    with pytest.raises(SpecError, match="has no case 'none', it has: one image, sum"):
        case_of("rademacher", "none")


def test_rates_are_means_over_seeds_and_bytes_alone_are_left_out() -> None:
    table = pd.DataFrame([
        row("shard_pack", "a unit's step", median_us=100.0),
        row("shard_pack", "a unit's step", seed=1, median_us=50.0, floor_us=60.0),
        row("shard_pack", "a small unit"),
    ])  # fmt: skip
    (found,) = in_roofline(table).to_dict("records")
    entries, moved = 8 * 2**18, 8 * 2**18 * 30
    assert found["case"] == "a unit's step"
    assert found["flop_per_byte"] == pytest.approx(15 / 30)
    assert found["gflop_per_s"] == pytest.approx(15 * entries * (1 / 1e5 + 1 / 5e4) / 2)
    # The faster of a copy and of what the floor says of bytes.
    assert found["gb_per_s"] == pytest.approx(moved * (1 / 4e4 + 1 / 5e4) / 2)
    assert found["product_gflop_per_s"] == 80.0
