"""Table of two halves: a row per point of a line, and per epoch."""

from __future__ import annotations

from harness.declare import Table, columns_of, param, value
from reproductions.asymvalley.halves.experiment import Halves
from reproductions.asymvalley.models.columns import SEED

HALVES = Table.of(
    columns_of(Halves, "regime"),
    param(
        "part",
        str,
        "line (accuracy on the line through both), epoch (what is one number per epoch).",
    ),
    param("epoch", int, "Epochs trained on each half."),
    param("x", float, "l of (1 - l) * A + l * B, in [0, 1]; 0 for an epoch."),
    SEED,
    (
        value(name, float, doc, nullable=True)
        for name, doc in (
            ("accuracy", "Share of right test predictions; empty for an epoch."),
            ("accuracy_a", "The same for net A; empty for a line."),
            ("accuracy_b", "The same for net B; empty for a line."),
            ("accuracy_mid", "The same for the mean of both nets; empty for a line."),
            ("gap", "accuracy_mid - (accuracy_a + accuracy_b) / 2; empty for a line."),
            ("ssr_ia", "Share of coordinates with equal signs in start and A; empty for a line."),
            ("ssr_ib", "The same of start and B; empty for a line."),
            ("ssr_ab", "The same of A and B; empty for a line."),
        )
    ),
)
