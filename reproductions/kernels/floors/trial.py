"""From sizes to bytes, FLOPs and floors."""

from __future__ import annotations

from typing import NamedTuple

from harness.declare import Row, RunContext
from reproductions.kernels.cases import Precision, case_of
from reproductions.kernels.floors.experiment import Call


class Card(NamedTuple):
    """What a data sheet states."""

    name: str
    gb_per_s: float
    tflop_per_s: dict[Precision, float]
    """Dense; float32 without TF32."""
    link_gb_per_s: float
    """Of PCIe, both ways together."""


CARDS = (
    Card("A100 80 GB SXM", 2039.0, {"float32": 19.5, "bfloat16": 312.0}, 64.0),
    Card("H200 SXM", 4800.0, {"float32": 67.0, "bfloat16": 989.0}, 128.0),
)
"""NVIDIA's data sheets of both."""


def floor_rows(call: Call, ctx: RunContext) -> list[Row]:
    """Return a row per card."""
    work = case_of(call.kernel, call.case).work(call.precision)
    rows: list[Row] = []
    for card in CARDS:
        by_bytes = work.bytes / (card.gb_per_s * 1e9)
        by_link = work.link_bytes / (card.link_gb_per_s * 1e9)
        by_flops = work.flops / (card.tflop_per_s[call.precision] * 1e12)
        bounds = {"the host link": by_link, "bytes": by_bytes, "products": by_flops}
        bound_by = max(bounds, key=lambda each: bounds[each])
        rows.append({
            "card": card.name,
            "bytes": work.bytes,
            "flops": work.flops,
            "link_bytes": work.link_bytes,
            "bound_by": bound_by,
            "floor_us": 1e6 * bounds[bound_by],
            "gb_per_s": card.gb_per_s,
            "tflop_per_s": card.tflop_per_s[call.precision],
            "link_gb_per_s": card.link_gb_per_s,
        })  # fmt: skip
    return rows
