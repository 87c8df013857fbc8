"""Figure 11: the line between two nets that were trained on halves of the data, by epoch."""

from __future__ import annotations

from functools import partial

from harness.declare import (
    CHECK,
    Table,
    Task,
    at_least,
    at_most,
    claims,
    columns_of,
    equal,
    more_than,
    param,
    value,
)
from reproductions.asymvalley.halves import quantities as q
from reproductions.asymvalley.halves.experiment import Halves, half_lines
from reproductions.asymvalley.models.columns import SEED
from reproductions.asymvalley.models.curves import stated
from reproductions.asymvalley.models.scopes import ON_A_CPU, STATED, TRAINED

WHERE = "Figure 11 and section 6.1"
CSV_DIGITS = 5e-9
"""What four numbers of nine digits may differ by."""
SHARED_SIGNS = partial(q.late_ssr, regime="pretrained")
LATE_EPOCHS = ("epoch 5", "epoch 10")
"""Those of `cpu`."""
UNLIKE = " The two starts differ in net, data and learning rate, too."
HARDLY_TRAINED = " At `cpu` they are right on fewer than a tenth of the test images."
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

task = Task(
    "asymvalley/fig11",
    reads=(half_lines,),
    table=HALVES,
    claims=claims(
        WHERE,
        (
            "ends_are_the_nets",
            ON_A_CPU,
            equal(q.farthest_end, 0, "accuracy"),
            "The line's ends and middle have the accuracy of A, of B and of their mean, at each"
            " epoch.",
        ),
        (
            "gap_of_its_parts",
            CHECK,
            equal(q.largest_gap_error, 0, "accuracy", tolerance=CSV_DIGITS),
            "The gap is the accuracy of the mean of both nets less the mean of their accuracies.",
        ),
        (
            "random_barrier",
            TRAINED,
            at_most(partial(q.last_gap, regime="random"), -0.02, "accuracy"),
            "From a random start, VGG16 on CIFAR-10, after the last epoch, the mean of both nets is"
            " worse than they are by more than 0.02.",
        ),
        (
            "pretrained_no_barrier",
            TRAINED,
            at_least(partial(q.last_gap, regime="pretrained"), -0.01, "accuracy").measuring(
                "accuracy of the nets' mean less the mean of their accuracies"
            ),
            "From a pre-trained ResNet18 on Flowers, after the last epoch, the mean of both nets is"
            f" at most 0.01 worse than they are.{HARDLY_TRAINED}",
        ),
        (
            "pretrained_more_consistent",
            TRAINED,
            more_than(q.ssr_gains, 0, "share").naming(*LATE_EPOCHS),
            "From epoch 5 on, the two nets share more signs from a pre-trained start than from a"
            f" random one, at every epoch.{UNLIKE}",
        ),
        (
            "pretrained_consistent",
            TRAINED,
            at_least(SHARED_SIGNS, 0.9, "share").naming(*LATE_EPOCHS),
            "From a pre-trained ResNet18 on Flowers the two nets share at least 0.9 of their signs,"
            f" at every epoch from 5 on.{HARDLY_TRAINED}",
        ),
        (
            "gap_follows_consistency",
            TRAINED,
            at_least(q.gap_follows_ssr, 0.5, "correlation"),
            "Gap and share of common signs rise and fall together: their rank correlation over all"
            " epochs of both starts is at least 0.5.",
        ),
    )
    + claims(
        "Section 6.1",
        (
            "pretrained_consistent_as_stated",
            STATED,
            at_least(
                SHARED_SIGNS,
                0.95,
                "share",
                paper_value=partial(stated, y_name="same_sign_ratio_above"),
            ),
            "From a pre-trained ResNet18 on Flowers the two nets share more than 0.95 of their"
            " signs, at every epoch from 5 on.",
        ),
    ),
    figure="figures:half_line_panels",
    caption="Nets A and B, trained on two halves of the data from one start: random (above) or"
    " pre-trained (below). Left: test accuracy on the line between them, one colour per epoch."
    " Middle: accuracy of the mean of both less their mean accuracy. Right: share of equal signs"
    " between the start (I), A and B. Lines are means over seeds, bands reach to their extremes."
    " The paper's curves are not published as numbers.",
    alt="Two rows of panels, for a random and a pre-trained start: accuracy between two nets by"
    " epoch, the gap at the middle, and same-sign ratios over epochs.",
)
