"""Figure 14: neither half of the correction alone keeps the best learning rate in place."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, at_least, bind, claims
from reproductions.supar.models.claims import (
    OF_FIGURE_6,
    OURS,
    stays,
    transfers_are_dearer,
)
from reproductions.supar.models.optima import optimum_either_way
from reproductions.supar.models.schemes import ABLATIONS, NAMES
from reproductions.supar.sweeps import table
from reproductions.supar.sweeps.experiment import lr_ablation, lr_sweep

task = Task(
    "supar/fig14",
    reads=(lr_ablation, lr_sweep),
    table=table.of_rates(table.rate_ablations),
    claims=claims(
        "Figure 14, appendix C",
        stays(beside=OF_FIGURE_6),
        *(
            (
                f"{scheme}_moves",
                OURS,
                at_least(partial(optimum_either_way, scheme=scheme), 1, "octaves")
                .in_at_least(1)
                .naming("up", "down"),
                f"Under {NAMES[scheme]} the optimal learning rate moves by at least one factor-2"
                " step, up or down, from dense to the lowest density.",
            )
            for scheme in ABLATIONS
        ),
        *transfers_are_dearer(*ABLATIONS),
    ),
    figure=bind(".models.sweep_figures:our_sweep_panels", schemes=table.ABLATED, x="log2_lr"),
    caption="Train loss against the peak base learning rate, one line per density: mean over seeds,"
    " bars show its standard error. A ring marks the least mean loss of each line, unless it lies"
    " at the line's end; the vertical line is that of the dense model, which for both ablations is"
    " μP's. Steep ends are cut off. The paper's curves are not published as numbers.",
    alt="Three panels of train loss against log2 learning rate, one line per density, for μP with"
    " SμPar's initial variance alone, with its learning rate alone, and SμPar.",
)
