"""Whether kernels stay inside their tensors and never race, as compute-sanitizer sees them."""

from __future__ import annotations

from functools import partial

from harness.declare import CHECK, Task, claims, equal
from reproductions.kernels.on_device import quantities as q
from reproductions.kernels.on_device.experiment import watches
from reproductions.kernels.on_device.table import ERRORS, TABLE

WATCHED = CHECK.at("gpu", elsewhere="compute-sanitizer watches kernels on a GPU alone")

task = Task(
    "kernels/watched",
    own_kind="kernel",
    reads=(watches,),
    table=TABLE,
    layout=ERRORS,
    claims=claims(
        "what compute-sanitizer counts",
        (
            "no_memory_errors",
            WATCHED,
            equal(partial(q.found_by, checker="memcheck"), 0, "errors"),
            "Kernels stay inside their tensors at every odd size, by compute-sanitizer's memcheck.",
        ),
        (
            "no_races",
            WATCHED,
            equal(partial(q.found_by, checker="racecheck"), 0, "hazards"),
            "Threads never race in shared memory at any odd size, by compute-sanitizer's"
            " racecheck.",
        ),
    ),
)
