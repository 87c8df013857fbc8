"""Figure 1: the optimal learning rate shifts with sparsity under SP and stays under SmuPar.

Its two panels are Figure 6's, and what they show is claimed there.
"""

from harness.declare import Task, bind
from reproductions.supar.models.claims import CURVES, OTHER_LEVEL, READINGS
from reproductions.supar.sweeps.experiment import lr_sweep
from reproductions.supar.sweeps.table import swept

task = Task(
    "supar/fig01",
    reads=(lr_sweep,),
    table=swept(lr_sweep, ("sp", "supar")),
    figure=bind(".models.sweep_figures:sweep_panels", schemes=("sp", "supar")),
    caption="Train loss against the peak base learning rate, one line per density; the claims on"
    f" it stand at Figure 6. {CURVES} Diverged runs have no point; where only some seeds diverged"
    f" the others are shown, without a ring. Below, hollow and dashed: {READINGS} Figure 1."
    f" {OTHER_LEVEL}",
    alt="Two panels of train loss against log2 learning rate, one line per density, for SP and"
    " SμPar, each with its optima marked; under them the same curves as read from the paper.",
)
