"""Figure B.1: an inner run is far from a stationary point where unrolls end."""

from __future__ import annotations

from harness.declare import Table, Task, columns_of, param, value
from reproductions.fg2u.inner_run.experiment import InnerRun, runs

task = Task(
    "fg2u/figb1",
    reads=(runs,),
    table=Table.of(
        columns_of(InnerRun, "depth"),
        param("step", int, "Inner steps done."),
        columns_of(InnerRun, "seed"),
        value("inner_loss", float, "Mean cross-entropy on the condensed images, nats."),
        value("gradient_norm", float, "Norm of its gradient by the net's weights."),
    ),
    figure="figures:run_panels",
    caption="Loss of a fresh net on condensed images, and the norm of its gradient, against inner"
    " steps. Filled: ten condensed digits, means over seeds with their standard error; hollow: the"
    " paper's CIFAR-100 with 50 images per class. Dotted: the unroll T that our images were"
    " condensed with, and twenty times T. Each has its own net, loss and step size, so that the"
    " heights do not compare, the fall does.",
    alt="Two log-log panels against inner steps: the inner loss and the gradient's norm fall for"
    " long after the unroll's length, on ten condensed digits and in the paper.",
)
