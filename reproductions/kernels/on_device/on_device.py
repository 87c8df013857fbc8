"""Whether kernels are right where they run: outputs, and bits that come again."""

from __future__ import annotations

from harness.declare import CHECK, Task, claims, equal
from reproductions.kernels.on_device import quantities as q
from reproductions.kernels.on_device.experiment import checks
from reproductions.kernels.on_device.table import DIFFERENCES, TABLE

CALLED = CHECK.at(
    "smoke", "gpu", elsewhere="kernels run on a GPU; at `smoke` plain torch shows how"
)

task = Task(
    "kernels/on_device",
    own_kind="kernel",
    reads=(checks,),
    table=TABLE,
    layout=DIFFERENCES,
    claims=claims(
        "what a device can say",
        (
            "outputs_are_right",
            CALLED,
            equal(q.wrong, 0, "calls").measuring("calls that differ"),
            "At every odd size outputs are those of plain torch in float64, NaN and infinities"
            " included.",
        ),
        (
            "bits_come_again",
            CALLED,
            equal(q.unlike, 0, "calls").measuring("calls that differ"),
            "The same call gives the same bits each time.",
        ),
        (
            "within_the_ends",
            CALLED,
            equal(q.touched, 0, "bytes").measuring("bytes written beyond"),
            "Calls that change inputs in place write nothing beyond their ends.",
        ),
        (
            "taken_by_methods",
            CALLED,
            equal(q.otherwise_chosen, 0, "calls").measuring("calls given something else"),
            "Methods get Triton's kernels on a GPU and plain torch on a CPU.",
        ),
    ),
)
