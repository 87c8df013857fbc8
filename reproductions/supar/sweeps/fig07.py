"""Figure 7: which initial standard deviation is best, at every density, for three schemes."""

from functools import partial

from harness.declare import Task, at_least, bind, claims
from reproductions.supar.models.claims import (
    CURVES,
    EARLY,
    NOT_PUBLISHED,
    dense_is_identical,
    rivals_cost_more,
    stays,
    transfers,
)
from reproductions.supar.models.schemes import LABELS, SCHEMES
from reproductions.supar.sweeps import quantities as q
from reproductions.supar.sweeps.experiment import sigma_sweep
from reproductions.supar.sweeps.table import STD, swept

X = "log2_sigma"
RIVALS = ("sp", "mup")
SIGNS = tuple(f"{LABELS[scheme]}'s optimum {way}" for scheme in RIVALS for way in ("up", "down"))
STEPS = ("first step in density", "second step in density")
NOISE = 0.005
"""Relative loss: the noise of a small run."""

task = Task(
    "supar/fig07",
    reads=(sigma_sweep,),
    table=swept(sigma_sweep, x=STD),
    claims=claims("Table 1 with m_rho = 1", dense_is_identical(x=X))
    + claims(
        "Figure 7 and section 4.1",
        stays(x=X),
        (
            "sp_or_mup_unstable",
            EARLY,
            at_least(
                partial(q.instabilities, schemes=RIVALS, x=X, octaves=2.0, noise=NOISE),
                1,
                "times what is asked",
            )
            .in_at_least(1)
            .naming(*SIGNS, *(f"{LABELS[scheme]}'s {step}" for scheme in RIVALS for step in STEPS))
            .measuring("2 octaves of the optimum, or 0.5 % of the loss against its trend"),
            "Under SP or μP the optimal initial standard deviation moves, or the best loss is"
            " erratic, as nets get sparser.",
        ),
        transfers(x=X),
        rivals_cost_more(x=X),
    ),
    figure=bind(".models.sweep_figures:sweep_panels", schemes=SCHEMES, x=X),
    caption="Train loss against the base standard deviation at the start, one line per density."
    f" {CURVES} {NOT_PUBLISHED}",
    alt="Three panels of train loss against log2 initial standard deviation, one line per density,"
    " for SP, μP and SμPar, each with its optima marked.",
)
