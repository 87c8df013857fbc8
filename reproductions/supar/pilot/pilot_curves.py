"""The sweeps of dense nets that centre every window; a pilot of our own."""

from __future__ import annotations

from harness.declare import Frame, Table, Tables, Task, columns_of, param
from reproductions.supar.models.tables import SEED, TRAIN_LOSS, VAL_LOSS
from reproductions.supar.pilot.experiment import PilotRate, pilot_curves


def swept_values(tables: Tables) -> Frame:
    """Return one row per run, what was swept in one column."""
    frame = tables[pilot_curves.id]
    of_sigma = frame["family"] == "sigma"
    values = frame["log2_lr"].copy()
    if "log2_sigma" in frame:
        values = values.where(~of_sigma, frame["log2_sigma"])
    swept = of_sigma.map({True: "log2_sigma", False: "log2_lr"})
    return frame.assign(swept=swept, log2_value=values)


task = Task(
    "supar/pilot_curves",
    reads=(pilot_curves,),
    table=Table.of(
        columns_of(PilotRate, "family", "scheme", "width"),
        param("swept", str, "log2_lr or log2_sigma."),
        param("log2_value", float, "log2 of what is swept."),
        SEED,
        TRAIN_LOSS,
        VAL_LOSS,
        make=swept_values,
    ),
    figure="figures:pilot_panels",
    caption="Train loss of dense nets against what is swept, mean of two seeds that the run has not"
    " (Figure 3: one). A ring marks the point that centres the sweep's windows; no sparse net"
    " was looked at for it.",
    alt="One panel per family of nets: train loss against log2 learning rate or log2 initial"
    " standard deviation, the least loss ringed.",
    own_kind="ablation",
)
