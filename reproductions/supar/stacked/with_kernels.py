"""No table of the paper: a step of a sweep, its nets in a stack, with kernels and without."""

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
        "Small nets trained for three steps in a stack end where they end one by one, with zeros"
        " under their masks."
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
            "Median time of a step of all nets of a sweep: forward, backward, clipping and AdamW."
            " The ways take turns in one process. The peak is beyond weights and states.",
            "With kernels one launch steps all nets of a stack, and single nets take the same AdamW"
            " and a cross-entropy that never holds all logits. Without, torch does both.",
        ),
        ours=True,
    ),
)
