"""Figure 1: the optimal learning rate shifts with sparsity under SP and stays under SmuPar."""

from __future__ import annotations

from harness.declare import Task, bind, claims
from reproductions.supar.models.claims import OF_FIGURE_6, stays
from reproductions.supar.sweeps import table
from reproductions.supar.sweeps.experiment import lr_sweep

task = Task(
    "supar/fig01",
    reads=(lr_sweep,),
    table=table.of_rates(table.two_schemes),
    claims=claims("Figure 1, right", stays(beside=OF_FIGURE_6)),
    figure=bind(".models.sweep_figures:sweep_panels", schemes=("sp", "supar")),
    caption="Train loss (mean of the last tenth of the steps) against the peak base learning"
    " rate, one line per density: mean over seeds, bars show its standard error. A ring marks the"
    " least mean loss of each line, unless it lies at the line's end; the vertical line is that of"
    " the dense model. Losses over 22 % above the least are cut off. Diverged runs have no point:"
    " where some seeds diverged the others are shown, without a ring. Below, hollow and"
    " dashed: readings of the paper's arXiv v1 Figure 1; its model and tokens differ, so losses"
    " compare in shape, not in level.",
    alt="Two panels of train loss against log2 learning rate, one line per density, for SP and"
    " SμPar, each with its optima marked; under them the same curves as read from the paper.",
)
