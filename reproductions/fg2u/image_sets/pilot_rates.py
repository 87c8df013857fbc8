"""Each method's first step size of outer Adam, in the setting that the run is given."""

from __future__ import annotations

from harness.declare import Task
from reproductions.fg2u.image_sets.pilot_experiment import sets
from reproductions.fg2u.image_sets.pilot_table import BY_RATE, LOSSES

task = Task(
    "fg2u/pilot_rates",
    reads=(sets,),
    table=BY_RATE,
    layout=LOSSES,
    own_kind="ablation",
)
