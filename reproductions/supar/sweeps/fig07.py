"""Figure 7: which initial standard deviation is best, at every density, for three schemes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.old import old_task
from reproductions.supar.models.claims import (
    NAMES,
    dense_is_identical,
    ours,
    stays,
    transfer_is_dearer,
    transfers,
)
from reproductions.supar.models.optima import larger_distance, largest_instability, non_monotonicity
from reproductions.supar.models.tables import SIGMA_COLUMNS, run_table
from reproductions.supar.sweeps.sigma_sweep import experiment

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.declare.table import Tables
    from harness.publish.figures import FigureContext

X = "log2_sigma"
WHERE = "Figure 7 and section 4.1"
SCHEMES = ("sp", "mup", "supar")
NOISE = 0.005
"""Relative loss: the noise of a small run."""


def _jumps(scheme: str) -> Claim:
    return ours(
        f"{scheme}_not_monotone",
        f"Under {NAMES[scheme]} the loss at the best standard deviation is no monotone function of"
        " density: it both rises and falls by more than 0.5 % from one density to the next. One"
        " half of an either-or: an optimum that moves would do.",
        form="at_least",
        where=WHERE,
        quantity=partial(non_monotonicity, scheme=scheme, x=X),
        bound=NOISE,
        unit="relative loss",
    )


CLAIMS = (
    dense_is_identical("common standard deviation and seed", x=X),
    stays(WHERE, x=X),
    ours(
        "sp_or_mup_moves",
        "Under standard parameterization or μP the optimal initial standard deviation moves by at"
        " least two factor-2 steps from dense to the lowest density.",
        form="at_least",
        where=WHERE,
        quantity=partial(larger_distance, schemes=("sp", "mup"), x=X),
        bound=2.0,
    ),
    ours(
        "sp_or_mup_unstable",
        "Under standard parameterization or μP the start does not transfer: the optimal initial"
        " standard deviation moves by at least two factor-2 steps, or the best loss is no monotone"
        " function of density. Either suffices.",
        form="at_least",
        where=WHERE,
        quantity=partial(largest_instability, schemes=("sp", "mup"), x=X, octaves=2.0, noise=NOISE),
        bound=1.0,
        unit="bounds",
    ),
    _jumps("sp"),
    _jumps("mup"),
    transfers(WHERE, x=X),
    transfer_is_dearer("sp", WHERE, x=X),
    transfer_is_dearer("mup", WHERE, x=X),
)


def view(frames: Tables) -> pd.DataFrame:
    """Return the sweep of the three schemes, one row a run."""
    table = run_table(frames[experiment.id], SIGMA_COLUMNS)
    return table[table["scheme"].isin(SCHEMES)]


def draw(context: FigureContext) -> Figure:
    """Draw one panel a scheme."""
    from reproductions.supar.models.sweep_figures import our_sweep_panels

    return our_sweep_panels(context, schemes=SCHEMES, x=X)


task = old_task(
    id="supar/fig07",
    title="Optimal initial standard deviation across sparsity",
    reads=(experiment,),
    columns=SIGMA_COLUMNS,
    claims=CLAIMS,
    view=view,
    figure=draw,
    caption="Train loss (mean of the last tenth of the steps) against the base standard deviation"
    " at the start, one line a density: mean over seeds, bars show its standard error. A ring"
    " marks the least mean loss of each line, unless it lies at the line's end; the vertical line"
    " is that of the dense model. Steep ends are cut off. The paper's curves are not published as"
    " numbers.",
    alt="Three panels of train loss against log2 initial standard deviation, one line per density,"
    " for SP, μP and SμPar, each with its optima marked.",
)
