"""A sweep of real trials: the cpu shape of supar/lr_sweep, shorter, on the bundled text."""

from __future__ import annotations

import os
from collections.abc import Iterator

from harness.declare.experiment import Experiment, Needs, RawParams
from harness.declare.old import old_task
from harness.declare.table import Column, Table
from reproductions.supar.models import gpt_experiment as trained
from reproductions.supar.sweeps import lr_sweep


def grid() -> Iterator[RawParams]:
    """Yield as many trials as the benchmark asks for, equal but for their seed."""
    (shape, *_) = lr_sweep.cpu_grid()
    for seed in range(int(os.environ.get("BENCH_TRIALS", "2"))):
        yield {**shape, "data": "grammar-text", "steps": 20, "warmup_steps": 2, "seed": seed}


task = old_task(
    id="sweep/abl_training",
    title="Trials that train a net",
    reads=(
        Experiment(
            id="sweep/training",
            version=1,
            run=trained.run,
            grid={"smoke": grid},
            needs=Needs(data=("grammar-text",)),
        ),
    ),
    columns=Table(
        (
            Column(name="seed", type="int", role="seed", doc="number of the trial"),
            Column(name="train_loss", type="float", role="value", doc="nats", nullable=True),
        )
    ),
)
