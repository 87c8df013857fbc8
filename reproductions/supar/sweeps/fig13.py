"""Figure 13: neither half of the correction alone keeps the best standard deviation in place."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.old import old_task
from reproductions.supar.coordinates.quantities import STRICTLY
from reproductions.supar.models.claims import NAMES, ours, stays, transfer_is_dearer
from reproductions.supar.models.optima import extra_distance, failure_of_half
from reproductions.supar.models.points import ABLATIONS
from reproductions.supar.models.tables import SIGMA_COLUMNS, run_table, with_dense_ablations
from reproductions.supar.sweeps.sigma_sweep import experiment

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.declare.table import Tables
    from harness.publish.figures import FigureContext

X = "log2_sigma"
WHERE = "Figure 13, appendix C"
SCHEMES = (*ABLATIONS, "supar")


def _moves_more(scheme: str) -> Claim:
    return ours(
        f"{scheme}_moves_more",
        f"Under {NAMES[scheme]} the optimal standard deviation moves at least one factor-2 step"
        " farther than under SμPar. One half of an either-or: a dearer transfer would do.",
        form="at_least",
        where=WHERE,
        quantity=partial(extra_distance, scheme=scheme, x=X),
        bound=1.0,
    )


def _fails(scheme: str) -> Claim:
    return ours(
        f"{scheme}_fails",
        f"{NAMES[scheme]} does not do: its optimal standard deviation moves at"
        " least one factor-2 step farther than SμPar's, or the dense model's best one costs it more"
        " at the lowest density. Either suffices.",
        form="at_least",
        where=WHERE,
        quantity=partial(failure_of_half, scheme=scheme, x=X, octaves=1.0),
        bound=-STRICTLY,
        unit="octaves or relative loss",
    )


CLAIMS = (
    stays(WHERE, x=X),
    *(_fails(scheme) for scheme in ABLATIONS),
    *(_moves_more(scheme) for scheme in ABLATIONS),
    *(transfer_is_dearer(scheme, WHERE, x=X) for scheme in ABLATIONS),
)


def view(frames: Tables) -> pd.DataFrame:
    """Return both ablations and SmuPar; dense, the ablations are muP."""
    table = run_table(with_dense_ablations(frames[experiment.id]), SIGMA_COLUMNS)
    return table[table["scheme"].isin(SCHEMES)]


def draw(context: FigureContext) -> Figure:
    """Draw one panel a scheme."""
    from reproductions.supar.models.sweep_figures import our_sweep_panels

    return our_sweep_panels(context, schemes=SCHEMES, x=X)


task = old_task(
    id="supar/fig13",
    title="Ablation: standard-deviation sweeps with half of the correction",
    reads=(experiment,),
    columns=SIGMA_COLUMNS,
    claims=CLAIMS,
    view=view,
    figure=draw,
    caption="Train loss against the base standard deviation at the start, one line a density: mean"
    " over seeds, bars show its standard error. A ring marks the least mean loss of each line,"
    " unless it lies at the line's end; the vertical line is that of the dense model, which for"
    " both ablations is μP's. Steep ends are cut off. The paper's curves are not published as"
    " numbers.",
    alt="Three panels of train loss against log2 initial standard deviation, one line per density,"
    " for μP with SμPar's initial variance alone, with its learning rate alone, and SμPar.",
)
