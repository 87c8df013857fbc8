"""Which step the differences of (FG)2U-ZO should take, by scheme and precision."""

from __future__ import annotations

from functools import partial

from harness.declare import (
    CHECK,
    CPU,
    SMOKE_AND_CPU,
    Criterion,
    Table,
    Task,
    at_most,
    claims,
    columns_of,
    less_than,
    ours,
    param,
    value,
    within,
)
from reproductions.fg2u.differences import quantities as q
from reproductions.fg2u.differences.experiment import (
    ONE,
    SEEDS,
    TEN,
    Dtype,
    Steps,
    differences,
)

EXACT = CHECK.at(*SMOKE_AND_CPU)
OURS = ours("DEV-06", profiles=CPU, elsewhere="rounding is decided in two precisions at `cpu`")

WORDS: dict[str, Dtype] = {"single": "float32", "double": "float64"}


def order(scheme: str, expected: int, slack: float, lowest: float, directions: str) -> Criterion:
    """Return the criterion that the error falls with a power of mu, down from 0.1."""
    num_meta = ONE if directions == "gauss-grid" else TEN
    slopes = partial(
        q.truncation_slopes, scheme=scheme, lowest=lowest, num_meta=num_meta, directions=directions
    )
    criterion = within(slopes, expected - slack, expected + slack, "slope")
    return criterion.naming(*(f"seed {index + 1} of {len(SEEDS)}" for index in range(len(SEEDS))))


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
            EXACT,
            order("forward", 1, 0.1, -5.0, "rademacher"),
            "The error of forward differences falls like mu, from 0.1 to 1e-5 in double precision:"
            " a slope of 1, to 0.1.",
        ),
        (
            "central_is_second_order",
            EXACT,
            order("central", 2, 0.2, -4.0, "rademacher"),
            "That of central differences falls like mu squared, from 0.1 to 1e-4: a slope of 2, to"
            " 0.2.",
        ),
        (
            "grid_makes_forward_second_order",
            EXACT,
            order("forward", 2, 0.2, -4.0, "gauss-grid"),
            "Summed over the released code's grid, forward differences err like mu squared: its"
            " nodes are symmetric, and first orders cancel (a slope of 2, to 0.2).",
        ),
        (
            "grid_is_near_the_gradient",
            EXACT,
            at_most(partial(q.grid_error, exponent=-4.0), 1e-3, "relative error"),
            "At the paper's step of 1e-4 central differences on that grid are within 1e-3 of the"
            " exact gradient.",
        ),
    )
    + claims(
        "ours, beside eq. 16",
        *(
            (
                f"rounding_grows_in_{word}",
                OURS.asked_by_us(),
                within(partial(q.rounding_slopes, dtype=dtype), -1.2, -0.8, "slope").naming(
                    *q.SCHEMES
                ),
                f"In {word} precision rounding takes over below the root of the machine's epsilon,"
                " and the error grows like 1/mu: a slope of -1, to 0.2.",
            )
            for word, dtype in WORDS.items()
        ),
        (
            "central_gets_nearer",
            OURS.asked_by_us(),
            less_than(q.least_error_ratios, 1, "ratio").naming(*q.DTYPES),
            "Each at its best step, central differences err less than forward ones.",
        ),
    ),
    figure="figures:step_panels",
    caption="Error of (FG)2U-ZO against the step mu of its differences. Left: ten learned step"
    " sizes and eight Rademacher directions, against exact slopes along the same directions."
    " Right: one learned step size, in double precision and against the exact gradient: one"
    " direction, and the twelve nodes of the released code, whose own error is the floor. Dotted:"
    " the paper's step, 1e-4. An inner run of ten steps on digits; marks: mean over seeds, bars:"
    " standard error. The paper prints no such figure.",
    alt="Two log-log panels of error against mu: errors fall with mu, forward ones by one power and"
    " central ones by two, and rise again where rounding takes over, earlier in single precision.",
)
