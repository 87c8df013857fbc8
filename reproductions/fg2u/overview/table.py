"""The table of Figure 1: a row per method, depth, chunk or outer step, by panel."""

from __future__ import annotations

from harness.declare import Frame, Table, Tables, measured, param, seed_column, value
from reproductions.fg2u.condensing.experiment import DEPTHS, NUM_DIRECTIONS
from reproductions.fg2u.condensing.experiment import runs as condensing
from reproductions.fg2u.overview.experiment import capabilities, timings

FIRST, SECOND = "hessian-free", "fg2u"
"""The methods of the two phases that the paper condenses by."""
COMPARED = ("hessian-free", "trgu", "fg2u")
"""Methods of the panel of memory and accuracy."""


def overview_rows(tables: Tables) -> Frame:
    """Return the rows of all panels, one above the other; a profile may lack some."""
    import pandas as pd

    parts = [_capable(tables[capabilities.id])] if capabilities.id in tables else []
    if condensing.id in tables:
        # Rows of one trial share a label.
        rows = tables[condensing.id].reset_index(drop=True)
        parts += [_phases(rows), _depths(rows), _methods(rows)]
    if timings.id in tables:
        parts.append(tables[timings.id].assign(panel="efficiency"))
    found = pd.concat(parts, ignore_index=True).reindex(columns=OVERVIEW.names)
    whole = ["depth", "num_directions", "chunk", "workers", "outer_step"]
    # What no seed is for stands with the first.
    first = 0 if found["seed"].isna().all() else found["seed"].min()
    return found.fillna({**dict.fromkeys(whole, 0), "seed": first})


def _capable(rows: Frame) -> Frame:
    growth = rows["long_peak_bytes"] / rows["peak_bytes"]
    return rows.assign(panel="capability", memory_growth=growth)


def _phases(rows: Frame) -> Frame:
    """Return the outer loss along the two phases, each step with the method that took it."""
    both = rows[(rows["method"] == FIRST) & (rows["second"] == SECOND)]
    later = both["outer_step"] > both["steps"]
    method = both["method"].mask(later, both["second"])
    return both[both["outer_step"] > 0].assign(panel="phases", method=method)


def _depths(rows: Frame) -> Frame:
    """Return RGU and (FG)2U at every depth, at the end of one phase."""
    ends = _ends(rows)
    return ends[ends["method"].isin(("rgu", "fg2u"))].assign(panel="depth")


def _methods(rows: Frame) -> Frame:
    """Return methods at one depth, at the end of one phase of equal steps."""
    ends = _ends(rows)
    ends = ends[ends["steps"] == ends["steps"].max()]
    chosen = ends["method"].isin(COMPARED) & ends["depth"].isin(DEPTHS.values())
    return ends[chosen].assign(panel="methods")


def _ends(rows: Frame) -> Frame:
    """Return the ends of runs of one phase, (FG)2U's with the paper's number of directions."""
    ends = rows[(rows["second"] == "none") & (rows["outer_step"] == rows["steps"])]
    return ends[ends["num_directions"].isin((0, NUM_DIRECTIONS))]


OVERVIEW = Table.of(
    param("panel", str, "capability, phases, depth, methods or efficiency."),
    param("method", str, "How hypergradients are taken."),
    param("depth", int, "Inner steps T."),
    param("num_directions", int, "Random directions per gradient, b; 0 without."),
    param("chunk", int, "Directions at a time; 0 where it is not told."),
    param("workers", int, "Processes that share the directions; 0 where it is not told."),
    param("outer_step", int, "Outer steps so far; 0 for a single gradient."),
    seed_column("One condensation, or one process that is timed."),
    value(
        "memory_growth", float, "Live bytes at 64 inner steps over those at 8.", nullable=True
    ),
    value("num_hvps", int, "Products with the Hessian of the inner loss.", nullable=True),
    value(
        "takes_minibatches", bool, "Whether an estimate is finite where inner steps take two mini-"
        "batches in turn; Neumann and Hessian-free see the last step's alone.",
        nullable=True,
    ),
    value(
        "relative_bias", float, "Distance of the mean estimate from RGU's, over its norm.",
        nullable=True,
    ),
    value("peak_bytes", int, "Live tensors of one gradient, counted.", nullable=True),
    value("test_accuracy", float, "Share of test digits right, fresh nets.", nullable=True),
    value("outer_loss", float, "Mean since the row before.", nullable=True),
    measured("median_s", float, "Time of one gradient.", nullable=True),
    measured("p20_s", float, "A fifth of the gradients took less.", nullable=True),
    measured("p80_s", float, "A fifth of the gradients took more.", nullable=True),
    measured(
        "load_average", float, "Over one minute, before the first sample.", nullable=True
    ),
    make=overview_rows,
)  # fmt: skip
