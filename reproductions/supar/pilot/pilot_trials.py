"""Nets of the run as they are, at the seeds of pilots; a pilot of our own."""

from harness.declare import Table, Task
from reproductions.supar.models.tables import PLACE, TRAINED, runs
from reproductions.supar.pilot.experiment import pilot_trials

task = Task(
    "supar/pilot_trials",
    reads=(pilot_trials,),
    table=Table.of(PLACE, TRAINED, make=lambda tables: runs(tables[pilot_trials.id])),
    figure="figures:trials_panel",
    caption="Loss of dense nets of Figure 3 with the hyperparameters that the run carries over, one"
    " point a seed. Bounds of positive controls were chosen above them.",
    alt="Train and validation loss of dense nets under SP and μP, one point per seed.",
    own_kind="ablation",
)
