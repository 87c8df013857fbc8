"""Figure 12: where the best learning rate goes under dynamic sparsity, scheme by scheme."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from harness.declare import (
    Criterion,
    Table,
    Tables,
    Task,
    at_most,
    bind,
    claims,
    columns_of,
    more_than,
)
from harness.declare.criterion import Quantity
from reproductions.supar.dynamic.experiment import METHODS, DynamicPoint, dynamic_sweep
from reproductions.supar.models.claims import OURS, Row
from reproductions.supar.models.optima import optimum_shift, within_rows
from reproductions.supar.models.schemes import NAMES, SCHEMES
from reproductions.supar.models.tables import PLACE, RATE, TRAINED, runs
from reproductions.supar.sweeps.experiment import lr_sweep

if TYPE_CHECKING:
    import pandas as pd

TITLES = {"rigl": "RigL", "gmp": "GMP"}
TIE = 0.5
"""Octaves. A weaker drift is to be expected under RigL, so half a step counts as a tie there."""


def both_methods(tables: Tables) -> pd.DataFrame:
    """Return both methods, one row per run; dense nets have nothing to drop.

    So the dense runs of the static sweep are those of both methods, where the net is the same.
    """
    import pandas as pd

    frame, sweep = tables[dynamic_sweep.id], tables[lr_sweep.id]
    same_net = sweep["width"].isin(frame["width"]) & sweep["steps"].isin(frame["steps"])
    dense = sweep[(sweep["density"] == 1.0) & same_net]
    both = [dense.assign(method=method) for method in METHODS]
    return runs(pd.concat([*both, frame]))


def drifts(method: str) -> Iterator[Row]:
    """Yield the claims on where optima go under a method."""

    def row(scheme: str, word: str, criterion: Criterion, phrase: str) -> Row:
        return (
            f"{method}_{scheme}_{word}",
            OURS,
            criterion,
            f"Under {TITLES[method]} and {NAMES[scheme]} the optimal learning rate {phrase} from"
            " dense to the lowest density.",
        )

    def shift(scheme: str) -> Quantity:
        quantity = partial(optimum_shift, scheme=scheme)
        return partial(within_rows, column="method", value=method, quantity=quantity)

    if method == "rigl":
        up = at_most(shift("supar"), TIE, "octaves").measuring("the rise of the optimum")
        phrase = f"does not rise (by no more than {TIE:g} octaves)"
        yield row("supar", "not_up", up, phrase)
    for scheme in ("sp", "mup"):
        yield row(scheme, "rises", more_than(shift(scheme), 0, "octaves"), "rises")
    falls = at_most(shift("supar"), -1, "octaves").measuring("the rise of the optimum")
    yield row("supar", "falls", falls, "falls by at least one factor-2 step")


task = Task(
    "supar/fig12",
    reads=(dynamic_sweep, lr_sweep),
    table=Table.of(columns_of(DynamicPoint, "method"), PLACE, RATE, TRAINED, make=both_methods),
    claims=claims("Figure 12 and section 4.4", *drifts("gmp"), *drifts("rigl")),
    figure=bind(".models.sweep_figures:dynamic_panels", methods=TITLES, schemes=SCHEMES),
    caption="Train loss (mean of the last tenth of the steps) against the peak base learning rate"
    " under RigL (above) and GMP (below), one line per density: mean over seeds, bars show its"
    " standard error. A ring marks the least mean loss of each line, unless it lies at the line's"
    " end; the vertical line is that of the dense model, which has nothing to drop. Steep ends are"
    " cut off. The paper's curves are not published as numbers.",
    alt="Six panels of train loss against log2 learning rate, RigL and GMP by SP, μP and SμPar,"
    " one line per density, each with its optima marked.",
)
