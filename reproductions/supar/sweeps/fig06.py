"""Figure 6: where the optimal learning rate lies, at every density, for three schemes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.old import flat_claim, old_task
from reproductions.supar.models.claims import (
    PAPER_ONLY,
    dense_is_identical,
    moves,
    stays,
    transfer_is_dearer,
    transfers,
)
from reproductions.supar.models.optima import farthest_optimum
from reproductions.supar.models.tables import SWEEP_COLUMNS, sweep_table
from reproductions.supar.sweeps.lr_sweep import experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

FINDING_2 = "Figure 6 and section 4.1, Finding 2"
VERTICAL_LINES = "Figure 6, the vertical lines"

CLAIMS = (
    dense_is_identical("common learning rate and seed"),
    stays(FINDING_2),
    *moves("sp", FINDING_2),
    *moves("mup", FINDING_2),
    transfers(VERTICAL_LINES),
    transfer_is_dearer("sp", VERTICAL_LINES),
    transfer_is_dearer("mup", VERTICAL_LINES),
    flat_claim(
        id="supar_near_2_to_minus_6",
        statement="Under SμPar the optimum lies near 2^-6, to one factor-2 step, at every density.",
        where="section 4.1",
        form="at_most",
        grade="empirical",
        quantity=partial(farthest_optimum, scheme="supar", log2_lr=-6.0),
        threshold=1.0,
        threshold_from="paper",
        profiles=("paper",),
        out_of_profile=PAPER_ONLY,
        unit="octaves",
    ),
)


def draw(context: FigureContext) -> Figure:
    """Draw one panel a scheme, ours above, readings of the paper's first version below."""
    from reproductions.supar.models.sweep_figures import sweep_panels

    return sweep_panels(context, schemes=("sp", "mup", "supar"))


task = old_task(
    id="supar/fig06",
    title="Optimal learning rate across sparsity: SP, μP, SμPar",
    reads=(experiment,),
    columns=SWEEP_COLUMNS,
    claims=CLAIMS,
    view=sweep_table,
    figure=draw,
    caption="Train loss (mean of the last tenth of the steps) against the peak base learning"
    " rate, one line a density: mean over seeds, bars show its standard error. A ring marks the"
    " least mean loss of each line, unless it lies at the line's end; the vertical line is that of"
    " the dense model. Losses over 22 % above the least are cut off. Diverged runs have no point:"
    " where some seeds diverged the others are shown, without a ring. Below, hollow and dashed:"
    " readings of the paper's arXiv v1 Figure 1, which has no μP panel; its model and tokens"
    " differ, so losses compare in shape, not in level.",
    alt="Three panels of train loss against log2 learning rate, one line per density, for SP, μP"
    " and SμPar, each with its optima marked; under them the same curves as read from the paper"
    " where they are known.",
)
