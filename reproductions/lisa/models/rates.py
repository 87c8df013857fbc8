"""What runs came to at their end, and which learning rate counts where several were tried."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

CONFIGURATION = ["model", "method", "gamma", "period"]
LOSSES = {
    "train_loss": "Nats per answer token, mean of the last 13 batches before their steps.",
    "validation_loss": "On the split that rates are chosen by; empty where the run diverged.",
    "test_loss": "On the split that is reported.",
    "start_loss": "On the same split before fine-tuning.",
    "accuracy": "Share of test instructions whose answer is found among four; guessing scores"
    " 0.25.",
}


def are_chosen(
    runs: pd.DataFrame, *, by: Sequence[str], least: Mapping[str, pd.Series[float]]
) -> pd.Series[bool]:
    """Return which of some runs have the rate, in column `lr`, that was chosen for their kind.

    by: columns that tell kinds of runs apart, each of which has one rate. least: what decides, run
    by run; the mean over a rate's runs counts, the second decides where the first is equal.
    """
    told = list(by)
    means = runs[[*told, "lr"]].assign(**least).groupby([*told, "lr"]).mean().reset_index()
    best = means.sort_values([*least, "lr"]).drop_duplicates(told)
    rates = runs[told].merge(best, on=told, how="left")["lr"]
    return runs["lr"] == rates.set_axis(runs.index)


def mark(rows: pd.DataFrame) -> str:
    """Say at the loss of a chosen rate that it is so."""
    return "chosen" if len(rows) and bool(rows["chosen"].all()) else ""


def finals(frame: pd.DataFrame, *, window: int, by: Sequence[str] = CONFIGURATION) -> pd.DataFrame:
    """Return one row per run of fine-tuning, from a long frame of one row per step and split.

    window: steps at the end whose mean training loss is the run's. by: what has a rate of its own.
    """
    import pandas as pd

    keys = [*by, "lr", "layer_seed", "seed"]
    rows = []
    for values, run in frame.groupby(keys, sort=False):
        train, test, validation = (_of(run, split) for split in ("train", "test", "validation"))
        ended = len(validation) == 1
        rows.append(
            {
                **dict(zip(keys, values, strict=True)),
                "train_loss": float(train["loss"].tail(window).mean()) if ended else None,
                "validation_loss": float(validation["loss"].iloc[0]) if ended else None,
                "test_loss": float(test["loss"].iloc[-1]) if ended else None,
                "start_loss": float(test["loss"].iloc[0]),
                "accuracy": float(test["accuracy"].iloc[-1]) if ended else None,
            }
        )
    table = pd.DataFrame(rows)
    # A rate at which a run diverged is not chosen.
    losses = table["validation_loss"].astype(float).fillna(math.inf)
    return table.assign(chosen=are_chosen(table, by=by, least={"loss": losses}))


def _of(run: pd.DataFrame, split: str) -> pd.DataFrame:
    return run[run["split"] == split].sort_values("step", kind="stable")
