"""Which setting of Table 1 is the smallest that can tell exact from biased gradients."""

from __future__ import annotations

from harness.declare import Task
from reproductions.fg2u.image_sets.pilot_experiment import sets
from reproductions.fg2u.image_sets.pilot_table import BY_CANDIDATE, CANDIDATES

task = Task(
    "fg2u/pilot_nets",
    reads=(sets,),
    table=CANDIDATES,
    layout=BY_CANDIDATE,
    own_kind="ablation",
)
