"""Each method's first step size of outer Adam, in the setting that the run is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import Cell, Layout, Line, Table, Tables, Task, columns_of
from reproductions.fg2u.image_sets.cells import CHOSEN, TRIED, Condensation
from reproductions.fg2u.image_sets.layouts import METHOD_NAMES
from reproductions.fg2u.image_sets.pilot_experiment import COMPARED, RATE_STEPS, RATES, TINY, sets
from reproductions.fg2u.image_sets.pilot_nets import SCORES, is_of

if TYPE_CHECKING:
    import pandas as pd


def rate_rows(tables: Tables) -> pd.DataFrame:
    """Return every method and outer step size in the chosen setting, at one seed."""
    rows = tables[sets.id]
    chosen = is_of(rows, TRIED[CHOSEN]) & (rows["steps"] == RATE_STEPS)
    own = rows[chosen | (is_of(rows, TINY) & (rows["steps"] == TINY.steps))]
    return own.reindex(columns=BY_RATE.names).reset_index(drop=True)


BY_RATE = Table.of(
    columns_of(Condensation, "method", "num_directions", "depth", "inner_lr", "steps"),
    columns_of(Condensation, "lr", "seed"),
    SCORES,
    make=rate_rows,
)
LOSSES = Layout(
    rows=tuple(Line(METHOD_NAMES[name], where={"method": name}) for name in (*COMPARED, "fg2u")),
    columns=(
        *(Line(f"{lr:g}", where={"lr": lr}) for lr in RATES),
        Line(
            "all gradients",
            where={"lr": TRIED[CHOSEN].lr},
            cell=Cell("estimates_s", unit="s", digits=0),
        ),
    ),
    cell=Cell("outer_loss", unit="nats", digits=3),
    title=f"Outer loss after {RATE_STEPS} outer steps by first step size of outer Adam, and time",
    notes=("Every method is given the step size of its least outer loss.",),
)
task = Task(
    "fg2u/pilot_rates",
    reads=(sets,),
    table=BY_RATE,
    layout=LOSSES,
    own_kind="ablation",
)
