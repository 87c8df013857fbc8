"""Figure 7: which initial standard deviation is best, at every density, for three schemes."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, at_least, bind, claims
from reproductions.supar.models.claims import (
    OURS,
    dense_is_identical,
    stays,
    transfers,
    transfers_are_dearer,
)
from reproductions.supar.models.schemes import NAMES, SCHEMES
from reproductions.supar.sweeps import quantities as q
from reproductions.supar.sweeps import table
from reproductions.supar.sweeps.experiment import sigma_sweep

X = "log2_sigma"
RIVALS = ("sp", "mup")
MOVES = tuple(f"{NAMES[scheme]}, {way}" for scheme in RIVALS for way in ("up", "down"))
STEPS = ("first step in density", "second step in density")
NOISE = 0.005
"""Relative loss: the noise of a small run."""

task = Task(
    "supar/fig07",
    reads=(sigma_sweep,),
    table=table.of_stds(table.std_schemes),
    claims=claims(
        "Table 1 with m_rho = 1", dense_is_identical("common standard deviation and seed", x=X)
    )
    + claims(
        "Figure 7 and section 4.1",
        stays(x=X),
        (
            "sp_or_mup_unstable",
            OURS,
            at_least(
                partial(q.instabilities, schemes=RIVALS, x=X, octaves=2.0, noise=NOISE),
                1,
                "times what is asked",
            )
            .in_at_least(1)
            .naming(*MOVES, *(f"{NAMES[scheme]}, {step}" for scheme in RIVALS for step in STEPS)),
            "Under standard parameterization or μP the start does not transfer: the optimal initial"
            " standard deviation moves by at least two factor-2 steps, or the best loss is no"
            " monotone function of density. Either suffices. The number is that of the sign that"
            " comes nearest, as a multiple of what is asked: two steps, or 0.5 % of the loss.",
        ),
        transfers(x=X),
        *transfers_are_dearer("sp", "mup", x=X),
    ),
    figure=bind(".models.sweep_figures:our_sweep_panels", schemes=SCHEMES, x=X),
    caption="Train loss (mean of the last tenth of the steps) against the base standard deviation"
    " at the start, one line per density: mean over seeds, bars show its standard error. A ring"
    " marks the least mean loss of each line, unless it lies at the line's end; the vertical line"
    " is that of the dense model. Steep ends are cut off. The paper's curves are not published as"
    " numbers.",
    alt="Three panels of train loss against log2 initial standard deviation, one line per density,"
    " for SP, μP and SμPar, each with its optima marked.",
)
