"""Figure 12: where the best learning rate goes under dynamic sparsity, scheme by scheme."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim, Form
from harness.declare.old import old_task
from harness.declare.table import Column, Table
from reproductions.supar.dynamic import experiment as dynamic_sweep
from reproductions.supar.dynamic.experiment import METHODS
from reproductions.supar.models.claims import NAMES, ours
from reproductions.supar.models.optima import optimum_shift, within_rows
from reproductions.supar.models.tables import SWEEP_COLUMNS, run_table
from reproductions.supar.sweeps import lr_sweep

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.declare.table import Tables
    from harness.publish.figures import FigureContext

WHERE = "Figure 12 and section 4.4"
SCHEMES = ("sp", "mup", "supar")
TITLES = {"rigl": "RigL", "gmp": "GMP"}
SLACK = {"gmp": 0.0, "rigl": 0.5}
"""Octaves. A weaker drift is to be expected under RigL, so half a step counts as a tie there."""
COLUMNS = Table(
    (
        Column(name="method", type="str", role="param", doc="rigl or gmp."),
        *SWEEP_COLUMNS.columns,
    )
)


def _claim(id: str, method: str, scheme: str, phrase: str, form: Form, bound: float) -> Claim:
    return ours(
        f"{method}_{scheme}_{id}",
        f"Under {TITLES[method]} and {NAMES[scheme]} the optimal learning rate {phrase} from dense"
        " to the lowest density.",
        form=form,
        where=WHERE,
        quantity=partial(
            within_rows,
            column="method",
            value=method,
            quantity=partial(optimum_shift, scheme=scheme),
        ),
        bound=bound,
    )


def _of_method(method: str) -> tuple[Claim, ...]:
    slack = SLACK[method]
    tie = f" (by no more than {slack:g} octaves)" if slack else ""
    return (
        _claim("not_up", method, "supar", f"does not rise{tie}", "at_most", slack),
        _claim("not_down", method, "sp", f"does not fall{tie}", "at_least", -slack),
        _claim("not_down", method, "mup", f"does not fall{tie}", "at_least", -slack),
        _claim("falls", method, "supar", "falls by at least one factor-2 step", "at_most", -1.0),
    )


CLAIMS = tuple(claim for method in ("gmp", "rigl") for claim in _of_method(method))


def view(frames: Tables) -> pd.DataFrame:
    """Return both methods, one row a run; dense nets have nothing to drop.

    So the dense runs of the static sweep are those of both methods, where the net is the same.
    """
    import pandas as pd

    frame = frames[dynamic_sweep.experiment.id]
    sweep = frames[lr_sweep.experiment.id]
    same_net = sweep["width"].isin(frame["width"]) & sweep["steps"].isin(frame["steps"])
    dense = sweep[(sweep["density"] == 1.0) & same_net]
    both = [dense.assign(method=method) for method in METHODS]
    return run_table(pd.concat([*both, frame]), COLUMNS)


def draw(context: FigureContext) -> Figure:
    """Draw methods as rows and schemes as columns."""
    from reproductions.supar.models.sweep_figures import dynamic_panels

    return dynamic_panels(context, methods=TITLES, schemes=SCHEMES)


task = old_task(
    id="supar/fig12",
    title="Learning-rate sweeps under dynamic sparsity: RigL and GMP",
    reads=(dynamic_sweep.experiment, lr_sweep.experiment),
    columns=COLUMNS,
    claims=CLAIMS,
    view=view,
    figure=draw,
    caption="Train loss (mean of the last tenth of the steps) against the peak base learning rate"
    " under RigL (above) and GMP (below), one line a density: mean over seeds, bars show its"
    " standard error. A ring marks the least mean loss of each line, unless it lies at the line's"
    " end; the vertical line is that of the dense model, which has nothing to drop. Steep ends are"
    " cut off. The paper's curves are not published as numbers.",
    alt="Six panels of train loss against log2 learning rate, RigL and GMP by SP, μP and SμPar,"
    " one line per density, each with its optima marked.",
)
