"""Figure 1: the optimal learning rate shifts with sparsity under SP and stays under SmuPar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.old import old_task
from reproductions.supar.models.claims import moves, stays
from reproductions.supar.models.tables import SWEEP_COLUMNS, two_scheme_table
from reproductions.supar.sweeps.lr_sweep import experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

CLAIMS = (
    stays("Figure 1, right"),
    *moves("sp", "Figure 1, left"),
)


def draw(context: FigureContext) -> Figure:
    """Draw one panel a scheme, ours above, readings of the paper's first version below."""
    from reproductions.supar.models.sweep_figures import sweep_panels

    return sweep_panels(context, schemes=("sp", "supar"))


task = old_task(
    id="supar/fig01",
    title="Learning-rate transfer across sparsity: SP and SμPar",
    reads=(experiment,),
    columns=SWEEP_COLUMNS,
    claims=CLAIMS,
    view=two_scheme_table,
    figure=draw,
    caption="Train loss (mean of the last tenth of the steps) against the peak base learning"
    " rate, one line a density: mean over seeds, bars show its standard error. A ring marks the"
    " least mean loss of each line, unless it lies at the line's end; the vertical line is that of"
    " the dense model. Losses over 22 % above the least are cut off. Diverged runs have no point:"
    " where some seeds diverged the others are shown, without a ring. Below, hollow and"
    " dashed: readings of the paper's arXiv v1 Figure 1; its model and tokens differ, so losses"
    " compare in shape, not in level.",
    alt="Two panels of train loss against log2 learning rate, one line per density, for SP and"
    " SμPar, each with its optima marked; under them the same curves as read from the paper.",
)
