"""Tables of the sweeps: one row per run, or the best run of each curve."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from harness.declare import Column, Experiment, Frame, Table, Tables, columns_of, param, value
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

ABLATED = (*ABLATIONS, "supar")
STD = columns_of(StdPoint, "log2_sigma")


def swept(
    experiment: Experiment, schemes: Collection[str] = SCHEMES, *, x: Sequence[Column] = RATE
) -> Table:
    """Return the table of a sweep's runs under some schemes; x: the column of what is swept.

    The dense runs of both ablations are those of muP, which they are at density 1: `supar/tab01`
    holds that the losses are equal to the bit.
    """

    def make(tables: Tables) -> Frame:
        import pandas as pd

        frame = tables[experiment.id]
        dense = frame[(frame["scheme"] == "mup") & (frame["density"] == 1.0)]
        whole = pd.concat([frame, *(dense.assign(scheme=scheme) for scheme in ABLATIONS)])
        return runs(whole[whole["scheme"].isin(schemes)])

    return Table.of(PLACE, x, TRAINED, make=make)


def both_ladders(tables: Tables) -> Frame:
    """Return both ladders of SP, over the densities of the first."""
    import pandas as pd

    narrow = tables[iso_neuron.id].assign(ladder="iso_neuron")
    sweep = tables[lr_sweep.id].assign(ladder="fixed_width")
    same = (sweep["scheme"] == "sp") & sweep["density"].isin(narrow["density"])
    return runs(pd.concat([narrow, sweep[same]]))


def best_runs(tables: Tables) -> Frame:
    """Return, per scheme, density and seed, the run whose validation loss is least.

    Where every run diverged the chosen rate and its losses are empty.
    """
    import pandas as pd

    keys = ["data", "scheme", "density", "width", "seed"]
    groups = tables[lr_sweep.id].groupby(keys, sort=False)
    rows = [dict(zip(keys, key, strict=True)) | _best(group) for key, group in groups]
    return pd.DataFrame(rows, columns=BEST.names)


def _best(group: Frame) -> dict[str, object]:
    """Return the chosen run of one scheme, density and seed."""
    rates = group["log2_lr"].astype(float)
    first = group.sort_values("val_loss", kind="stable").iloc[0]
    chosen = None if math.isnan(first["val_loss"]) else first
    names = ("log2_lr", "val_loss", "train_loss", "test_loss")
    picked = {name: math.nan if chosen is None else float(chosen[name]) for name in names}
    edge = chosen is None or picked["log2_lr"] in (rates.min(), rates.max())
    return {**picked, "on_edge": edge, "num_rates": int(rates.nunique())}


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
