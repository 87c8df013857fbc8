"""What Figures 3 to 5, 12 and 16 show, on nets that others trained to the end."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from harness.declare import (
    CHECK,
    Frame,
    Table,
    Task,
    at_least,
    at_most,
    claims,
    columns_of,
    more_than,
    param,
    value,
)
from harness.declare.layout import Where
from reproductions.asymvalley.method.directions import NOISE_LABELS
from reproductions.asymvalley.models.columns import CE, ERROR, LAMBDA, SIGN_CONSISTENCY
from reproductions.asymvalley.models.controls import (
    CALIBRATED,
    LARGEST_ERROR,
    TRAINED,
    errors_of,
    excess_at_centre,
    one_centre,
)
from reproductions.asymvalley.models.curves import (
    LEAN,
    asymmetries,
    ratio_spearmans,
    sizes_of_shares,
)
from reproductions.asymvalley.published.experiment import (
    CONSISTENT,
    DEPTHS,
    NETS_AND_KINDS,
    RAW,
    SYMMETRIC_KINDS,
    Along,
    Kinds,
    PublishedCurves,
    published_curves,
)

BOUNDS = {"resnet50_imagenet": LARGEST_ERROR["resnet50_imagenet"]}
CONTROL = (
    f"each net errs on at most {100 * BOUNDS['resnet50_imagenet']:.0f} % of the test images",
    at_most(partial(excess_at_centre, bounds=BOUNDS, by=("depth",)), 0, "error"),
)
WELL_TRAINED, ASKED = CALIBRATED.controlled(*CONTROL), TRAINED.asked_by_us().controlled(*CONTROL)
ONCE = replace(WELL_TRAINED, deterministic=True)
KINDS = [f"ResNet{depth}, {NOISE_LABELS[kind]}" for depth, kind in NETS_AND_KINDS]
SYMMETRIC = [f"ResNet{depth}, {NOISE_LABELS[kind]}" for depth, kind in SYMMETRIC_KINDS]
NETS = [f"ResNet{depth}" for depth in DEPTHS]


def along(kinds: Kinds, ratio: float) -> list[Where]:
    """Return which valleys are those along noise of which a share of the signs agree."""
    return [{"depth": depth, "along": kind, "ratio": ratio} for depth, kind in kinds]


def of_nets(*directions: Along) -> list[Where]:
    """Return which valleys are those along directions made of the weights, net by net."""
    return [{"depth": depth, "along": name} for depth in DEPTHS for name in directions]


def excess_of_scaled(table: Frame) -> float:
    """Return by how much any temperature-scaled cross-entropy exceeds the plain; whole table."""
    rows = table[table["ce"].notna()]
    return float((rows["scaled_ce"] - rows["ce"]).max())


SIGN_ASYMMETRIES = partial(asymmetries, of=along(NETS_AND_KINDS, CONSISTENT))
RAW_SHARES = partial(
    sizes_of_shares, of=along(SYMMETRIC_KINDS, RAW), beside=along(SYMMETRIC_KINDS, CONSISTENT)
)
BY_NET = partial(ratio_spearmans, of=of_nets("gaussian"))
PARTS = partial(sizes_of_shares, of=of_nets("sgp", "sgp_centred"), beside=of_nets("sign", "sign"))
CURVES = Table.of(
    columns_of(PublishedCurves, "depth", "along"),
    param("ratio", float, "Share of coordinates whose noise got the sign of its weight."),
    LAMBDA,
    columns_of(PublishedCurves, "seed"),
    ERROR,
    CE,
    value(
        "scaled_ce",
        float,
        "The same with the logits over the one temperature that makes it least; empty where it is"
        " not finite.",
        nullable=True,
    ),
    SIGN_CONSISTENCY,
)
ON_NOISE = (
    (
        "sign_noise_is_asymmetric",
        WELL_TRAINED,
        at_least(SIGN_ASYMMETRIES, 0.05, "error").naming(*KINDS).measuring(LEAN),
        "Sign-consistent noise makes the valleys of well-trained nets asymmetric: their positive"
        " side is flatter.",
    ),
    (
        "raw_noise_is_symmetric",
        WELL_TRAINED,
        at_most(RAW_SHARES, 0.25, "share")
        .naming(*SYMMETRIC)
        .measuring("of the asymmetry along sign-consistent noise"),
        "Raw noise with mean zero gives well-trained nets a nearly symmetric valley.",
    ),
    (
        "positive_side_falls",
        WELL_TRAINED,
        at_most(partial(BY_NET, side="plus"), -0.9, "rank correlation")
        .naming(*NETS)
        .measuring("of a side's error with the share of agreeing signs"),
        "The more of the noise's signs agree with the weights' of well-trained nets, the lower the"
        " error on the positive side.",
    ),
    (
        "negative_side_rises",
        WELL_TRAINED,
        at_least(partial(BY_NET, side="minus"), 0.9, "rank correlation")
        .naming(*NETS)
        .measuring("of a side's error with the share of agreeing signs"),
        "The more of the noise's signs agree with the weights' of well-trained nets, the higher"
        " the error on the negative side.",
    ),
)
ON_DIRECTIONS = (
    (
        "signs_are_asymmetric",
        ONCE,
        at_least(partial(asymmetries, of=of_nets("sign_centred")), 0.05, "error")
        .naming(*NETS)
        .measuring(LEAN),
        "The valleys of well-trained nets are asymmetric along the centred signs of the weights.",
    ),
    (
        "weights_are_asymmetric",
        ONCE,
        more_than(partial(asymmetries, of=of_nets("theta_f")), 0, "error")
        .naming(*NETS)
        .measuring(f"{LEAN}, both ends left out"),
        "The valleys of well-trained nets are asymmetric along their weights, even without the"
        " point where all are zero.",
    ),
    (
        "positive_parts_are_symmetric",
        ONCE,
        at_most(PARTS, 0.5, "share")
        .naming(*(f"{net}, {name}" for net in NETS for name in ("sgp", "centred sgp")))
        .measuring("of the asymmetry along the signs of the weights"),
        "The valleys of well-trained nets are at most half as asymmetric along the positive parts"
        " of the signs as along the signs.",
    ),
)
IN_CROSS_ENTROPY = tuple(
    (
        id,
        ASKED,
        more_than(partial(SIGN_ASYMMETRIES, value=value_name), 0, "nats")
        .naming(*KINDS)
        .measuring(LEAN),
        f"Sign-consistent noise makes the valleys of well-trained nets asymmetric in {said}, too.",
    )
    for id, value_name, said in (
        ("loss_is_asymmetric_too", "ce", "cross-entropy"),
        ("scaled_loss_is_asymmetric_too", "scaled_ce", "temperature-scaled cross-entropy"),
    )
)

task = Task(
    "asymvalley/published_nets",
    own_kind="ablation",
    reads=(published_curves,),
    table=CURVES,
    claims=claims("Figures 3, 4 and 12", *ON_NOISE)
    + claims("Figures 5 and 16", *ON_DIRECTIONS)
    + claims("ours, beside Figures 3 and 12", *IN_CROSS_ENTROPY)
    + claims("L(theta_f)", one_centre("depth"))
    + claims(
        "the definition of a temperature",
        (
            "scaled_loss_is_no_larger",
            CHECK,
            # Temperatures are tried in steps of a twentieth, of which 1 is one.
            at_most(excess_of_scaled, 1e-5, "nats"),
            "At no point is the temperature-scaled cross-entropy above the plain one.",
        ),
    ),
    layout=errors_of(
        {net: {"depth": depth} for net, depth in zip(NETS, DEPTHS, strict=True)},
        along="gaussian",
        ratio=0.0,
    ),
    figure="figures:published_panels",
    caption="Published ResNets of CIFAR-10, statistics of batch normalization estimated anew at"
    " every point. Test error, cross-entropy and temperature-scaled cross-entropy along"
    " norm-scaled Gaussian noise with s = 1, raw and with the signs of the weights. Lines are means"
    " over draws of the noise; bands reach to the extremes.",
    alt="Three columns, one for each net, with test error, cross-entropy and temperature-scaled"
    " cross-entropy against lambda, for raw and for sign-consistent noise.",
)
