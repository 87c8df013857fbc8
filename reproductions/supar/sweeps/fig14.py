"""Figure 14: neither half of the correction alone keeps the best learning rate in place."""

from functools import partial

from harness.declare import Task, at_least, bind, claims
from reproductions.supar.models.claims import CURVES, NOT_PUBLISHED, OURS, costs_more
from reproductions.supar.models.optima import optimum_either_way
from reproductions.supar.models.schemes import ABLATIONS, NAMES
from reproductions.supar.sweeps.experiment import lr_ablation
from reproductions.supar.sweeps.table import ABLATED, swept

task = Task(
    "supar/fig14",
    reads=(lr_ablation,),
    table=swept(lr_ablation, ABLATED),
    claims=claims(
        "Figure 14, appendix C",
        *(
            (
                f"{scheme.removeprefix('mup_')}_moves",
                OURS,
                at_least(partial(optimum_either_way, scheme=scheme), 1, "octaves")
                .in_at_least(1)
                .naming("up", "down"),
                f"Under {NAMES[scheme]} the optimal learning rate moves as nets get sparser.",
            )
            for scheme in ABLATIONS
        ),
        (
            "halves_cost_more",
            *costs_more(*ABLATIONS),
            "The dense net's best learning rate costs more under either half of the correction than"
            " under SμPar.",
        ),
    ),
    figure=bind(".models.sweep_figures:sweep_panels", schemes=ABLATED),
    caption="Train loss against the peak base learning rate, one line per density."
    f" {CURVES} Both ablations have μP's dense runs. {NOT_PUBLISHED}",
    alt="Three panels of train loss against log2 learning rate, one line per density, for μP with"
    " SμPar's initial variance alone, with its learning rate alone, and SμPar.",
)
