"""Whether exact gradients improve what Hessian-free condensed, on digits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import Cell, Layout, Line, Table, Tables, Task
from reproductions.fg2u.condensing import table as schedules
from reproductions.fg2u.condensing.experiment import HALVES, PHASES, phases, point, runs

if TYPE_CHECKING:
    import pandas as pd


def phase_rows(tables: Tables) -> pd.DataFrame:
    """Return the phases on digits as the experiment of two phases names them."""
    return schedules.schedule_rows({runs.id: tables[phases.id]})


BY_PHASE = Table(schedules.SCHEDULED.columns, phase_rows)
ENDS = Layout(
    rows=(
        Line(
            schedules.FIRST_ALONE,
            where={"schedule": schedules.FIRST_ALONE, "outer_step": HALVES["cpu"]},
        ),
        *(
            Line(name, where={"schedule": name, "outer_step": 2 * HALVES["cpu"]})
            for method, second in PHASES[1:]
            for name in (schedules.name_of(point("cpu", method, second, seed=0)),)
        ),
    ),
    columns=(
        Line("test accuracy"),
        Line("outer loss", cell=Cell("outer_loss", unit="nats", digits=3)),
    ),
    cell=Cell("test_accuracy", unit="%", scale=0.01),
    title="One image per class of digits, after the last outer step",
)
task = Task(
    "fg2u/pilot_phases",
    reads=(phases,),
    table=BY_PHASE,
    layout=ENDS,
    own_kind="ablation",
)
