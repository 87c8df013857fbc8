"""No table of the paper: an outer step of data condensation with kernels and in plain torch."""

from __future__ import annotations

from harness.declare import Cell, Layout, Line, Table, Task, columns_of, param
from harness.measure.in_turn import COLUMNS, PRINTED, steps_agree
from reproductions.fg2u.image_sets.kernel_experiment import (
    TAKEN,
    KernelStep,
    Taken,
    kernel_steps,
)

HELD = (
    "dataset", "data", "image_size", "ipc", "width", "num_blocks", "device", "num_directions",
    "at_once", "depth", "batch_size", "num_warmup",
)  # fmt: skip


def line(taken: Taken) -> Line:
    """Return the row of a way."""
    drawn = "a counter" if taken.directions == "philox" else "drawn on the CPU"
    group = "all forward" if taken.estimator == "forward" else "outer loss walked back through"
    ran = "kernels" if taken.kernels else "plain torch"
    return Line(f"directions {drawn}, {ran}", group=group, where=taken._asdict())


task = Task(
    "fg2u/with_kernels",
    own_kind="ablation",
    reads=(kernel_steps,),
    table=Table.of(
        columns_of(KernelStep, *HELD),
        param("estimator", str, "forward, or adjoint: the outer loss is walked back through."),
        param("directions", str, "philox: from a counter; rademacher: drawn on the CPU."),
        param("kernels", bool, "Whether kernels were taken where there are any."),
        columns_of(KernelStep, "seed"),
        COLUMNS,
    ),
    claims=steps_agree("A gradient of (FG)²U by kernels is the gradient by torch.func."),
    layout=Layout(
        rows=tuple(map(line, TAKEN)),
        columns=PRINTED,
        cell=Cell("median_ms", unit="ms", digits=1),
        notes=(
            "Medians of outer steps that take turns in one process; the peak is that of a step.",
            "Kernels take the inner steps with their tangents where all goes forward, and the sum"
            " of directions from a counter. Table 1's runs have the last row.",
        ),
        ours=True,
    ),
)
