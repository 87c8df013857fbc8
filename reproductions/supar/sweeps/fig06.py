"""Figure 6: where the optimal learning rate lies, at every density, for three schemes."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, bind, claims, within
from reproductions.supar.models.claims import (
    NEARLY_STATED,
    dense_is_identical,
    moves,
    stays,
    transfers,
    transfers_are_dearer,
)
from reproductions.supar.models.schemes import SCHEMES
from reproductions.supar.sweeps import table
from reproductions.supar.sweeps.experiment import lr_sweep
from reproductions.supar.sweeps.quantities import distances_from

task = Task(
    "supar/fig06",
    reads=(lr_sweep,),
    table=table.of_rates(table.all_schemes),
    claims=claims("Table 1 with m_rho = 1", dense_is_identical("common learning rate and seed"))
    + claims("Figure 6 and section 4.1, Finding 2", stays(), *moves("sp", "mup"))
    + claims("Figure 6, the vertical lines", transfers(), *transfers_are_dearer("sp", "mup"))
    + claims(
        "section 4.1",
        (
            "supar_near_2_to_minus_6",
            NEARLY_STATED,
            within(partial(distances_from, scheme="supar", log2_lr=-6.0), -1, 1, "octaves"),
            "Under SμPar the optimum lies near 2^-6, to one factor-2 step, at every density.",
        ),
    ),
    figure=bind(".models.sweep_figures:sweep_panels", schemes=SCHEMES),
    caption="Train loss (mean of the last tenth of the steps) against the peak base learning"
    " rate, one line per density: mean over seeds, bars show its standard error. A ring marks the"
    " least mean loss of each line, unless it lies at the line's end; the vertical line is that of"
    " the dense model. Losses over 22 % above the least are cut off. Diverged runs have no point:"
    " where some seeds diverged the others are shown, without a ring. Below, hollow and dashed:"
    " readings of the paper's arXiv v1 Figure 1, which has no μP panel; its model and tokens"
    " differ, so losses compare in shape, not in level.",
    alt="Three panels of train loss against log2 learning rate, one line per density, for SP, μP"
    " and SμPar, each with its optima marked; under them the same curves as read from the paper"
    " where they are known.",
)
