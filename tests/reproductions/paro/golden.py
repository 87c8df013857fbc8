"""Golden trials of PaRO, by study."""

from __future__ import annotations

from tests.reproductions.paro import (
    golden_collectives,
    golden_convergence,
    golden_held,
    golden_links,
    golden_measured_steps,
    golden_peers,
    golden_predictions,
    golden_ring_times,
    golden_strategies,
    golden_traces,
)

GOLDEN = (
    *golden_collectives.GOLDEN,
    *golden_convergence.GOLDEN,
    *golden_held.GOLDEN,
    *golden_links.GOLDEN,
    *golden_measured_steps.GOLDEN,
    *golden_peers.GOLDEN,
    *golden_predictions.GOLDEN,
    *golden_ring_times.GOLDEN,
    *golden_strategies.GOLDEN,
    *golden_traces.GOLDEN,
)
