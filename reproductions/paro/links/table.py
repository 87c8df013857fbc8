"""What a trial says of an all-gather by an algorithm, and the rows that are printed of it."""

from __future__ import annotations

from harness.declare import Column, Line, columns_of, measured, param, value
from reproductions.paro.links.experiment import ABOUT, LAYOUTS, TIMES, Gathers

GATHER_COLUMNS: tuple[Column, ...] = (
    *columns_of(
        Gathers, "num_groups", "ranks_per_group", "nic", "inter_mbit", "intra_mbit",
        "block_bytes",
    ),
    param("algorithm", str, "flat: one ring of all ranks; two-layer: PaRO-CC; gloo: its own."),
    *columns_of(Gathers, "seed"),
    value("gathered_bytes", int, "What every rank has in the end."),
    value("wrong_bytes", int, "Bytes that arrived as others."),
    value("formula_bytes", float, "Out of all groups, by the planner's formula; of gloo's as"
          " if it were one ring."),
    value("booked_bytes", int, "The same, as the engine counts what it sends."),
    measured("counted_bytes", float, "The same, as interfaces count; null without any.",
             nullable=True),
    *TIMES,
    measured("predicted_ms", float, "By formula, from measured bandwidths.", nullable=True),
    measured("between_gbit_per_s", float, "Bandwidth between groups, of one ring."),
    measured("within_gbit_per_s", float, "Bandwidth within, all groups at once."),
    *ABOUT,
)  # fmt: skip
GROUPS = tuple(
    Line(f"{groups} groups of {ranks}", where={"num_groups": groups, "ranks_per_group": ranks})
    for groups, ranks in LAYOUTS
)
"""Rows of what is printed."""
