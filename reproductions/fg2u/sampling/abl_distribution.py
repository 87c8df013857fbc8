"""How noisy (FG)2U is by the distribution of its directions: Lemma 3.1 and its companions."""

from __future__ import annotations

from harness.declare import (
    CHECK,
    CPU,
    SMOKE_AND_CPU,
    Task,
    at_least,
    at_most,
    by_theory,
    claims,
    equal,
    ordering,
    within,
)
from reproductions.fg2u.sampling import quantities as q
from reproductions.fg2u.sampling import table
from reproductions.fg2u.sampling.experiment import samples

EXACT = CHECK.at(*SMOKE_AND_CPU)
SAMPLED = by_theory(profiles=CPU, elsewhere="it needs thousands of draws, which no GPU makes truer")
KINDS = ("Rademacher", "Gaussian")

task = Task(
    "fg2u/abl_distribution",
    reads=(samples,),
    table=table.DISTRIBUTIONS,
    claims=claims(
        "Eqs. 8 and 9",
        (
            "coordinates_have_their_error",
            EXACT,
            equal(q.coordinate_gap, 0, "relative gap", tolerance=1e-10),
            "Over groups that cut a permutation of the coordinates evenly, the mean square error is"
            " N/b - 1 times the gradient's, to 1e-10.",
        ),
        (
            "coordinates_have_no_bias",
            EXACT,
            at_most(q.coordinate_mean, 1e-10, "relative error"),
            "The mean over whole permutations of the coordinates is the exact gradient, to 1e-10.",
        ),
        (
            "no_estimate_points_away",
            EXACT,
            at_least(q.least_cosine, 0, "cosine"),
            "No estimate points away from the gradient: its product with it is a mean of squares"
            " (least cosine).",
        ),
    )
    + claims(
        "Lemma 3.1",
        (
            "mean_is_the_gradient",
            SAMPLED,
            at_most(q.mean_errors, 3, "sqrt((N-1)/K)").naming(*KINDS),
            "The mean of K = 2,048 estimates of one direction is off the gradient by at most 3"
            " sqrt((N-1)/K) of its norm.",
        ),
        (
            "square_error_as_predicted",
            SAMPLED,
            within(q.square_ratios, 0.85, 1.15, "ratio").naming(*KINDS),
            "The mean square error of one direction is within 15 % of N-1 times the gradient's"
            " square with Rademacher directions, and of N+1 with Gaussian ones.",
        ),
    )
    + claims(
        "ours, beside Lemma 3.1",
        (
            "kinds_are_ordered",
            SAMPLED.asked_by_us(),
            ordering(q.few_squares, "of the gradient's square", strict=True).naming(
                "Rademacher - coordinates", "Gaussian - Rademacher"
            ),
            "With 10 meta variables and 8 directions coordinates without replacement err least and"
            " Gaussian directions most.",
        ),
    ),
    figure="figures:error_panels",
    caption="Root mean square error of (FG)2U over the gradient's norm against the number of"
    " directions b, for 10 and 160 meta variables N. Marks: mean over seeds, bars their standard"
    " error (mostly smaller than the marks); lines: closed forms. One image per class of 1 and 16"
    " pixels trains a small net on digits for 20 steps; 2,048 directions of each kind in disjoint"
    " groups. The paper prints no such figure.",
    alt="Two log-log panels of error against the number of directions: three kinds of directions"
    " fall along their closed forms, coordinates below the others as b comes near N.",
)
