"""No table of the paper: a step of a sweep, its nets in a stack, with kernels and without."""

from __future__ import annotations

from harness.declare import Cell, Layout, Line, Table, Task, columns_of, param
from harness.measure.in_turn import COLUMNS, PRINTED, steps_agree
from reproductions.supar.stacked.experiment import WAYS, SweepStep, sweep_steps

HELD = (
    "device", "width", "num_layers", "context", "batch_size", "density", "num_members",
    "num_warmup",
)  # fmt: skip

task = Task(
    "supar/with_kernels",
    own_kind="ablation",
    reads=(sweep_steps,),
    table=Table.of(
        columns_of(SweepStep, *HELD),
        param("how", str, "stacked: all nets at once; one by one: each has its own step."),
        param("kernels", bool, "Whether kernels were taken where there are any."),
        columns_of(SweepStep, "seed"),
        COLUMNS,
    ),
    claims=steps_agree(
        "Three steps of small nets in a stack, each with its own masks and rate, end where the"
        " same nets end one by one, in float32, within the table of tolerances, and leave zeros"
        " under masks (trials where they do not)."
    ),
    layout=Layout(
        rows=tuple(
            Line(
                "with kernels" if kernels else "in plain torch",
                group=how,
                where={"how": how, "kernels": kernels},
            )
            for how, kernels in WAYS
        ),
        columns=PRINTED,
        cell=Cell("median_ms", unit="ms", digits=2),
        notes=(
            "Medians of steps of all nets of a sweep of learning rates, ways in turn in one"
            " process: forward, backward, clipping and AdamW. The peak is that of a step, beyond"
            " weights and states.",
            "The kernel of a stack is AdamW of masked weights, of all nets in one launch; without"
            " it a stack is stepped by several operations of torch per tensor. Single nets take the"
            " same AdamW, and the cross-entropy that never holds all logits; without them torch's"
            " fused AdamW and its loss of all logits.",
        ),
        ours=True,
    ),
)
