"""From sizes to bytes, FLOPs and floors."""

from __future__ import annotations

from harness.declare import Row, RunContext
from reproductions.kernels.cases import case_of
from reproductions.kernels.floors.experiment import CARDS, Call
from reproductions.kernels.floors.moved import plain_bytes


def floor_rows(call: Call, ctx: RunContext) -> list[Row]:
    """Return a row per card."""
    case = case_of(call.kernel, call.case)
    work, by_plain = case.work(call.precision), plain_bytes(case, call.precision)
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
            "plain_over_bytes": by_plain and by_plain / work.bytes,
            "flops": work.flops,
            "link_bytes": work.link_bytes,
            "bound_by": bound_by,
            "floor_us": 1e6 * bounds[bound_by],
            "gb_per_s": card.gb_per_s,
            "tflop_per_s": card.tflop_per_s[call.precision],
            "link_gb_per_s": card.link_gb_per_s,
        })  # fmt: skip
    return rows
