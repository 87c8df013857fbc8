"""A sweep of real trials: the cpu shape of supar/lr_sweep, shorter, on the bundled text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from harness.declare.experiment import Experiment, Needs
from harness.declare.profiles import Profile
from harness.declare.table import Table, columns_of, value
from harness.declare.task import Task
from reproductions.supar.models.points import RatePoint
from reproductions.supar.sweeps.experiment import lr_grid

STEPS = int(os.environ.get("BENCH_STEPS", "20"))


def grid(profile: Profile) -> Iterator[RatePoint]:
    """Yield as many trials as the benchmark asks for, equal but for their seed."""
    if profile != "smoke":
        return
    shape = replace(next(lr_grid("cpu")), data="grammar-text", steps=STEPS, warmup_steps=2)
    for seed in range(int(os.environ.get("BENCH_TRIALS", "2"))):
        yield replace(shape, seed=seed)


training = Experiment(
    "sweep/training",
    version=1,
    params=RatePoint,
    grid=grid,
    run="gpt_trial:train_gpt",
    needs=Needs(data=("grammar-text",)),
    package="reproductions.supar.models",
)
task = Task(
    "sweep/abl_training",
    reads=(training,),
    table=Table.of(
        columns_of(RatePoint, "seed"), value("train_loss", float, "nats", nullable=True)
    ),
)
