"""Whether exact gradients improve what Hessian-free condensed, on digits."""

from __future__ import annotations

from harness.declare import Cell, Layout, Line, Table, Task
from reproductions.fg2u.condensing import table as schedules
from reproductions.fg2u.condensing.experiment import HALVES, PHASES, phases, point, runs

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
    table=Table(
        schedules.SCHEDULED.columns,
        lambda tables: schedules.schedule_rows({runs.id: tables[phases.id]}),
    ),
    layout=ENDS,
    own_kind="ablation",
)
