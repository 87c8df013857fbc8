"""An all-gather on 16 to 128 GPUs by formula."""

from __future__ import annotations

from harness.declare import Estimate, Experiment, doc
from reproductions.paro.models.grids import grid_of
from reproductions.paro.models.paper_inputs import PaperCluster

GPUS = (16, 32, 64, 128)
ALGORITHMS = {
    "flat": "one ring",
    "sequential": "PaRO-CC, phases in turn",
    "two_step": "PaRO-CC, two steps",
    "row_pipeline": "PaRO-CC, row by row",
}
"""As tables and figures name them."""
LINKS = {"rail": "a link per GPU", "shared": "one link per group"}
"""The same of how GPUs reach other groups."""


class Gather(PaperCluster):
    """The all-gather of section 4.4, on the cluster of section 4.1."""

    total_gb: float = doc(
        "What is gathered, in 1e9 bytes; `weak`: on the fewest GPUs.", default=1.0
    )


gathers = Experiment(
    "paro/ring_times",
    version=1,
    params=Gather,
    grid=grid_of([Gather()]),
    run="trial:gather_rows",
    seed_from=(),
    estimate=lambda gather: Estimate(seconds=0.1),
    address=("total_gb", "inter_gbit_per_s", "intra_gbit_per_s"),
)
