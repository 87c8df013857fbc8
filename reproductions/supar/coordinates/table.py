"""Tables of the coordinate check: by layer, and means over the layers of a kind."""

from __future__ import annotations

from harness.declare import Column, Frame, Series, Table, Tables, param, value
from reproductions.supar.coordinates.experiment import coordinate_check
from reproductions.supar.models.schemes import SCHEMES
from reproductions.supar.models.tables import PLACE, SEED

TOO_NARROW = "two densities and narrow layers show the structure, not a scaling law"
BLOCKS = {"attention": "attention", "feed_forward": "feed-forward"}
"""Kinds of blocks, and their names."""
SIZES = ("mean_abs_activation", "delta_y_rms", "grad_x_rms")
MEASURED = (
    *PLACE,
    *SEED,
    param("step", int, "Updates made before the measurement."),
    param("block", str, "attention or feed_forward."),
)


def block_means(tables: Tables) -> Frame:
    """Return the check of the three schemes, one row per step and block: means over layers."""
    frame = tables[coordinate_check.id]
    keys = [column.name for column in MEASURED]
    groups = frame[frame["scheme"].isin(SCHEMES)].groupby(keys, sort=False)
    # A layer without a value leaves its kind without one, where a plain mean would skip it.
    return groups[list(SIZES)].agg(_mean_of_all).reset_index()


def _mean_of_all(sizes: Series) -> float:
    return sizes.mean(skipna=False)


def _sizes(*docs: str) -> tuple[Column, ...]:
    return tuple(
        value(name, float, doc, nullable=True) for name, doc in zip(SIZES, docs, strict=True)
    )


BLOCK_MEANS = Table.of(
    MEASURED,
    _sizes(
        "Mean absolute output of the block before the residual sum, mean over layers.",
        "RMS change of the block's output on one batch by the last update; empty at 0.",
        "RMS gradient of the loss with respect to the block's input.",
    ),
    make=block_means,
)
LAYERS = Table.of(
    MEASURED,
    param("layer", str, "Name of the module in the net."),
    _sizes(
        "Mean absolute output of the module before the residual sum.",
        "RMS change of the module's output on one batch by the last update; empty at 0.",
        "RMS gradient of the summed loss with respect to the module's input.",
    ),
)
