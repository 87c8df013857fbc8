"""What directions buy: the error of (FG)2U by their number, beside methods that are biased."""

from functools import partial

from harness.declare import CPU, Task, by_theory, claims, monotone, ours, within
from reproductions.fg2u.sampling import quantities as q
from reproductions.fg2u.sampling import table
from reproductions.fg2u.sampling.experiment import (
    GAUSSIAN,
    RADEMACHER,
    ZERO_ORDER,
    samples,
)

ELSEWHERE = "only `cpu` takes enough draws"
SLOPE = by_theory(profiles=CPU, elsewhere=ELSEWHERE)
OURS = ours("DEV-04", profiles=CPU, elsewhere=ELSEWHERE)
TRUNCATED = ("trgu-2", "trgu-5", "trgu-10")

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
                partial(q.error_slopes, methods=(RADEMACHER, GAUSSIAN, ZERO_ORDER)),
                -0.6,
                -0.4,
                "slope",
            )
            .naming("Rademacher", "Gaussian", "(FG)²U-ZO")
            .measuring("slope of log error in log b"),
            "The error of (FG)²U and (FG)²U-ZO falls like one over the root of the number of"
            " directions.",
        ),
    )
    + claims(
        "ours, beside appendix B",
        (
            "truncation_costs_direction",
            OURS.asked_by_us(),
            monotone(partial(q.cosines, methods=TRUNCATED), "cosine").naming(
                "5 against 2 steps", "10 against 5 steps"
            ),
            "The more inner steps TRGU keeps, the better it points along the exact gradient.",
        ),
    ),
    figure="figures:cosine_panels",
    caption="Cosine with the exact gradient: (FG)²U with Rademacher directions (line: sqrt(b / (b +"
    " N - 1))), and biased methods, which have no b. Above an inner problem of 20 steps, below of"
    " 80; left against the number of directions b, right against the time of an estimate, all"
    " directions at once on one core. N is 160. Means over seeds, bars: standard error.",
    alt="Four panels of cosine with the exact gradient: (FG)2U rises with the number of directions"
    " and with time, biased methods stand as horizontal lines and as single points.",
)
