"""What is asked of every kernel that is timed: that it is right, and goals on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from harness.declare import CHECK, Claim, Layout, Task, at_least, claims, equal, ours
from reproductions.kernels.speed import quantities as q
from reproductions.kernels.speed.experiment import RACES
from reproductions.kernels.speed.table import TABLE

GOAL = ours("DEV-01", profiles=("gpu",), elsewhere="no kernel of ours runs on a CPU").asked_by_us()
OF_COPY = 0.9
WHERE = "ours: a goal on a GPU"
PLOT = (
    "Left: medians of calls by case, lines from a fifth to four fifths of them. Right: their"
    " roofline, arithmetic per second over arithmetic per byte. Grey: what as many bytes as a call"
    " moves allow, copied or multiplied in place, from the slowest size to the fastest (small ones"
    " lie in caches), and up to the rate of a square product; all timed in turn with the calls."
    " What only moves bytes is in no roofline."
)


def speed_task(kernel: str, layout: Layout, goals: Sequence[Claim], *, does: str) -> Task:
    """Return the task of a kernel's times. does: the call, in a few words."""
    agree = (
        "outputs_agree",
        CHECK,
        equal(q.disagreeing, 0, "implementations"),
        "After the timed loop every implementation that ran (on a CPU plain torch, torch.compile"
        " and libraries alone, none of our kernels) gives what plain torch gives in float64, within"
        " the table of tolerances (implementations that do not).",
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


def near_the_copy(case: str, does: str, *, of: str = "") -> tuple[Claim, ...]:
    """Return the goal of a kernel that bytes bound. of: which call, where there are several."""
    return claims(
        WHERE,
        (
            f"near_the_copy{of and f'_{of}'}",
            GOAL,
            at_least(partial(q.share_of_copy, case=case), OF_COPY, "share"),
            f"Triton's {does} ({case}) takes the time of a copy of as many bytes to within a tenth:"
            " at least 0.9 of that rate in each type.",
        ),
    )


def times_as_fast(claim: str, case: str, peer: str, factor: float, words: str) -> tuple[Claim, ...]:
    """Return the goal of a kernel beside what does the same work otherwise."""
    quantity = partial(q.speed_up, case=case, over=peer)
    return claims(WHERE, (claim, GOAL, at_least(quantity, factor, "times"), words))
