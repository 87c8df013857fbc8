"""Figures 6 and 20: noise on one group of the parameters of nets trained on ImageNet."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.old import old_task
from harness.declare.task import Task
from reproductions.asymvalley.method.directions import NOISE_GROUPS
from reproductions.asymvalley.models.columns import GROUP_COLUMNS, rows_of
from reproductions.asymvalley.models.scopes import ABOVE_ZERO, identity, one_net_at_zero, trained
from reproductions.asymvalley.valleys.group_noises import experiment
from reproductions.asymvalley.valleys.quantities import (
    excess_over_agreeing,
    kth_group_margin,
    lead_over_others,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

METRICS = {"error": "error", "ce": "cross-entropy"}


def _asymmetric(value: str, where: str) -> Claim:
    return trained(
        f"{value}_asymmetric",
        f"For at least 5 of 6 groups sign-consistent noise is asymmetric in {METRICS[value]}, the"
        " negative side being higher, and more so than raw noise. Measured: the fifth largest over"
        " groups of the smaller of the two margins.",
        form="at_least",
        where=where,
        quantity=partial(kth_group_margin, groups=NOISE_GROUPS, kth=5, value=value),
        bound=ABOVE_ZERO,
        unit="error" if value == "error" else "nats",
    )


def _claims(where: str) -> tuple[Claim, ...]:
    return (
        *(_asymmetric(value, where) for value in METRICS),
        trained(
            "all_in_top_three",
            "Sign-consistent noise on all parameters is among the three most asymmetric of the six"
            " groups, in error. Measured: how far it exceeds the third of the others. Ours; the"
            " paper does not rank groups.",
            form="at_least",
            where=where,
            quantity=partial(lead_over_others, group="all", others=NOISE_GROUPS[1:], rank=3),
            bound=ABOVE_ZERO,
        ),
        identity(
            "signs_agree",
            "In each group sign-consistent Gaussian noise has the sign of the weight at equally"
            " many coordinates in every draw, and raw noise at no more.",
            where=f"{where}: |eps| * sign(theta_f)",
            quantity=partial(
                excess_over_agreeing,
                column="group",
                values=NOISE_GROUPS,
                by=("pair", "seed", "group"),
            ),
            expected=0.0,
            unit="share",
        ),
        one_net_at_zero(where),
    )


def draw(context: FigureContext) -> Figure:
    """Draw error above cross-entropy, one column a group."""
    from reproductions.asymvalley.valleys.figures import group_panels

    return group_panels(context)


def _task(word: str, pair: str, net: str, where: str) -> Task:
    return old_task(
        id=f"asymvalley/{word}",
        title=f"Noise on one group of parameters: the paper's pre-trained {net} on ImageNet",
        reads=(experiment,),
        columns=GROUP_COLUMNS,
        claims=_claims(where),
        view=partial(rows_of, experiment=experiment.id, pairs=(pair,), columns=GROUP_COLUMNS),
        figure=draw,
        caption="Test error (above) and cross-entropy (below) along Gaussian noise on one group of"
        " the parameters alone, raw and with the signs of the weights, scaled to the group's norm:"
        " mean over draws and seeds of the noise, bands reach from the least to the largest of"
        " them. The paper's curves are not published as numbers.",
        alt="Two rows of six panels, one column a parameter group: test error and cross-entropy"
        " against lambda, for raw and for sign-consistent noise.",
    )


fig06 = _task("fig06", "resnext101_imagenet", "ResNeXt101", "Figure 6")
fig20 = _task("fig20", "resnet50_imagenet", "ResNet50", "Figure 20")
tasks = (fig06, fig20)
