"""Figure 4: mean error of both sides of a valley against the share of signs made consistent."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.old import old_task
from reproductions.asymvalley.models.columns import RATIO_COLUMNS, rows_of
from reproductions.asymvalley.models.scopes import identity, one_net_at_zero, trained
from reproductions.asymvalley.valleys.quantities import (
    excess_over_agreeing,
    gap_at_start,
    ratio_spearman,
)
from reproductions.asymvalley.valleys.sign_ratios import experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

WHERE = "Figure 4"
NETS = {"vgg16_cifar10": "VGG16 with BN on CIFAR-10", "resnet20_svhn": "ResNet20 on SVHN"}


def _of_net(pair: str) -> tuple[Claim, ...]:
    name, net = pair.split("_")[0], NETS[pair]
    return (
        trained(
            f"{name}_plus_falls",
            f"{net}: the mean error of the positive side falls as more of the noise's signs are"
            " made those of the weights, in rank correlation with their share.",
            form="at_most",
            where=WHERE,
            quantity=partial(ratio_spearman, pair=pair, side="plus"),
            bound=-0.9,
            unit="rank correlation",
            threshold_from="calibration",
        ),
        trained(
            f"{name}_minus_rises",
            f"{net}: the mean error of the negative side rises as more of the noise's signs are"
            " made those of the weights, in rank correlation with their share.",
            form="at_least",
            where=WHERE,
            quantity=partial(ratio_spearman, pair=pair, side="minus"),
            bound=0.6,
            unit="rank correlation",
            threshold_from="calibration",
        ),
        trained(
            f"{name}_starts_equal",
            f"{net}: without changed signs both sides have nearly one mean error: they differ by"
            " at most 0.25 of the asymmetry with all signs changed.",
            form="at_most",
            where=WHERE,
            quantity=partial(gap_at_start, pair=pair),
            bound=0.25,
            unit="share",
            threshold_from="calibration",
        ),
    )


CLAIMS = (
    *(claim for pair in NETS for claim in _of_net(pair)),
    identity(
        "signs_agree",
        "At no ratio does a draw have the sign of the weight at more coordinates than at ratio 1.",
        where=f"{WHERE}: |eps| * sign(theta_f)",
        quantity=partial(
            excess_over_agreeing,
            column="ratio",
            values=(1.0,),
            by=("pair", "seed", "draw"),
        ),
        expected=0.0,
        unit="share",
    ),
    one_net_at_zero(WHERE),
)


def draw(context: FigureContext) -> Figure:
    """Draw one panel a net, with one line a side."""
    from reproductions.asymvalley.valleys.figures import ratio_panels

    return ratio_panels(context, titles=NETS)


fig04 = old_task(
    id="asymvalley/fig04",
    title="Both sides of a valley against the sign-change ratio: the paper's VGG16 with BN on"
    " CIFAR-10 and ResNet20 on SVHN",
    reads=(experiment,),
    columns=RATIO_COLUMNS,
    claims=CLAIMS,
    view=partial(rows_of, experiment=experiment.id, pairs=tuple(NETS), columns=RATIO_COLUMNS),
    figure=draw,
    caption="Mean test error of the positive and of the negative side of the valley along"
    " norm-scaled Gaussian noise, against the share of coordinates that were given the sign of"
    " their weight: mean over draws and seeds, bands reach from the least to the largest of them."
    " The paper's curves are not published as numbers.",
    alt="Two panels, one a net, of mean test error against sign-change ratio, with one line for"
    " the positive and one for the negative side.",
)
tasks = (fig04,)
