"""Figures 5 and 16 to 19: valleys along six directions that are made of the weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.old import old_task
from harness.declare.task import Task
from reproductions.asymvalley.models.columns import DIRECTION_COLUMNS, rows_of
from reproductions.asymvalley.models.scopes import (
    ABOVE_ZERO,
    PAPER_ONLY,
    STRICTLY,
    identity,
    one_net_at_zero,
    trained,
)
from reproductions.asymvalley.valleys.quantities import (
    consistency_spearman,
    direction_asymmetry,
    direction_of_pairs,
    direction_share,
    excess_over_agreeing,
)
from reproductions.asymvalley.valleys.special_directions import experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

TWIN = "vgg16nobn_cifar10"
PHRASES = {
    "theta_0": "the initial weights",
    "theta_f": "the converged weights themselves",
    "sign": "the signs of the weights",
    "sign_centred": "the signs of the weights less their mean per tensor",
    "sgp": "the positive part of the signs (1 where a weight is positive, else 0)",
    "sgp_centred": "the positive part of the signs of the weights less their mean per tensor",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """One of the five figures."""

    word: str
    pair: str
    net: str
    """Net and data as the paper names them."""
    where: str
    twin: str = ""
    """The same net without batch normalization, where the table has it."""


def _asymmetric(panel: Panel, direction: str) -> Claim:
    end = " At lambda = -1 all weights are zero." if direction == "theta_f" else ""
    return trained(
        f"{direction}_asymmetric",
        f"The valley along {PHRASES[direction]} is asymmetric: at s = 1 the negative side's mean"
        f" error exceeds the positive side's by at least 0.05.{end}",
        form="at_least",
        where=panel.where,
        quantity=partial(direction_asymmetry, pair=panel.pair, direction=direction),
        bound=0.05,
        threshold_from="calibration",
    )


def _less_asymmetric(panel: Panel, direction: str) -> Claim:
    return trained(
        f"{direction}_nearly_symmetric",
        f"The valley along {PHRASES[direction]} is nearly symmetric: at s = 1 its asymmetry is at"
        " most half of that along the signs of the weights in size.",
        form="at_most",
        where=panel.where,
        quantity=partial(direction_share, pair=panel.pair, direction=direction),
        bound=0.5,
        unit="share",
        threshold_from="calibration",
    )


def _start_with_batch_norm(panel: Panel) -> Claim:
    return trained(
        "theta_0_by_batch_norm",
        "The valley along the initial weights is more asymmetric with batch normalization, whose"
        " weights start at 1, than without, at s = 1.",
        form="ordering",
        where=panel.where,
        quantity=partial(direction_of_pairs, pairs=(panel.twin, panel.pair), direction="theta_0"),
        bound=STRICTLY,
        threshold_from="calibration",
    )


def _start_symmetric(panel: Panel) -> Claim:
    return trained(
        "theta_0_symmetric",
        "Without batch normalization the valley along the initial weights is symmetric: at s = 1"
        " its asymmetry is at most a quarter of that along the signs of the weights in size.",
        form="at_most",
        where=panel.where,
        quantity=partial(direction_share, pair=panel.pair, direction="theta_0"),
        bound=0.25,
        unit="share",
        profiles=("paper",),
        out_of_profile=f"{PAPER_ONLY}: short training keeps the signs of the start",
    )


def _follows_consistency(panel: Panel) -> Claim:
    return trained(
        "asymmetry_follows_signs",
        "Over the six directions asymmetry grows with the share of coordinates that agree in sign"
        " with the weights: their rank correlation is positive.",
        form="at_least",
        where=panel.where,
        quantity=partial(consistency_spearman, pair=panel.pair),
        bound=ABOVE_ZERO,
        unit="rank correlation",
    )


def _identities(panel: Panel) -> tuple[Claim, ...]:
    # Units that never fire leave weights at exactly zero, which agree with nothing.
    agree = identity(
        "signs_agree",
        "The converged weights, and their signs, agree with the weights in sign at equally many"
        " coordinates, and no other direction at more.",
        where=f"{panel.where}: theta_f and sign(theta_f)",
        quantity=partial(excess_over_agreeing, column="direction", values=("theta_f", "sign")),
        expected=0.0,
        unit="share",
    )
    return (agree, one_net_at_zero(panel.where))


def draw(context: FigureContext, *, pair: str, twin: str) -> Figure:
    """Draw one panel a direction."""
    from reproductions.asymvalley.valleys.figures import direction_panels

    return direction_panels(context, pair=pair, twin=twin)


def _task(panel: Panel, *more: Claim) -> Task:
    asymmetric = (_asymmetric(panel, name) for name in ("theta_f", "sign", "sign_centred"))
    dashed = " Dashed: the same net without batch normalization, at s = 1." if panel.twin else ""
    return old_task(
        id=f"asymvalley/{panel.word}",
        title=f"Six special directions: the paper's {panel.net}",
        reads=(experiment,),
        columns=DIRECTION_COLUMNS,
        claims=(*asymmetric, *more, *_identities(panel)),
        view=partial(
            rows_of,
            experiment=experiment.id,
            pairs=(panel.pair, panel.twin) if panel.twin else (panel.pair,),
            columns=DIRECTION_COLUMNS,
        ),
        figure=partial(draw, pair=panel.pair, twin=panel.twin),
        caption="Test error along six norm-scaled directions, one line a width factor s: mean over"
        f" seeds, bands reach from the least to the largest of them.{dashed} The number in a panel"
        " is the share of coordinates where direction and weight agree in sign; a zero agrees with"
        " none. The paper's curves are not published as numbers.",
        alt="Six panels of test error against lambda, one a direction: initial weights, converged"
        " weights, their signs, and the positive parts of their signs.",
    )


def _without_asymmetry(panel: Panel) -> tuple[Claim, ...]:
    return tuple(_less_asymmetric(panel, name) for name in ("sgp", "sgp_centred"))


VGG16 = Panel(
    word="fig05",
    pair="vgg16_cifar10",
    net="VGG16 with BN on CIFAR-10",
    where="Figure 5",
    twin=TWIN,
)
RESNET20 = Panel(
    word="fig16",
    pair="resnet20_svhn",
    net="ResNet20 on SVHN",
    where="Figure 16",
)
VGG11 = Panel(
    word="fig17",
    pair="vgg11_cifar100",
    net="VGG11 without BN on CIFAR-100",
    where="Figure 17",
)
ALEXNET = Panel(
    word="fig18",
    pair="alexnet_food101",
    net="AlexNet on Food-101",
    where="Figure 18",
)
VIT = Panel(
    word="fig19",
    pair="vit_food101",
    net="ViT on Food-101",
    where="Figure 19",
)

fig05 = _task(VGG16, *_without_asymmetry(VGG16), _start_with_batch_norm(VGG16))
fig16 = _task(RESNET20, *_without_asymmetry(RESNET20))
fig17 = _task(VGG11, _start_symmetric(VGG11))
fig18 = _task(ALEXNET, _follows_consistency(ALEXNET))
fig19 = _task(VIT, _follows_consistency(VIT))
tasks = (fig05, fig16, fig17, fig18, fig19)
