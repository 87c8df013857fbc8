"""Figure B.1: an inner run is far from a stationary point where unrolls end."""

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
    caption="Loss of a fresh net on condensed images, and norm of its gradient, by inner steps."
    " Filled: ours, means over seeds with their standard error; hollow: the paper's. Dotted: the"
    " unroll T that our images were condensed with, and twenty times T. Nets and steps differ:"
    " compare the fall, not the height.",
    alt="Two log-log panels against inner steps: the inner loss and the gradient's norm fall for"
    " long after the unroll ends, ours and the paper's.",
)
