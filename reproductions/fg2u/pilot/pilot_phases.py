"""Whether exact gradients improve what Hessian-free condensed, on digits."""

from __future__ import annotations

from harness.declare import Task
from reproductions.fg2u.pilot.experiment import phases
from reproductions.fg2u.pilot.table import BY_PHASE, ENDS

task = Task(
    "fg2u/pilot_phases",
    reads=(phases,),
    table=BY_PHASE,
    layout=ENDS,
    own_kind="ablation",
)
