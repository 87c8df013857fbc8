"""The pilots on dense nets that centre every sweep's window; a task of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.old import old_task
from harness.declare.table import Column, Table
from reproductions.supar.models.tables import SCHEME, SEED, TRAIN_LOSS, WIDTH
from reproductions.supar.pilot.experiment import experiment

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.declare.table import Tables
    from harness.publish.figures import FigureContext

COLUMNS = Table(
    (
        Column(name="family", type="str", role="param", doc="Whose windows it centres."),
        SCHEME,
        WIDTH,
        Column(name="swept", type="str", role="param", doc="log2_lr or log2_sigma."),
        Column(name="log2_value", type="float", role="param", doc="log2 of what is swept."),
        SEED,
        TRAIN_LOSS,
    )
)


def view(frames: Tables) -> pd.DataFrame:
    """Return one row a run, what was swept in one column."""
    frame = frames[experiment.id]
    of_sigma = frame["family"] == "sigma"
    values = frame["log2_lr"].copy()
    if "log2_sigma" in frame:
        values = values.where(~of_sigma, frame["log2_sigma"])
    swept = of_sigma.map({True: "log2_sigma", False: "log2_lr"})
    return frame.assign(swept=swept, log2_value=values)[COLUMNS.names]


def draw(context: FigureContext) -> Figure:
    """Draw one panel a family."""
    from reproductions.supar.models.sweep_figures import pilot_panels

    return pilot_panels(context)


task = old_task(
    id="supar/pilot",
    title="Dense pilots that centre the windows",
    kind="ablation",
    reads=(experiment,),
    columns=COLUMNS,
    view=view,
    figure=draw,
    caption="Train loss of dense nets against what is swept, at a seed that no sweep uses. A ring"
    " marks the point that centres the sweep's windows; no sparse net was looked at for it.",
    alt="One panel per family of nets: train loss against log2 learning rate or log2 initial"
    " standard deviation, the least loss ringed.",
)
