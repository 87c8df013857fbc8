"""Whether exact gradients improve what Hessian-free condensed, on digits."""

from harness.declare import Cell, Layout, Line, Task
from reproductions.fg2u.condensing import table
from reproductions.fg2u.condensing.experiment import phases

ENDS = Layout(
    rows=table.ends(
        table.FIRST_ALONE, table.SMALLER_STEP, table.THEN_EXACT, table.ONE_PHASE["rgu"]
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
    table=table.SCHEDULED,
    layout=ENDS,
    own_kind="ablation",
)
