"""Figure 9: learning-rate sweeps where wider nets are sparser, at equal hidden weights."""

from functools import partial

from harness.declare import Task, at_least, bind, claims, monotone, more_than, within
from reproductions.supar.models.claims import CURVES, OTHER_LEVEL, OURS, READINGS
from reproductions.supar.models.optima import optimum_shifts
from reproductions.supar.models.schemes import LABELS, SCHEMES
from reproductions.supar.sweeps import quantities as q
from reproductions.supar.sweeps.experiment import iso_parameter
from reproductions.supar.sweeps.table import swept

RIVALS = ("sp", "mup")
NAMED = tuple(LABELS[scheme] for scheme in RIVALS)
NOISE = 0.005
"""Relative loss: the noise of a small run, so no worsening."""

task = Task(
    "supar/fig09",
    reads=(iso_parameter,),
    table=swept(iso_parameter),
    claims=claims(
        "Figure 9 and section 4.2",
        (
            "supar_stays",
            OURS,
            within(partial(q.optima_apart, scheme="supar"), -1, 1, "octaves")
            .naming(*q.PAIRS)
            .measuring("optimum of the sparser net less that of the denser one"),
            "At equal weights wider and sparser nets keep the optimal learning rate under SμPar.",
        ),
        (
            "sp_and_mup_move",
            OURS,
            at_least(partial(optimum_shifts, schemes=RIVALS), 1, "octaves")
            .naming(*NAMED)
            .measuring("rise from the dense to the sparsest net"),
            "At equal weights wider and sparser nets need a higher learning rate under SP and μP.",
        ),
        (
            "supar_improves",
            OURS,
            monotone(partial(q.descending_best, scheme="supar"), "relative loss", slack=NOISE)
            .naming(*q.STEPS)
            .measuring("fall of the best loss"),
            "Under SμPar each wider and sparser net is at least as good as the one before it.",
        ),
        (
            "supar_gains_most",
            OURS,
            more_than(partial(q.gains_beyond, schemes=RIVALS), 0, "relative loss")
            .naming(*NAMED)
            .measuring("SμPar's gain less the other's"),
            "From the dense to the widest and sparsest net the best loss falls most under SμPar.",
        ),
    ),
    figure=bind(".models.sweep_figures:sweep_panels", schemes=SCHEMES),
    caption="Train loss against the peak base learning rate, one line per net: wider nets are"
    f" sparser, hidden weights equal to 0.4 %. {CURVES} Below, hollow and dashed: {READINGS}"
    f" Figure 9. {OTHER_LEVEL}",
    alt="Three panels of train loss against log2 learning rate, one line per net, for SP, μP and"
    " SμPar, each with its optima marked; under them the same curves as read from the paper.",
)
