"""Figure 14: neither half of the correction alone keeps the best learning rate in place."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.old import old_task
from reproductions.supar.models.claims import NAMES, ours, stays, transfer_is_dearer
from reproductions.supar.models.optima import optimum_distance
from reproductions.supar.models.points import ABLATIONS
from reproductions.supar.models.tables import SWEEP_COLUMNS, run_table, with_dense_ablations
from reproductions.supar.sweeps import lr_ablation, lr_sweep

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.declare.table import Tables
    from harness.publish.figures import FigureContext

WHERE = "Figure 14, appendix C"
SCHEMES = (*ABLATIONS, "supar")


def _moves(scheme: str) -> Claim:
    return ours(
        f"{scheme}_moves",
        f"Under {NAMES[scheme]} the optimal learning rate moves by at least one factor-2 step from"
        " dense to the lowest density.",
        form="at_least",
        where=WHERE,
        quantity=partial(optimum_distance, scheme=scheme),
        bound=1.0,
    )


CLAIMS = (
    stays(WHERE),
    *(_moves(scheme) for scheme in ABLATIONS),
    *(transfer_is_dearer(scheme, WHERE) for scheme in ABLATIONS),
)


def view(frames: Tables) -> pd.DataFrame:
    """Return both ablations and SmuPar; dense, the ablations are muP."""
    import pandas as pd

    static = with_dense_ablations(frames[lr_sweep.experiment.id])
    table = run_table(pd.concat([static, frames[lr_ablation.experiment.id]]), SWEEP_COLUMNS)
    densities = {1.0, *frames[lr_ablation.experiment.id]["density"]}
    return table[table["scheme"].isin(SCHEMES) & table["density"].isin(densities)]


def draw(context: FigureContext) -> Figure:
    """Draw one panel a scheme."""
    from reproductions.supar.models.sweep_figures import our_sweep_panels

    return our_sweep_panels(context, schemes=SCHEMES, x="log2_lr")


task = old_task(
    id="supar/fig14",
    title="Ablation: learning-rate sweeps with half of the correction",
    reads=(lr_ablation.experiment, lr_sweep.experiment),
    columns=SWEEP_COLUMNS,
    claims=CLAIMS,
    view=view,
    figure=draw,
    caption="Train loss against the peak base learning rate, one line a density: mean over seeds,"
    " bars show its standard error. A ring marks the least mean loss of each line, unless it lies"
    " at the line's end; the vertical line is that of the dense model, which for both ablations is"
    " μP's. Steep ends are cut off. The paper's curves are not published as numbers.",
    alt="Three panels of train loss against log2 learning rate, one line per density, for μP with"
    " SμPar's initial variance alone, with its learning rate alone, and SμPar.",
)
