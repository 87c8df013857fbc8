"""Figure 9: learning-rate sweeps where wider nets are sparser, at equal hidden weights."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.old import old_task
from reproductions.supar.models.claims import NAMES, ours
from reproductions.supar.models.optima import (
    best_gain,
    descending_best,
    larger_distance,
    optimum_distance,
    optimum_range,
)
from reproductions.supar.models.tables import SWEEP_COLUMNS, run_table
from reproductions.supar.sweeps.iso_parameter import experiment

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.declare.table import Tables
    from harness.publish.figures import FigureContext

WHERE = "Figure 9 and section 4.2"
SCHEMES = ("sp", "mup", "supar")
NOISE = 0.005
"""Relative loss: the noise of a small run, so no worsening."""


def _moves(scheme: str) -> Claim:
    return ours(
        f"{scheme}_moves",
        f"Under {NAMES[scheme]} the optimal learning rate moves by at least one factor-2 step from"
        " the dense to the sparsest net.",
        form="at_least",
        where=WHERE,
        quantity=partial(optimum_distance, scheme=scheme),
        bound=1.0,
    )


CLAIMS = (
    ours(
        "supar_stays",
        "Under SμPar the optimal learning rates of all four nets lie within one factor-2 step.",
        form="at_most",
        where=WHERE,
        quantity=partial(optimum_range, scheme="supar"),
        bound=1.0,
    ),
    ours(
        "sp_or_mup_moves",
        "Under standard parameterization or μP the optimal learning rate moves by at least one"
        " factor-2 step from the dense to the sparsest net.",
        form="at_least",
        where=WHERE,
        quantity=partial(larger_distance, schemes=("sp", "mup")),
        bound=1.0,
    ),
    _moves("sp"),
    _moves("mup"),
    ours(
        "supar_improves",
        "Each at its best learning rate, no wider and sparser net under SμPar is more than 0.5 %"
        " worse than the one before it.",
        form="monotone",
        where=WHERE,
        quantity=partial(descending_best, scheme="supar"),
        bound=NOISE,
        unit="relative loss",
    ),
    ours(
        "supar_sparsest_best",
        "Each at its best learning rate, the widest and sparsest net under SμPar is better than"
        " the dense one.",
        form="at_least",
        where=WHERE,
        quantity=partial(best_gain, scheme="supar"),
        bound=0.0,
        unit="relative loss",
    ),
)


def view(frames: Tables) -> pd.DataFrame:
    """Return the sweep of all schemes, one row a run."""
    return run_table(frames[experiment.id], SWEEP_COLUMNS)


def draw(context: FigureContext) -> Figure:
    """Draw one panel a scheme, ours above, readings of the paper's first version below."""
    from reproductions.supar.models.sweep_figures import sweep_panels

    return sweep_panels(context, schemes=SCHEMES)


task = old_task(
    id="supar/fig09",
    title="Learning-rate sweeps at equal parameter counts",
    reads=(experiment,),
    columns=SWEEP_COLUMNS,
    claims=CLAIMS,
    view=view,
    figure=draw,
    caption="Train loss (mean of the last tenth of the steps) against the peak base learning rate,"
    " one line a net; wider nets are sparser, hidden weights equal to 0.4 %. Mean over seeds, bars"
    " show its standard error. A ring marks the least mean loss of each line, unless it lies at"
    " the line's end; the vertical line is that of the dense net. Steep ends are cut off. Below,"
    " hollow and dashed: readings of the paper's arXiv v1 Figure 9; its model and tokens differ,"
    " so losses compare in shape, not in level.",
    alt="Three panels of train loss against log2 learning rate, one line per net, for SP, μP and"
    " SμPar, each with its optima marked; under them the same curves as read from the paper.",
)
