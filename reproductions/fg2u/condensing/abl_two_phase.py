"""Two phases against one: is a biased method followed by (FG)2U better, at equal outer steps?"""

from __future__ import annotations

from functools import partial

from harness.declare import CPU, Task, claims, monotone, more_than, ordering, ours
from reproductions.fg2u.condensing import quantities as q
from reproductions.fg2u.condensing.experiment import runs
from reproductions.fg2u.condensing.table import (
    BY_DIRECTIONS,
    FIRST_ALONE,
    LAYOUT,
    ONE_PHASE,
    SCHEDULED,
    SMALLER_STEP,
    TWO_PHASES,
)

CONDENSED = ours(
    "DEV-10",
    profiles=CPU,
    elsewhere="the digits of this study are small enough for a CPU, and no other grid is declared",
)
EQUAL_STEPS = (ONE_PHASE["hessian-free"], SMALLER_STEP)
EXACT_LAST = (ONE_PHASE["fg2u"], ONE_PHASE["rgu"])
BIASED = tuple(ONE_PHASE[method] for method in ("trgu", "hessian-free", "neumann"))
SLACK = 0.01
"""A point of accuracy."""

task = Task(
    "fg2u/abl_two_phase",
    reads=(runs,),
    table=SCHEDULED,
    claims=claims(
        "Section 3.3 and Table 1, where Hessian-free is the first phase of 10 and 50 images",
        (
            "two_phases_beat_the_first",
            CONDENSED,
            more_than(partial(q.gains, of=TWO_PHASES, over=(FIRST_ALONE,)), 0, "accuracy"),
            "On MNIST Hessian-free and then (FG)²U give images that train nets to a higher test"
            " accuracy than those of the Hessian-free phase alone.",
        ),
    )
    + claims(
        "ours, beside section 3.3",
        (
            "two_phases_beat_equal_steps",
            CONDENSED.asked_by_us(),
            more_than(partial(q.gains, of=TWO_PHASES, over=EQUAL_STEPS), 0, "accuracy").naming(
                "over one step size", "over the smaller step in the second phase"
            ),
            "On MNIST Hessian-free and then (FG)²U give images that train nets to a higher test"
            " accuracy than those of Hessian-free alone with as many outer steps, with one step"
            " size and with that of the second phase.",
        ),
    )
    + claims(
        "Table 1",
        (
            "rgu_no_worse_than_fg2u",
            CONDENSED,
            ordering(partial(q.ascending, schedules=EXACT_LAST), "accuracy").measuring(
                "test accuracy by images of RGU less that by images of (FG)²U"
            ),
            "On MNIST images that are condensed by exact gradients (RGU) train nets to no lower"
            " test accuracy than those of (FG)²U, at equal outer steps.",
        ),
        (
            "fg2u_above_biased_methods",
            CONDENSED,
            more_than(partial(q.gains, of=ONE_PHASE["fg2u"], over=BIASED), 0, "accuracy")
            .naming("over TRGU", "over Hessian-free", "over Neumann")
            .measuring("test accuracy by images of (FG)²U less that by images of the other method"),
            "On MNIST images of (FG)²U train nets to a higher test accuracy than those of TRGU,"
            " Hessian-free and Neumann, at equal outer steps.",
        ),
    )
    + claims(
        "Table 1, and the text beside it",
        (
            "more_directions_better",
            CONDENSED,
            monotone(partial(q.ascending, schedules=BY_DIRECTIONS), "accuracy", slack=SLACK).naming(
                "from 8 to 32 directions", "from 32 to 128"
            ),
            "On MNIST the accuracy grows with the number of directions, 8, 32, 128 (a point of"
            " slack).",
        ),
    ),
    layout=LAYOUT,
    figure="figures:schedule_panels",
    caption="Test accuracy of fresh nets that are trained on ten condensed digits, one per class:"
    " left against outer steps, right after the last one; means over seeds, bars: standard error."
    " Dotted: where a second phase begins, with a smaller outer step; schedules name methods and"
    " their outer steps. All start from the same noise, and see the same initial weights and"
    " batches in every outer step. (FG)²U has 32 directions where no other number (b) stands. The"
    " paper has no such figure.",
    alt="Left, curves of test accuracy against outer steps for one and for two phases; right, the"
    " final accuracy of every schedule as a dot with its standard error.",
)
