"""Columns that both tasks have."""

from __future__ import annotations

from harness.declare import measured

TIMES = (
    measured(
        "median_ms", float, "Time, from the first rank's start to the last one's end. Null where a"
        " token bucket does not slow it.", nullable=True,
    ),
    measured("p20_ms", float, "A fifth of the samples took less.", nullable=True),
    measured("p80_ms", float, "A fifth of the samples took more.", nullable=True),
)  # fmt: skip
ABOUT = (
    measured(
        "testbed", str, "namespaces: links are interfaces that send at their rate. token bucket:"
        " there can be none; the engine's own messages between groups wait.",
    ),
    measured("others_cores", float, "Cores that others kept busy meanwhile.", nullable=True),
)  # fmt: skip
