"""Figures 3 and 12 to 15: valleys along seven common noises, raw and with the weights' signs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.old import old_task
from harness.declare.task import Task
from reproductions.asymvalley.method.directions import ZERO_SYMMETRIC
from reproductions.asymvalley.models.columns import NOISE_COLUMNS, rows_of
from reproductions.asymvalley.models.scopes import (
    ABOVE_ZERO,
    STRICTLY,
    identity,
    one_net_at_zero,
    trained,
)
from reproductions.asymvalley.valleys.experiment import experiment
from reproductions.asymvalley.valleys.quantities import (
    NEVER_ZERO,
    SHIFTED,
    consistency_farthest_from_one,
    excess_over_agreeing,
    kth_asymmetry,
    kth_ce_asymmetry,
    largest_raw_share,
    least_sign_gain,
    raw_sizes,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """One of the five figures."""

    word: str
    pair: str
    net: str
    """Net and data as the paper names them."""
    where: str
    batch_norm: bool
    least: float
    """Asymmetry that sign-consistent noise must reach."""


def _sign_row(panel: Panel) -> Claim:
    reached = f"at least {panel.least:g}" if panel.least > ABOVE_ZERO else "positive"
    return trained(
        "sign_asymmetric",
        "Sign-consistent noise is asymmetric: at s = 1 the mean error of the negative side less"
        f" that of the positive side is {reached} for at least 6 of 7 kinds. Measured: the sixth"
        " largest.",
        form="at_least",
        where=panel.where,
        quantity=partial(kth_asymmetry, kth=6),
        bound=panel.least,
        threshold_from="calibration",
    )


def _sign_row_in_loss(panel: Panel) -> Claim:
    return trained(
        "sign_asymmetric_ce",
        "The same in cross-entropy: at s = 1 the mean loss of the negative side exceeds that of the"
        " positive side for at least 6 of 7 kinds. Measured: the sixth largest difference. Added"
        " after the run, since error alone does not tell.",
        form="at_least",
        where="section 3.1: L is an error or a loss",
        quantity=partial(kth_ce_asymmetry, kth=6),
        bound=ABOVE_ZERO,
        unit="nats",
    )


def _raw_row(panel: Panel) -> Claim:
    share, draws = (0.25, 3) if panel.batch_norm else (0.6, 5)
    return trained(
        "raw_symmetric",
        "Raw noise of the three kinds that are symmetric about zero gives a nearly symmetric"
        f" valley: at s = 1 its asymmetry, averaged over at least {draws} draws, is at most"
        f" {share:g} of that of its sign-consistent version in size. Measured: the largest share.",
        form="at_most",
        where=panel.where,
        quantity=partial(largest_raw_share, kinds=ZERO_SYMMETRIC, min_draws=draws),
        bound=share,
        unit="share",
        threshold_from="calibration",
    )


def _sign_over_raw(panel: Panel) -> Claim:
    return trained(
        "sign_over_raw",
        "For all 7 kinds the sign-consistent version is more asymmetric than the raw noise at"
        " s = 1. Measured: the least difference.",
        form="at_least",
        where=panel.where,
        quantity=least_sign_gain,
        bound=ABOVE_ZERO,
        threshold_from="calibration",
    )


def _slightly_asymmetric(panel: Panel) -> Claim:
    return trained(
        "raw_shifted_slight",
        "At s = 0.2 raw noise of the four kinds with a positive mean is asymmetric: its asymmetry"
        " is larger in size, on average, than that of the three kinds symmetric about zero. Neither"
        " its direction nor that it is slight, as the paper has it, is claimed.",
        form="ordering",
        where=panel.where,
        quantity=partial(raw_sizes, s=0.2),
        bound=STRICTLY,
    )


def _shifted_symmetric(panel: Panel) -> Claim:
    return trained(
        "raw_shifted_symmetric",
        "Without batch normalization raw noise of the four kinds with a positive mean gives a"
        " nearly symmetric valley, too: at s = 1 its asymmetry is at most 0.25 of that of its"
        " sign-consistent version in size. Measured: the largest share.",
        form="at_most",
        where=panel.where,
        quantity=partial(largest_raw_share, kinds=SHIFTED),
        bound=0.25,
        unit="share",
    )


def _identities(panel: Panel) -> tuple[Claim, ...]:
    where = f"{panel.where}: |eps| * sign(theta_f)"
    if panel.batch_norm:
        agree = identity(
            "signs_agree",
            "The constant noise, made sign-consistent, has the sign of the weight at every"
            " coordinate.",
            where=where,
            quantity=partial(
                consistency_farthest_from_one,
                pair=panel.pair,
                column="noise",
                values=NEVER_ZERO,
            ),
            expected=1.0,
            unit="share",
        )
    else:
        # Units that never fire leave weights at exactly zero, which have no sign.
        agree = identity(
            "signs_agree",
            "The constant noise, made sign-consistent, has the sign of the weight at equally many"
            " coordinates in every draw, and no other noise at more.",
            where=where,
            quantity=partial(excess_over_agreeing, column="noise", values=NEVER_ZERO),
            expected=0.0,
            unit="share",
        )
    return (agree, one_net_at_zero(panel.where))


def draw(context: FigureContext) -> Figure:
    """Draw kinds of noise as columns, raw noise above its sign-consistent version."""
    from reproductions.asymvalley.valleys.figures import noise_panels

    return noise_panels(context)


def _task(panel: Panel, *more: Claim) -> Task:
    claims = (_sign_row(panel), _sign_row_in_loss(panel), _raw_row(panel), _sign_over_raw(panel))
    return old_task(
        id=f"asymvalley/{panel.word}",
        title=f"Seven common noises, raw and sign-consistent: the paper's {panel.net}",
        reads=(experiment,),
        columns=NOISE_COLUMNS,
        claims=(*claims, *more, *_identities(panel)),
        view=partial(rows_of, experiment=experiment.id, pairs=(panel.pair,), columns=NOISE_COLUMNS),
        figure=draw,
        caption="Test error along norm-scaled noise of seven kinds, one line a width factor s:"
        " mean over draws and seeds, bands reach from the least to the largest of them. Below:"
        " the same draws with the signs of the converged weights. The number in a panel is the"
        " share of coordinates where noise and weight agree in sign. The paper's curves are not"
        " published as numbers.",
        alt="Two rows of seven panels of test error against lambda: raw noise above, its"
        " sign-consistent version below, one line per width factor.",
    )


VGG16 = Panel(
    word="fig03",
    pair="vgg16_cifar10",
    net="VGG16 with BN on CIFAR-10",
    where="Figure 3 and section 4.1",
    batch_norm=True,
    least=0.10,
)
RESNET20 = Panel(
    word="fig12",
    pair="resnet20_svhn",
    net="ResNet20 on SVHN",
    where="Figure 12",
    batch_norm=True,
    least=0.05,
)
VGG11 = Panel(
    word="fig13",
    pair="vgg11_cifar100",
    net="VGG11 without BN on CIFAR-100",
    where="Figure 13",
    batch_norm=False,
    least=0.05,
)
ALEXNET = Panel(
    word="fig14",
    pair="alexnet_food101",
    net="AlexNet on Food-101",
    where="Figure 14",
    batch_norm=False,
    least=0.05,
)
VIT = Panel(
    word="fig15",
    pair="vit_food101",
    net="ViT on Food-101",
    where="Figure 15",
    batch_norm=False,
    least=ABOVE_ZERO,
)

fig03 = _task(VGG16, _slightly_asymmetric(VGG16))
fig12 = _task(RESNET20)
fig13 = _task(VGG11, _shifted_symmetric(VGG11))
fig14 = _task(ALEXNET)
fig15 = _task(VIT)
tasks = (fig03, fig12, fig13, fig14, fig15)
