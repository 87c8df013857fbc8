"""Figure 28: which hidden units stay on or off under sign-consistent noise."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.old import old_task
from reproductions.asymvalley.activations.experiment import experiment
from reproductions.asymvalley.models.scopes import ON_A_CPU, STRICTLY, identity, trained
from reproductions.asymvalley.starts.quantities import (
    farthest_sum,
    switched_at_centre,
    tightest_agreement,
)
from reproductions.asymvalley.starts.table import ACTIVATION_COLUMNS, of_pair

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

WHERE = "Figure 28 and appendix D.2"

CLAIMS = (
    identity(
        "shares_sum_to_one",
        "A unit is on or off before and after: the four shares sum to 1 at every lambda.",
        where=WHERE,
        quantity=farthest_sum,
        expected=1.0,
        tolerance=1e-6,
        unit="share",
    ),
    identity(
        "none_switches_at_centre",
        "At lambda = 0 no unit switches: the agreement is exactly 1.",
        where=WHERE,
        quantity=switched_at_centre,
        expected=0.0,
        unit="share",
        profiles=ON_A_CPU,
    ),
    trained(
        "agreement_larger_on_positive_side",
        "More hidden units keep their state at +a than at -a, for each a of 0.2, 0.4, 0.6, 0.8"
        " and 1.",
        form="ordering",
        where=WHERE,
        quantity=tightest_agreement,
        bound=STRICTLY,
        unit="share",
    ),
)


def draw(context: FigureContext) -> Figure:
    """Draw the four shares against lambda, and the matrices at a few."""
    from reproductions.asymvalley.activations.figures import activation_panels

    return activation_panels(context)


task = old_task(
    id="asymvalley/fig28",
    title="Hidden units on and off under sign-consistent noise: ResNet20 on SVHN",
    reads=(experiment,),
    columns=ACTIVATION_COLUMNS,
    claims=CLAIMS,
    view=partial(
        of_pair, experiment=experiment.id, pair="resnet20_svhn", columns=ACTIVATION_COLUMNS
    ),
    figure=draw,
    caption="Hidden units that are on or off for the trained net and for the net with"
    " sign-consistent G(0,1) noise, norm-scaled with s = 1. Above: agreement (line: mean over"
    " seeds and draws, band to their extremes) and mean shares, stacked. Below: the same shares as"
    " matrices, darker where more. The paper's matrices are not published as numbers.",
    alt="Agreement of hidden units against lambda, a stack of the four shares of unit states, and"
    " five two-by-two matrices of these shares.",
)
