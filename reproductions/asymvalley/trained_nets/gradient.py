"""The sign of a solution and the gradient of the loss there are almost orthogonal (App. D.1)."""

from __future__ import annotations

from harness.declare import (
    Frame,
    MissingRows,
    Table,
    Task,
    at_most,
    claims,
    columns_of,
    value,
    within,
)
from reproductions.asymvalley.models.controls import LARGEST_ERROR, TRAINED
from reproductions.asymvalley.models.pairs import Training
from reproductions.asymvalley.trained_nets.experiment import grid, nets

NETS = Table.of(
    columns_of(Training, "pair", "recipe", "bn_start", "seed"),
    (
        value(name, float, doc, nullable=True)
        for name, doc in (
            ("train_error", "Share of wrong predictions on the training set."),
            ("test_error", "Share of wrong test predictions."),
            ("test_ce", "Mean cross-entropy on the test set in nats."),
            ("norm", "Euclidean norm of theta_f, all learnable parameters."),
            ("init_sign_agreement", "Share of coordinates whose sign is that of the start."),
            ("sign_gradient_cosine", "Cosine of sign(theta_f) and the loss's gradient."),
            ("bn_positive_share", "Share of positive BN weights; empty without BN too."),
        )
    ),
)
"""Values are empty where the training diverged."""


UNTRIED = "vgg16nobn_cifar10"
"""A twin that no pilot trained as the run does."""
ASKED = sorted({(net.pair, net.recipe, net.bn_start) for net in grid("cpu") if net.pair != UNTRIED})
"""Pair, recipe and start of the nets that the claim is about."""
NAMES = [" ".join(w for w in net if w not in ("base", "ones")).replace("_", " ") for net in ASKED]


def asked(table: Frame) -> Frame:
    """Return the rows of these nets in their order, one each. Raises MissingRows without one."""
    rows = table.set_index(["pair", "recipe", "bn_start"])
    if absent := [net for net in ASKED if net not in rows.index]:
        raise MissingRows(f"the table has no net {' '.join(absent[0])}")
    return rows.loc[ASKED].reset_index()


def cosines(table: Frame) -> list[float]:
    """Return cos(sign(theta_f), gradient) of the nets; NaN for one whose training diverged."""
    return [float(cosine) for cosine in asked(table)["sign_gradient_cosine"]]


def excess(table: Frame) -> list[float]:
    """Return the nets' test errors less their bounds."""
    named = asked(table)
    pairs = zip(named["pair"], named["test_error"], strict=True)
    return [float(error) - LARGEST_ERROR[pair] for pair, error in pairs]


WELL_TRAINED = TRAINED.controlled(
    "every net errs on no more test images than it may",
    at_most(excess, 0, "error"),
)

task = Task(
    "asymvalley/gradient",
    own_kind="ablation",
    reads=(nets,),
    table=NETS,
    claims=claims(
        "Appendix D.1",
        (
            "signs_are_orthogonal_to_gradient",
            WELL_TRAINED,
            within(cosines, -0.1, 0.1, "cosine").naming(*NAMES),
            "The signs of the weights are almost orthogonal to the gradient of the loss.",
        ),
    ),
    figure="figures:net_panels",
    caption="Every net that is trained here: net and data, then what differs from the base recipe"
    " and from BN weights that start at 1. Cosine of sign(theta_f) and the gradient of the loss"
    " (grey: what the claim allows), test error, and share of the parameters that still have the"
    " sign they started with. A mark per seed.",
    alt="Three dot plots beside one another, a row for each trained net: cosine with the gradient,"
    " test error, and share of signs kept.",
)
