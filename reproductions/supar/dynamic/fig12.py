"""Figure 12: where the best learning rate goes under dynamic sparsity, scheme by scheme."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from harness.declare import (
    Frame,
    Table,
    Tables,
    Task,
    bind,
    claims,
    columns_of,
    less_than,
    more_than,
)
from reproductions.supar.dynamic.experiment import METHODS, DynamicPoint, dynamic_sweep
from reproductions.supar.models.claims import CURVES, NOT_PUBLISHED, OURS, RISE, Row
from reproductions.supar.models.optima import optimum_shift, optimum_shifts, within_rows
from reproductions.supar.models.schemes import LABELS, SCHEMES
from reproductions.supar.models.tables import PLACE, RATE, TRAINED, runs
from reproductions.supar.sweeps.experiment import lr_sweep

TITLES = {"rigl": "RigL", "gmp": "GMP"}
RIVALS = ("sp", "mup")


def both_methods(tables: Tables) -> Frame:
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
    of_method = partial(within_rows, column="method", value=method)
    up = more_than(
        partial(of_method, quantity=partial(optimum_shifts, schemes=RIVALS)), 0, "octaves"
    )
    yield (
        f"{method}_sp_and_mup_rise",
        OURS,
        up.naming(*(LABELS[scheme] for scheme in RIVALS)).measuring(RISE),
        f"Under {TITLES[method]} the optimal learning rates of SP and μP rise as nets get sparser.",
    )
    down = less_than(
        partial(of_method, quantity=partial(optimum_shift, scheme="supar")), 0, "octaves"
    )
    yield (
        f"{method}_supar_falls",
        OURS,
        down.measuring(RISE),
        f"Under {TITLES[method]} the optimal learning rate of SμPar falls as nets get sparser.",
    )


task = Task(
    "supar/fig12",
    reads=(dynamic_sweep, lr_sweep),
    table=Table.of(columns_of(DynamicPoint, "method"), PLACE, RATE, TRAINED, make=both_methods),
    claims=claims("Figure 12 and section 4.4", *drifts("gmp"), *drifts("rigl")),
    figure=bind(".models.sweep_figures:dynamic_panels", methods=TITLES, schemes=SCHEMES),
    caption="Train loss against the peak base learning rate under RigL (above) and GMP (below), one"
    f" line per density. {CURVES} A dense net has nothing to drop: both rows show the same one."
    f" {NOT_PUBLISHED}",
    alt="Six panels of train loss against log2 learning rate, RigL and GMP by SP, μP and SμPar,"
    " one line per density, each with its optima marked.",
)
