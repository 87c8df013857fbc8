"""Figure 11: the line between two nets that were trained on halves of the data, by epoch."""

from __future__ import annotations

from functools import partial

from harness.declare import (
    Scope,
    Table,
    Task,
    at_least,
    at_most,
    claims,
    columns_of,
    equal,
    param,
    value,
)
from reproductions.asymvalley.halves import quantities as q
from reproductions.asymvalley.halves.experiment import KEPT_EPOCHS, REGIMES, Halves, half_lines
from reproductions.asymvalley.models.columns import SEED
from reproductions.asymvalley.models.controls import ON_A_CPU, STATED, TRAINED
from reproductions.asymvalley.models.curves import stated

LATE_EPOCHS = [e for e in map(int, KEPT_EPOCHS["paper"].split()) if e >= q.FIRST_EPOCH]
HALVES = Table.of(
    columns_of(Halves, "regime"),
    param(
        "part",
        str,
        "line (accuracy on the line through both), epoch (what is one number per epoch).",
    ),
    param("epoch", int, "Epochs trained on each half."),
    param("x", float, "l of (1 - l) * A + l * B, in [0, 1]; 0 for an epoch."),
    SEED,
    (
        value(name, float, doc, nullable=True)
        for name, doc in (
            ("accuracy", "Share of right test predictions; empty for an epoch."),
            ("accuracy_a", "The same for net A; empty for a line."),
            ("accuracy_b", "The same for net B; empty for a line."),
            ("accuracy_mid", "The same for the mean of both nets; empty for a line."),
            ("gap", "accuracy_mid - (accuracy_a + accuracy_b) / 2; empty for a line."),
            ("ssr_ia", "Share of coordinates with equal signs in start and A; empty for a line."),
            ("ssr_ib", "The same of start and B; empty for a line."),
            ("ssr_ab", "The same of A and B; empty for a line."),
        )
    ),
)
LEAST_ACCURACY = {"random": 0.55, "pretrained": 0.25}
"""Of ten classes from a random start, and of a hundred from a pre-trained one: set before the
run."""


def learned(regime: str) -> Scope:
    """Return the scope of a claim on nets of one start, which must have learned something."""
    bound, start = LEAST_ACCURACY[regime], REGIMES[regime]
    return TRAINED.controlled(
        f"models from a {start} are right on at least {100 * bound:.0f} % of the test images",
        at_least(partial(q.last_accuracies, bounds={regime: bound}), 0, "accuracy"),
    )


task = Task(
    "asymvalley/fig11",
    reads=(half_lines,),
    table=HALVES,
    claims=claims(
        "Figure 11 and section 6.1",
        (
            "ends_are_the_nets",
            ON_A_CPU,
            equal(q.farthest_end, 0, "accuracy"),
            "At each epoch the line's ends and middle have the accuracy of A, of B and of their"
            " mean.",
        ),
        (
            "random_start_has_barrier",
            learned("random"),
            at_most(partial(q.last_gap, regime="random"), -0.02, "accuracy").measuring(
                "accuracy of the mean of both models less their mean accuracy"
            ),
            "Averaging two models that were trained on halves of the data from a random start"
            " loses accuracy.",
        ),
        (
            "pretrained_start_has_no_barrier",
            learned("pretrained"),
            at_least(partial(q.last_gap, regime="pretrained"), -0.01, "accuracy").measuring(
                "accuracy of the mean of both models less their mean accuracy"
            ),
            "Averaging two models that were fine-tuned on halves of the data from one pre-trained"
            " model loses no accuracy.",
        ),
        (
            "averages_gain_from_shared_signs",
            learned("random"),
            at_least(partial(q.gap_follows_ssr, regime="random"), 0.5, "correlation").measuring(
                "of ranks, over the epochs"
            ),
            "While two models train from a random start they share fewer and fewer signs, and their"
            " average falls behind them.",
        ),
    )
    + claims(
        "Section 6.1",
        (
            "pretrained_models_share_signs",
            STATED,
            at_least(
                partial(q.late_ssr, regime="pretrained"),
                0.95,
                "share",
                paper_value=partial(stated, y_name="same_sign_ratio_above"),
            ).naming(*(f"epoch {epoch}" for epoch in LATE_EPOCHS)),
            "Two models that were fine-tuned from one pre-trained model share more than 95 % of"
            " their signs.",
        ),
    ),
    figure="figures:half_line_panels",
    caption="Nets A and B, trained on two halves of the data from one start: random (above) or"
    " pre-trained (below). Left: test accuracy on the line between them, one colour per epoch."
    " Middle: accuracy of the mean of both nets less their mean accuracy. Right: share of equal"
    " signs between the start (I), A and B. Lines are means over seeds; bands reach to the"
    " extremes.",
    alt="Two rows of panels, for a random and a pre-trained start: accuracy between two nets by"
    " epoch, the gap at the middle, and same-sign ratios over epochs.",
)
