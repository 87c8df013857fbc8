"""Figure 6: where the optimal learning rate lies, at every density, for three schemes."""

from functools import partial

from harness.declare import Task, bind, claims, within
from reproductions.supar.models.claims import (
    CURVES,
    NEARLY_STATED,
    OTHER_LEVEL,
    READINGS,
    dense_is_identical,
    moves,
    rivals_cost_more,
    stays,
    transfers,
)
from reproductions.supar.models.schemes import SCHEMES
from reproductions.supar.sweeps.experiment import lr_sweep
from reproductions.supar.sweeps.quantities import distances_from
from reproductions.supar.sweeps.table import swept

task = Task(
    "supar/fig06",
    reads=(lr_sweep,),
    table=swept(lr_sweep),
    claims=claims("Table 1 with m_rho = 1", dense_is_identical())
    + claims("Figure 6 and section 4.1, Finding 2", stays(), moves("sp"), moves("mup"))
    + claims("Figure 6, the vertical lines", transfers(), rivals_cost_more())
    + claims(
        "section 4.1",
        (
            "supar_near_stated_rate",
            NEARLY_STATED,
            within(
                partial(distances_from, scheme="supar", log2_lr=-6.0), -1, 1, "octaves"
            ).measuring("distance from 2^-6"),
            "Under SμPar the optimal learning rate is near 2^-6 at every density.",
        ),
    ),
    figure=bind(".models.sweep_figures:sweep_panels", schemes=SCHEMES),
    caption=f"Train loss against the peak base learning rate, one line per density. {CURVES}"
    " Diverged runs have no point; where only some seeds diverged the others are shown, without a"
    f" ring. Below, hollow and dashed: {READINGS} Figure 1, which has no μP panel. {OTHER_LEVEL}",
    alt="Three panels of train loss against log2 learning rate, one line per density, for SP, μP"
    " and SμPar, each with its optima marked; under them the same curves as read from the paper"
    " where they are known.",
)
