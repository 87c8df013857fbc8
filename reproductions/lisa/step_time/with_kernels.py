"""No table of the paper: a step of LISA with its kernels and in plain torch."""

from harness.declare import Cell, Layout, Line, Table, Task, columns_of, param, value
from harness.measure.in_turn import COLUMNS, steps_agree
from reproductions.lisa.models.names import TITLES
from reproductions.lisa.step_time.experiment import KernelStep, kernel_steps

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
    claims=steps_agree("Steps of LISA with the kernels end where steps in plain torch end."),
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
            "Medians of whole steps with two active blocks, both ways in turn in one process. The"
            " peak is what a step needs beyond weights and states.",
            "The kernels are AdamW of all active tensors in one launch, with moments in float32"
            " where torch's fused AdamW has the weights' own type, and the head's cross-entropy"
            " without its logits, where there are more targets than features.",
        ),
        ours=True,
    ),
)
