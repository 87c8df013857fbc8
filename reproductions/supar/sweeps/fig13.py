"""Figure 13: neither half of the correction alone keeps the best standard deviation in place."""

from functools import partial

from harness.declare import Task, bind, claims, more_than
from reproductions.supar.models.claims import CURVES, EARLY, NOT_PUBLISHED
from reproductions.supar.models.schemes import ABLATIONS, NAMES
from reproductions.supar.sweeps import quantities as q
from reproductions.supar.sweeps.experiment import sigma_sweep
from reproductions.supar.sweeps.table import ABLATED, STD, swept

X = "log2_sigma"
SIGNS = ("octaves beyond one", "relative loss at the dense optimum")
"""Of a half that fails, each named by the unit of its number."""


task = Task(
    "supar/fig13",
    reads=(sigma_sweep,),
    table=swept(sigma_sweep, ABLATED, x=STD),
    claims=claims(
        "Figure 13, appendix C",
        *(
            (
                f"{scheme.removeprefix('mup_')}_fails",
                EARLY,
                more_than(
                    partial(q.failures_of_half, scheme=scheme, x=X, octaves=1.0),
                    0,
                    # The two signs are in unlike units: the name of the one that decides says its.
                    "",
                )
                .in_at_least(1)
                .naming(*SIGNS)
                .measuring("beyond what is asked"),
                f"Under {NAMES[scheme]} the best standard deviation moves farther, or costs more to"
                " keep, than under SμPar.",
            )
            for scheme in ABLATIONS
        ),
    ),
    figure=bind(".models.sweep_figures:sweep_panels", schemes=ABLATED, x=X),
    caption="Train loss against the base standard deviation at the start, one line per density."
    f" {CURVES} Both ablations have μP's dense runs. {NOT_PUBLISHED}",
    alt="Three panels of train loss against log2 initial standard deviation, one line per density,"
    " for μP with SμPar's initial variance alone, with its learning rate alone, and SμPar.",
)
