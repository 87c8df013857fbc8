"""Tables of LISA's own settings: what runs came to at their end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import Cell, Line, Table, Tables, columns_of, value
from reproductions.lisa.ablations.experiment import DROPPED, SETTINGS
from reproductions.lisa.finetuning.experiment import WINDOW, Tune
from reproductions.lisa.models.rates import CONFIGURATION, LOSSES, finals

if TYPE_CHECKING:
    import pandas as pd

TOLD = columns_of(Tune, "model", "method", "gamma", "period", "policy", "lr")
SEED = columns_of(Tune, "seed")
SHOWN = tuple(
    value(name, float, LOSSES[name], nullable=name != "start_loss")
    for name in ("train_loss", "validation_loss", "test_loss", "start_loss")
)
LOSS = Cell("test_loss", unit="nats", digits=3)


def run_rows(tables: Tables) -> pd.DataFrame:
    """Return one row per setting, rate and seed; the rate of the least mean loss is marked."""
    import pandas as pd

    (frame,) = tables.values()
    policies = frame["policy"] if "policy" in frame else pd.Series(DROPPED, index=frame.index)
    policies = policies.fillna(DROPPED)
    return finals(frame.assign(policy=policies), window=WINDOW, by=[*CONFIGURATION, "policy"])


LINES = tuple(Line(one.head, group=one.group, where=one.where) for one in SETTINGS.values())
"""A row per setting."""
ENDS = Table.of(TOLD, SEED, SHOWN, make=run_rows)
PILOTS = Table.of(
    TOLD,
    SEED,
    SHOWN,
    value("chosen", bool, "Whether this rate has its setting's least mean validation loss."),
    make=run_rows,
)
