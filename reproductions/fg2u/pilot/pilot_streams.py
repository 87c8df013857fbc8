"""Whether models know what they were trained on, and learned weights help them to read."""

from __future__ import annotations

from harness.declare import Task
from reproductions.fg2u.pilot.experiment import streams
from reproductions.fg2u.pilot.table import READ, TAUGHT

task = Task(
    "fg2u/pilot_streams",
    reads=(streams,),
    table=READ,
    layout=TAUGHT,
    own_kind="ablation",
)
