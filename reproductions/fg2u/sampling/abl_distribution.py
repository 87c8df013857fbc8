"""How noisy (FG)2U is by the distribution of its directions: Lemma 3.1 and its companions."""

from harness.declare import (
    CPU,
    SMALL_CHECK,
    Task,
    at_most,
    by_theory,
    claims,
    equal,
    within,
)
from reproductions.fg2u.sampling import quantities as q
from reproductions.fg2u.sampling import table
from reproductions.fg2u.sampling.experiment import samples

SAMPLED = by_theory(profiles=CPU, elsewhere="only `cpu` takes enough draws")

task = Task(
    "fg2u/abl_distribution",
    reads=(samples,),
    table=table.DISTRIBUTIONS,
    claims=claims(
        "Eqs. 8 and 9",
        (
            "coordinates_have_their_error",
            SMALL_CHECK,
            equal(q.coordinate_gap, 0, "relative gap", tolerance=1e-10),
            "Along b of N coordinates the square error is N/b - 1 times the gradient's square.",
        ),
        (
            "coordinates_have_no_bias",
            SMALL_CHECK,
            at_most(q.coordinate_mean, 1e-10, "relative error"),
            "The mean over all coordinates is the exact gradient.",
        ),
    )
    + claims(
        "Lemma 3.1",
        (
            "square_error_as_predicted",
            SAMPLED,
            within(q.square_ratios, 0.85, 1.15, "ratio")
            .naming("Rademacher", "Gaussian")
            .measuring("square error over its closed form"),
            "The mean square error of one direction is N - 1 times the gradient's square, with"
            " Gaussian directions N + 1 times.",
        ),
    ),
    figure="figures:error_panels",
    caption="Root mean square error of (FG)²U over the gradient's norm against the number of"
    " directions b, for 10 and 160 meta variables N. Marks: means over seeds, bars: standard error;"
    " lines: closed forms. Drawn from 2,048 directions of each kind in disjoint groups.",
    alt="Two log-log panels of error against the number of directions: three kinds of directions"
    " fall along their closed forms, coordinates below the others as b comes near N.",
)
