"""Tables of the sweeps: one row per run, or the best run of each curve."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from harness.declare import Experiment, Table, Tables, columns_of, param, value
from reproductions.supar.models.points import StdPoint
from reproductions.supar.models.schemes import ABLATIONS, SCHEMES
from reproductions.supar.models.tables import (
    PLACE,
    RATE,
    SEED,
    TEST_LOSS,
    TRAIN_LOSS,
    TRAINED,
    VAL_LOSS,
    runs,
)
from reproductions.supar.sweeps.experiment import iso_neuron, lr_sweep

if TYPE_CHECKING:
    import pandas as pd

Rows = Callable[[Tables], "pd.DataFrame"]
ABLATED = (*ABLATIONS, "supar")


def runs_of(experiment: Experiment, schemes: Collection[str] = SCHEMES) -> Rows:
    """Return what takes an experiment's runs under some schemes."""
    return lambda tables: _only(runs(tables[experiment.id]), schemes)


def ablations_of(experiment: Experiment) -> Rows:
    """Return what takes an experiment's runs of both ablations and SmuPar; dense, they are muP."""
    return lambda tables: _only(runs(with_dense_ablations(tables[experiment.id])), ABLATED)


def both_ladders(tables: Tables) -> pd.DataFrame:
    """Return both ladders of SP, over the densities of the first."""
    import pandas as pd

    narrow = tables[iso_neuron.id].assign(ladder="iso_neuron")
    sweep = _only(tables[lr_sweep.id].assign(ladder="fixed_width"), ("sp",))
    return runs(pd.concat([narrow, sweep[sweep["density"].isin(narrow["density"].unique())]]))


def with_dense_ablations(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the dense rows of both ablations: those of muP, which they are at density 1.

    `supar/tab01` holds that the losses are equal to the bit.
    """
    import pandas as pd

    dense = frame[(frame["scheme"] == "mup") & (frame["density"] == 1.0)]
    return pd.concat([frame, *(dense.assign(scheme=scheme) for scheme in ABLATIONS)])


def best_runs(tables: Tables) -> pd.DataFrame:
    """Return, per scheme, density and seed, the run whose validation loss is least.

    Where every run diverged the chosen rate and its losses are empty.
    """
    import pandas as pd

    keys = ["data", "scheme", "density", "width", "seed"]
    groups = tables[lr_sweep.id].groupby(keys, sort=False)
    rows = [dict(zip(keys, key, strict=True)) | _best(group) for key, group in groups]
    return pd.DataFrame(rows, columns=BEST.names)


def _best(group: pd.DataFrame) -> dict[str, object]:
    """Return the chosen run of one scheme, density and seed."""
    rates = group["log2_lr"].astype(float)
    first = group.sort_values("val_loss", kind="stable").iloc[0]
    chosen = None if math.isnan(first["val_loss"]) else first
    names = ("log2_lr", "val_loss", "train_loss", "test_loss")
    picked = {name: math.nan if chosen is None else float(chosen[name]) for name in names}
    edge = chosen is None or picked["log2_lr"] in (rates.min(), rates.max())
    return {**picked, "on_edge": edge, "num_rates": int(rates.nunique())}


def _only(table: pd.DataFrame, schemes: Collection[str]) -> pd.DataFrame:
    return table[table["scheme"].isin(schemes)]


def of_rates(make: Rows) -> Table:
    """Return the table of a sweep of learning rates."""
    return Table.of(PLACE, RATE, TRAINED, make=make)


def of_stds(make: Rows) -> Table:
    """Return the table of a sweep of standard deviations."""
    return Table.of(PLACE, columns_of(StdPoint, "log2_sigma"), TRAINED, make=make)


BEST = Table.of(
    PLACE,
    SEED,
    value(
        "log2_lr",
        float,
        "log2 of the peak base learning rate with the least validation loss.",
        nullable=True,
    ),
    value(
        "on_edge",
        bool,
        "Whether that rate is the first or last of its window, so not an optimum.",
    ),
    value("num_rates", int, "Learning rates that were tried."),
    VAL_LOSS,
    TRAIN_LOSS,
    TEST_LOSS,
    make=best_runs,
)
LADDERS = Table.of(
    param(
        "ladder",
        str,
        "iso_neuron: width * density is constant; fixed_width: the sweep of Figure 6.",
    ),
    PLACE,
    RATE,
    TRAINED,
    make=both_ladders,
)
