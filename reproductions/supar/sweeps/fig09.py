"""Figure 9: learning-rate sweeps where wider nets are sparser, at equal hidden weights."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, at_least, bind, claims, monotone, ordering, within
from reproductions.supar.models.claims import OURS
from reproductions.supar.models.optima import optimum_shift
from reproductions.supar.models.schemes import NAMES, SCHEMES
from reproductions.supar.sweeps import quantities as q
from reproductions.supar.sweeps import table
from reproductions.supar.sweeps.experiment import iso_parameter

RIVALS = ("sp", "mup")
NOISE = 0.005
"""Relative loss: the noise of a small run, so no worsening."""

task = Task(
    "supar/fig09",
    reads=(iso_parameter,),
    table=table.of_rates(table.ladder_runs),
    claims=claims(
        "Figure 9 and section 4.2",
        (
            "supar_stays",
            OURS,
            within(partial(q.optima_apart, scheme="supar"), -1, 1, "octaves")
            .naming(*q.PAIRS)
            .measuring("the sparser net's optimum less the denser one's"),
            "Under SμPar the optimal learning rates of no two of the four nets are more than one"
            " factor-2 step apart.",
        ),
        *(
            (
                f"{scheme}_moves",
                OURS,
                at_least(partial(optimum_shift, scheme=scheme), 1, "octaves"),
                f"Under {NAMES[scheme]} the optimal learning rate rises by at least one factor-2"
                " step from the dense to the sparsest net.",
            )
            for scheme in RIVALS
        ),
        (
            "supar_improves",
            OURS,
            monotone(
                partial(q.descending_best, scheme="supar"), "relative loss", slack=NOISE
            ).naming(*q.STEPS),
            "Each at its best learning rate, no wider and sparser net under SμPar is more than"
            " 0.5 % worse than the one before it.",
        ),
        *(
            (
                f"supar_gains_more_than_{scheme}",
                OURS,
                ordering(
                    partial(q.best_gains, schemes=(scheme, "supar")), "relative loss", strict=True
                ).measuring(f"fall under SμPar less that under {NAMES[scheme]}"),
                "From the dense to the widest and sparsest net, each at its best learning rate, the"
                f" loss falls by more under SμPar than under {NAMES[scheme]}: the paper has SμPar"
                " alone improve throughout.",
            )
            for scheme in RIVALS
        ),
    ),
    figure=bind(".models.sweep_figures:sweep_panels", schemes=SCHEMES),
    caption="Train loss (mean of the last tenth of the steps) against the peak base learning rate,"
    " one line per net; wider nets are sparser, hidden weights equal to 0.4 %. Mean over seeds,"
    " bars show its standard error. A ring marks the least mean loss of each line, unless it lies"
    " at the line's end; the vertical line is that of the dense net. Steep ends are cut off. Below,"
    " hollow and dashed: readings of the paper's arXiv v1 Figure 9; its model and tokens differ,"
    " so losses compare in shape, not in level.",
    alt="Three panels of train loss against log2 learning rate, one line per net, for SP, μP and"
    " SμPar, each with its optima marked; under them the same curves as read from the paper.",
)
