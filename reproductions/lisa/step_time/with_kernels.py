"""No table of the paper: a step of LISA with its kernels and in plain torch."""

from __future__ import annotations

from harness.declare import Cell, Layout, Line, Table, Task, columns_of, param, value
from harness.measure.in_turn import COLUMNS, steps_agree
from reproductions.lisa.models.names import TITLES
from reproductions.lisa.step_time.kernel_experiment import KernelStep, kernel_steps

task = Task(
    "lisa/with_kernels",
    own_kind="ablation",
    reads=(kernel_steps,),
    table=Table.of(
        columns_of(KernelStep, without=("seed",)),
        param("kernels", bool, "Whether kernels were taken where there are any."),
        columns_of(KernelStep, "seed"),
        value("state_bytes", int, "What the optimizer keeps between steps."),
        COLUMNS,
    ),
    claims=steps_agree(
        "Three steps of a small LISA by the kernels' AdamW and loss, with a switch of blocks after"
        " each, end where they end by torch's, in float32, within the table of tolerances (trials"
        " where they do not)."
    ),
    layout=Layout(
        rows=tuple(
            Line(head, group=TITLES[shape], where={"shape": shape, "kernels": kernels})
            for shape in ("llama-2-7b", "tinyllama", "tiny-smoke")
            for head, kernels in (("with its kernels", True), ("in plain torch", False))
        ),
        columns=(
            Line("step"),
            Line("peak", cell=Cell("peak_bytes", unit="GB", scale=1e9, digits=2)),
            Line("states", cell=Cell("state_bytes", unit="GB", scale=1e9, digits=2, seeded=False)),
            Line("ran", cell=Cell("ran", seeded=False)),
        ),
        cell=Cell("median_ms", unit="ms", digits=2),
        notes=(
            "Medians of steps that take turns in one process: forward, backward, AdamW and the"
            " clearing of gradients, two blocks active, no switch. The peak is that of a step,"
            " beyond weights and states.",
            "The kernels are AdamW of all active tensors in one launch, which keeps moments in"
            " float32 where torch's fused AdamW beside it keeps them in the weights' own type, and"
            " where targets are more than features the cross-entropy of the head, which never"
            " holds all logits as the model's own loss does.",
        ),
        ours=True,
    ),
)
