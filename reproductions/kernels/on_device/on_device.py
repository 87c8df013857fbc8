"""Whether kernels are right where they run: outputs, bits that come again, memory and races."""

from __future__ import annotations

from functools import partial

from harness.declare import CHECK, Task, claims, equal
from reproductions.kernels.on_device import quantities as q
from reproductions.kernels.on_device.experiment import checks
from reproductions.kernels.on_device.table import DIFFERENCES, ERRORS, TABLE

CALLED = CHECK.at(
    "smoke", "gpu", elsewhere="kernels run on a GPU; at `smoke` plain torch shows how"
)
WATCHED = CHECK.at("gpu", elsewhere="compute-sanitizer watches kernels on a GPU alone")

task = Task(
    "kernels/on_device",
    own_kind="kernel",
    reads=(checks,),
    table=TABLE,
    layout=(DIFFERENCES, ERRORS),
    claims=claims(
        "what a device can say",
        (
            "outputs_are_right",
            CALLED,
            equal(q.wrong, 0, "calls"),
            "At every odd size outputs are those of plain torch in float64, within the table of"
            " tolerances by type and length of sums, and NaN and infinities stand where they do"
            " there (calls in which not).",
        ),
        (
            "bits_come_again",
            CALLED,
            equal(q.unlike, 0, "calls"),
            "The same call gives the same bits each time (calls that do not).",
        ),
        (
            "within_the_ends",
            CALLED,
            equal(q.touched, 0, "bytes"),
            "Nothing is written beyond the ends of inputs that are changed in place (bytes of the"
            " bands round them).",
        ),
        (
            "taken_by_methods",
            CALLED,
            equal(q.otherwise_chosen, 0, "calls"),
            "On a GPU methods are given Triton's kernels, on a CPU plain torch (calls for which"
            " something else is chosen).",
        ),
        (
            "no_memory_errors",
            WATCHED,
            equal(partial(q.found_by, checker="memcheck"), 0, "errors"),
            "compute-sanitizer's memcheck finds no access outside of a tensor, at any odd size.",
        ),
        (
            "no_races",
            WATCHED,
            equal(partial(q.found_by, checker="racecheck"), 0, "hazards"),
            "compute-sanitizer's racecheck finds no two threads of a block that race in shared"
            " memory, at any odd size.",
        ),
    ),
)
