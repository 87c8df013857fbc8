"""What directions buy: the error of (FG)2U by their number, beside methods that are biased."""

from __future__ import annotations

from functools import partial

from harness.declare import CPU, Task, by_theory, claims, monotone, ordering, ours, within
from reproductions.fg2u.sampling import quantities as q
from reproductions.fg2u.sampling import table
from reproductions.fg2u.sampling.experiment import (
    GAUSSIAN,
    RADEMACHER,
    ZERO_ORDER,
    samples,
)

ELSEWHERE = "it needs thousands of draws, which no GPU makes truer"
SLOPE = by_theory(profiles=CPU, elsewhere=ELSEWHERE)
OURS = ours("DEV-04", profiles=CPU, elsewhere=ELSEWHERE)
TRUNCATED = ("trgu-2", "trgu-5", "trgu-10")
FREE_AND_TRUNCATED = ("hessian-free", "trgu-5")

task = Task(
    "fg2u/abl_directions",
    reads=(samples,),
    table=table.COMPARED,
    claims=claims(
        "Lemma 3.1 and appendix D",
        (
            "error_falls_like_the_root",
            SLOPE,
            within(
                partial(q.error_slopes, methods=(RADEMACHER, GAUSSIAN)), -0.6, -0.4, "slope"
            ).naming("Rademacher", "Gaussian"),
            "The error of (FG)2U falls like one over the root of b: the slope of its logarithm in"
            " log b is -0.5, to 0.1.",
        ),
        (
            "zo_error_falls_like_the_root",
            SLOPE,
            within(partial(q.error_slopes, methods=(ZERO_ORDER,)), -0.6, -0.4, "slope"),
            "The error of (FG)2U-ZO, forward differences along Gaussian directions, falls like one"
            " over the root of b: the slope of its logarithm in log b is -0.5, to 0.1.",
        ),
    )
    + claims(
        "ours, beside Lemma 3.1 and appendix B",
        (
            "cosine_as_predicted",
            OURS.asked_by_us(),
            within(q.cosine_ratios, 0.95, 1.05, "ratio").naming(*q.NAMES_OF_STEPS),
            "With Rademacher directions the root mean square of the cosine with the exact gradient"
            " is within 5 % of sqrt(b / (b + N - 1)), for every b from 1 to 256.",
        ),
        (
            "truncation_costs_direction",
            OURS.asked_by_us(),
            monotone(partial(q.cosines, methods=TRUNCATED), "cosine").naming(
                "5 steps - 2 steps", "10 steps - 5 steps"
            ),
            "The more of 20 inner steps TRGU keeps (2, 5, 10), the better its direction: its cosine"
            " with the exact gradient grows.",
        ),
        (
            "hessian_free_below_truncation",
            OURS.asked_by_us(),
            ordering(partial(q.cosines, methods=FREE_AND_TRUNCATED), "cosine", strict=True),
            "Hessian-free's cosine with the exact gradient is below that of TRGU with 5 of 20"
            " steps.",
        ),
    ),
    figure="figures:cosine_panels",
    caption="Cosine with the exact gradient: (FG)2U with Rademacher directions (filled; line:"
    " sqrt(b / (b + N - 1))), and biased methods, which have no b. Above an inner problem of 20"
    " steps, below of 80; left against the number of directions, right against the time of an"
    " estimate, all directions at once on one core. 160 meta variables: one image of 16 pixels per"
    " class. Marks are means over seeds, bars their standard error. The paper prints no such"
    " figure.",
    alt="Four panels of cosine with the exact gradient: (FG)2U rises with the number of directions"
    " and with time, biased methods stand as horizontal lines and as single points.",
)
