"""Figure 11: the line between two nets that were trained on halves of the data, by epoch."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.old import flat_claim, old_task
from reproductions.asymvalley.halves.experiment import experiment
from reproductions.asymvalley.models.paper_numbers import stated
from reproductions.asymvalley.models.scopes import ON_A_CPU, PAPER_ONLY, STRICTLY, identity, trained
from reproductions.asymvalley.recipes.quantities import (
    closest_ssr,
    farthest_end,
    gap_follows_ssr,
    largest_gap_error,
    last_gap,
    least_ssr,
)
from reproductions.asymvalley.recipes.table import HALF_COLUMNS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

WHERE = "Figure 11 and section 6.1"
CSV_DIGITS = 5e-9
"""What four numbers of nine digits may differ by."""

CLAIMS = (
    identity(
        "ends_are_the_nets",
        "The line's ends and middle have the accuracy of A, of B and of their mean, at each epoch.",
        where=WHERE,
        quantity=farthest_end,
        expected=0.0,
        unit="accuracy",
        profiles=ON_A_CPU,
    ),
    identity(
        "gap_of_its_parts",
        "The gap is the accuracy of the mean of both nets less the mean of their accuracies.",
        where=WHERE,
        quantity=largest_gap_error,
        expected=0.0,
        tolerance=CSV_DIGITS,
        unit="accuracy",
    ),
    trained(
        "random_barrier",
        "From a random start, after the last epoch, the mean of both nets is worse than they are"
        " by more than 0.02.",
        form="at_most",
        where=WHERE,
        quantity=partial(last_gap, regime="random"),
        bound=-0.02,
        unit="accuracy",
    ),
    trained(
        "pretrained_no_barrier",
        "From a pre-trained start, after the last epoch, the mean of both nets is at most 0.01"
        " worse than they are.",
        form="at_least",
        where=WHERE,
        quantity=partial(last_gap, regime="pretrained"),
        bound=-0.01,
        unit="accuracy",
    ),
    trained(
        "pretrained_more_consistent",
        "From epoch 5 on, the two nets share more signs from a pre-trained start than from a"
        " random one, at every epoch.",
        form="ordering",
        where=WHERE,
        quantity=closest_ssr,
        bound=STRICTLY,
        unit="share",
    ),
    trained(
        "pretrained_consistent",
        "From a pre-trained start the two nets share at least 0.9 of their signs, at every epoch"
        " from 5 on.",
        form="at_least",
        where=WHERE,
        quantity=partial(least_ssr, regime="pretrained"),
        bound=0.9,
        unit="share",
    ),
    trained(
        "gap_follows_consistency",
        "Gap and share of common signs rise and fall together: their rank correlation over all"
        " epochs of both starts is at least 0.5.",
        form="at_least",
        where=WHERE,
        quantity=gap_follows_ssr,
        bound=0.5,
        unit="correlation",
    ),
    flat_claim(
        id="pretrained_consistent_as_stated",
        statement="On Flowers the two nets share more than 0.95 of their signs, at every epoch from"
        " 5 on.",
        where="Section 6.1",
        form="at_least",
        grade="empirical",
        quantity=partial(least_ssr, regime="pretrained"),
        threshold=0.95,
        threshold_from="paper",
        profiles=("paper",),
        out_of_profile=PAPER_ONLY,
        unit="share",
        paper_value=partial(stated, y_name="same_sign_ratio_above"),
    ),
)


def draw(context: FigureContext) -> Figure:
    """Draw accuracy on the line by epoch, and gap and same-sign ratios against the epoch."""
    from reproductions.asymvalley.recipes.figures import half_line_panels

    return half_line_panels(context)


task = old_task(
    id="asymvalley/fig11",
    title="Line between two half-data nets by epoch: VGG16-BN from a random start on CIFAR-10,"
    " pre-trained ResNet18 on Flowers",
    reads=(experiment,),
    columns=HALF_COLUMNS,
    claims=CLAIMS,
    figure=draw,
    caption="Nets A and B, trained on two halves of the data from one start: random (above) or"
    " pre-trained (below). Left: test accuracy on the line between them, one colour an epoch."
    " Middle: accuracy of the mean of both less their mean accuracy. Right: share of equal signs"
    " between the start (I), A and B. Lines are means over seeds, bands reach to their extremes."
    " The paper's curves are not published as numbers.",
    alt="Two rows of panels, for a random and a pre-trained start: accuracy between two nets by"
    " epoch, the gap at the middle, and same-sign ratios over epochs.",
)
