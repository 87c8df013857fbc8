"""Tables of LISA's own settings: what runs came to at their end."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from harness.declare import Cell, Line, Table, Tables, columns_of, value
from reproductions.lisa.ablations.experiment import DROPPED, SETTINGS, pilots, settings
from reproductions.lisa.finetuning.experiment import WINDOW, Tune
from reproductions.lisa.models.rates import CONFIGURATION, LOSSES, are_chosen, finals

if TYPE_CHECKING:
    import pandas as pd

SETTING = [*CONFIGURATION, "policy"]
TOLD = columns_of(Tune, "model", "method", "gamma", "period", "policy", "lr")
SEED = columns_of(Tune, "seed")
SHOWN = tuple(
    value(name, float, LOSSES[name], nullable=name != "start_loss")
    for name in ("train_loss", "validation_loss", "test_loss", "start_loss")
)
LOSS = Cell("test_loss", unit="nats", digits=3)


def end_rows(tables: Tables) -> pd.DataFrame:
    """Return one row per setting and seed."""
    return _ended(tables[settings.id])


def pilot_rows(tables: Tables) -> pd.DataFrame:
    """Return one row per setting, rate and seed; the rate of the least mean loss is marked."""
    rows = _ended(tables[pilots.id])
    losses = rows["validation_loss"].astype(float).fillna(math.inf)
    return rows.assign(chosen=are_chosen(rows, by=SETTING, least={"loss": losses}))


def _ended(frame: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    policies = frame["policy"] if "policy" in frame else pd.Series(DROPPED, index=frame.index)
    parts = frame.assign(policy=policies.fillna(DROPPED)).groupby("policy", sort=False)
    return pd.concat([finals(part, window=WINDOW).assign(policy=name) for name, part in parts])


LINES = tuple(Line(one.head, group=one.group, where=one.where) for one in SETTINGS.values())
"""A row per setting."""
ENDS = Table.of(TOLD, SEED, SHOWN, make=end_rows)
PILOTS = Table.of(
    TOLD,
    SEED,
    SHOWN,
    value("chosen", bool, "Whether this rate has its setting's least mean validation loss."),
    make=pilot_rows,
)
