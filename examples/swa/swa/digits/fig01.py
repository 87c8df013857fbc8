"""Accuracy in the course of training, as the authors plot it."""

from __future__ import annotations

from harness.declare import Task
from swa.digits.experiment import trainings
from swa.digits.table import TABLE

task = Task(
    "swa/fig01",
    reads=(trainings,),
    table=TABLE,
    figure="figures:curves",
    caption="Test accuracy by epoch, mean and standard error over seeds.",
    alt="Test accuracy against epoch for SGD, SWA and the nets that SWA averages.",
)
