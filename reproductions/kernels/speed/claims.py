"""What is asked of every kernel that is timed: that it is right, and goals on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from harness.declare import CHECK, Claim, Layout, Task, at_least, claims, equal, ours
from reproductions.kernels.cases import case_of
from reproductions.kernels.speed import quantities as q
from reproductions.kernels.speed.experiment import RACES
from reproductions.kernels.speed.table import TABLE

GOAL = ours("DEV-01", profiles=("gpu",), elsewhere="no kernel of ours runs on a CPU").asked_by_us()
OF_COPY = 0.9
WHERE = "ours: a goal on a GPU"
PLOT = (
    "Left: medians of calls by case, with lines from a fifth to four fifths of them. Right: their"
    " roofline, arithmetic per second over arithmetic per byte. Grey: what copies and products in"
    " turn with the calls allow, from the slowest size to the fastest. Operations that only move"
    " bytes are in no roofline."
)


def speed_task(kernel: str, layout: Layout, goals: Sequence[Claim], *, does: str) -> Task:
    """Return the task of a kernel's times. does: the call, in a few words."""
    agree = (
        "outputs_agree",
        CHECK,
        equal(q.disagreeing, 0, "implementations").measuring("implementations that differ"),
        "Whatever is timed (on a CPU no kernel of ours) gives what torch gives in float64.",
    )
    return Task(
        f"kernels/{kernel}",
        own_kind="kernel",
        reads=(RACES[kernel],),
        table=TABLE,
        layout=layout,
        claims=(*claims("outputs of what is timed", agree), *goals),
        figure="figures:time_panels",
        caption=f"Time of {does}. {PLOT}",
        alt=f"Marks of the time of {does} by implementation and size, and a roofline: rates of"
        " arithmetic under those of copies and products, on logarithmic axes.",
    )


def near_the_copy(kernel: str, *cases: str, does: str) -> tuple[Claim, ...]:
    """Return the goal of a kernel that bytes bound, at some cases in each of their types."""
    places = tuple((case, each) for case in cases for each in case_of(kernel, case).precisions)
    asked = at_least(partial(q.shares_of_copy, places=places), OF_COPY, "share")
    return claims(
        WHERE,
        (
            "near_the_copy",
            GOAL,
            asked.naming(*map(", ".join, places)).measuring("rate over that of the copy"),
            f"Triton's {does} at least 90 % as fast as copying as many bytes.",
        ),
    )


def times_as_fast(claim: str, case: str, peer: str, factor: float, words: str) -> tuple[Claim, ...]:
    """Return the goal of a kernel beside what does the same work otherwise."""
    quantity = partial(q.speed_up, case=case, over=peer)
    return claims(WHERE, (claim, GOAL, at_least(quantity, factor, "times"), words))
