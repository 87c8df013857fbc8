"""Which step the differences of (FG)2U-ZO should take, by scheme and precision."""

from __future__ import annotations

from functools import partial

from harness.declare import (
    CPU,
    SMALL_CHECK,
    Criterion,
    Table,
    Task,
    at_most,
    claims,
    columns_of,
    ours,
    param,
    value,
    within,
)
from reproductions.fg2u.differences import quantities as q
from reproductions.fg2u.differences.experiment import (
    NUM_SEEDS,
    ONE,
    TEN,
    Steps,
    differences,
)

OURS = ours("DEV-06", profiles=CPU, elsewhere="only `cpu` tries both precisions")

PRECISIONS = ("single", "double")
"""In words, as `quantities.DTYPES` has them."""


def order(scheme: str, expected: int, slack: float, lowest: float, directions: str) -> Criterion:
    """Return the criterion that the error falls with a power of mu, down from 0.1."""
    num_meta = ONE if directions == "gauss-grid" else TEN
    slopes = partial(
        q.truncation_slopes, scheme=scheme, lowest=lowest, num_meta=num_meta, directions=directions
    )
    criterion = within(slopes, expected - slack, expected + slack, "slope")
    return criterion.naming(*(f"seed {index + 1} of {NUM_SEEDS}" for index in range(NUM_SEEDS)))


task = Task(
    "fg2u/abl_mu",
    reads=(differences,),
    table=Table.of(
        columns_of(Steps, "num_meta", "dtype", "num_steps"),
        param("scheme", str, "forward, eq. 16; or central."),
        param("directions", str, "Kind of directions."),
        param("log10_mu", float, "Decimal logarithm of the step mu."),
        columns_of(Steps, "seed"),
        value("num_directions", int, "b."),
        value(
            "relative_error",
            float,
            "|estimate - e| over |e|, e being the estimate of exact slopes along the same"
            " directions.",
        ),
        value(
            "gradient_error",
            float,
            "|estimate - g| over |g|, g being the exact gradient: the noise of directions too.",
        ),
    ),
    claims=claims(
        "Eq. 16",
        (
            "forward_is_first_order",
            SMALL_CHECK,
            order("forward", 1, 0.1, -5.0, "rademacher"),
            "The error of forward differences falls like mu.",
        ),
        (
            "central_is_second_order",
            SMALL_CHECK,
            order("central", 2, 0.2, -4.0, "rademacher"),
            "The error of central differences falls like mu squared.",
        ),
        (
            "grid_makes_forward_second_order",
            SMALL_CHECK,
            order("forward", 2, 0.2, -4.0, "gauss-grid"),
            "Over the released code's symmetric nodes forward differences err like mu squared.",
        ),
        (
            "grid_is_near_the_gradient",
            SMALL_CHECK,
            at_most(partial(q.grid_error, exponent=-4.0), 1e-3, "relative error"),
            "With the paper's step of 1e-4 central differences over those nodes come near the exact"
            " gradient.",
        ),
    )
    + claims(
        "ours, beside eq. 16",
        (
            "rounding_grows_below_best_step",
            OURS.asked_by_us(),
            within(q.rounding_slopes, -1.2, -0.8, "slope")
            .naming(*(f"{scheme}, {word}" for word in PRECISIONS for scheme in q.SCHEMES))
            .measuring("slope of log error in log mu"),
            "At small steps rounding takes over, and the error grows like 1/mu.",
        ),
    ),
    figure="figures:step_panels",
    caption="Error of (FG)²U-ZO against the step mu of its differences. Left: ten learned step"
    " sizes and eight directions, against exact slopes along them. Right: one learned step size, in"
    " double precision, against the exact gradient: one direction, and the released code's twelve"
    " nodes, whose own error is the floor. Dotted: the paper's step. Means over seeds, bars:"
    " standard error.",
    alt="Two log-log panels of error against mu: errors fall with mu, forward ones by one power and"
    " central ones by two, and rise again where rounding takes over, earlier in single precision.",
)
