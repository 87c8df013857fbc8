"""Two phases against one: is a biased method followed by (FG)2U better, at equal outer steps?"""

from __future__ import annotations

from functools import partial

from harness.declare import CPU, Frame, Scope, Task, at_least, claims, more_than, ours, pick
from reproductions.fg2u.condensing.experiment import runs
from reproductions.fg2u.condensing.table import (
    FIRST_ALONE,
    LAYOUT,
    ONE_PHASE,
    SCHEDULED,
    SMALLER_STEP,
    THEN_EXACT,
    TWO_PHASES,
)

CONDENSED = ours(
    "DEV-31",
    profiles=CPU,
    elsewhere="only `cpu` runs it",
)
EQUAL_STEPS = (ONE_PHASE["hessian-free"], SMALLER_STEP)


def final_accuracy(table: Frame, schedule: str) -> float:
    """Return a schedule's test accuracy after its last outer step, at one seed."""
    rows = pick(table, schedule=schedule)
    return float(rows.nlargest(1, "outer_step")["test_accuracy"].iloc[0])


def gains(table: Frame, *, of: str, over: tuple[str, ...]) -> list[float]:
    """Return by how much a schedule's accuracy exceeds that of each of some others."""
    reached = final_accuracy(table, of)
    return [reached - final_accuracy(table, other) for other in over]


def controlled(over: tuple[str, ...], named: str) -> Scope:
    """Return where claims are decided: exact gradients must gain by a second phase."""
    return CONDENSED.controlled(
        f"a second phase of exact gradients gains a point over {named}",
        at_least(partial(gains, of=THEN_EXACT, over=over), 0.01, "accuracy"),
    )


task = Task(
    "fg2u/abl_two_phase",
    reads=(runs,),
    table=SCHEDULED,
    claims=claims(
        "Section 3.3",
        (
            "two_phases_beat_the_first",
            controlled((FIRST_ALONE,), "the first"),
            more_than(partial(gains, of=TWO_PHASES, over=(FIRST_ALONE,)), 0, "accuracy").measuring(
                "accuracy after both phases less that after the first"
            ),
            "A second phase of (FG)²U improves the images that Hessian-free condensed.",
        ),
    )
    + claims(
        "ours, beside section 3.3",
        (
            "two_phases_beat_equal_steps",
            controlled(EQUAL_STEPS, "as many steps of Hessian-free").asked_by_us(),
            more_than(partial(gains, of=TWO_PHASES, over=EQUAL_STEPS), 0, "accuracy")
            .naming("one step size", "the second phase's smaller step size")
            .measuring("accuracy by two phases less that by Hessian-free alone"),
            "Hessian-free and then (FG)²U give better images than Hessian-free alone in as many"
            " outer steps.",
        ),
    ),
    layout=LAYOUT,
    figure="figures:schedule_panels",
    caption="Test accuracy of fresh nets trained on condensed images, one per class: left against"
    " outer steps, right after the last one; means over seeds, bars: standard error. Dotted: where"
    " a second phase begins, with a smaller outer step. Schedules name methods and their outer"
    " steps; all start from the same noise and see the same nets and batches. (FG)²U has 32"
    " directions unless b says otherwise.",
    alt="Left, curves of test accuracy against outer steps for one and for two phases; right, the"
    " final accuracy of every schedule as a dot with its standard error.",
)
