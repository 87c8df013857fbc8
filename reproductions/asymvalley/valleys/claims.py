"""What several figures of valleys claim alike, net by net, and how they are described."""

from __future__ import annotations

from functools import partial

from harness.declare import (
    CHECK,
    Claim,
    Criterion,
    Scope,
    at_least,
    at_most,
    claims,
    equal,
    more_than,
)
from reproductions.asymvalley.method.directions import NOISE_GROUPS, NOISES, ZERO_SYMMETRIC
from reproductions.asymvalley.models.curves import widest_centre
from reproductions.asymvalley.models.names import GROUP_LABELS, NOISE_LABELS
from reproductions.asymvalley.models.scopes import CALIBRATED, ON_A_CPU, TRAINED
from reproductions.asymvalley.valleys import quantities as q

Declared = tuple[str, Scope, Criterion, str]
LEAN = "mean over the negative side less that over the positive side"
"""What an asymmetry is."""

NOISE_CAPTION = (
    "Test error along norm-scaled noise of seven kinds, one line per width factor s: raw, and the"
    " same draws with the signs of the weights. Lines are means over draws and seeds; bands reach"
    " to the extremes. The number in a panel is the share of coordinates where noise and weight"
    " agree in sign."
)
NOISE_ALT = (
    "Seven panels of test error against lambda for raw noise and seven for its sign-consistent"
    " version, one line per width factor."
)
DIRECTION_CAPTION = (
    "Test error along six norm-scaled directions, one line per width factor s.{twin} Lines are"
    " means over seeds; bands reach to the extremes. The number in a panel is the share of"
    " coordinates where direction and weight agree in sign; a zero agrees with neither sign."
)
DIRECTION_ALT = (
    "Six panels of test error against lambda, one per direction: initial weights, converged"
    " weights, their signs, and the positive parts of their signs."
)
GROUP_CAPTION = (
    "Test error (above) and cross-entropy (below) along Gaussian noise on one group of the"
    " parameters, raw and with the signs of the weights, scaled to the group's norm. Lines are"
    " means over draws of the noise; bands reach to the extremes."
)
GROUP_ALT = (
    "Two rows of six panels, one column per parameter group: test error and cross-entropy against"
    " lambda, for raw and for sign-consistent noise."
)


def one_centre(where: str) -> tuple[Claim, ...]:
    """Return the check that all curves of a net pass through one point."""
    return claims(
        f"{where}: L(theta_f)",
        (
            "one_centre",
            ON_A_CPU,
            equal(partial(widest_centre, by=("pair",)), 0, "error"),
            "All curves of one net have the same error at lambda = 0.",
        ),
    )


def sign_noise_is_asymmetric(net: str, least: float) -> Declared:
    """Return that sign-consistent noise is asymmetric, by so much; 0 where any will do."""
    return (
        "sign_noise_is_asymmetric",
        CALIBRATED if least else TRAINED,
        (at_least if least else more_than)(q.sign_asymmetries, least, "error")
        .in_at_least(6)
        .naming(*(NOISE_LABELS[kind] for kind in NOISES))
        .measuring(f"{LEAN}, s = 1"),
        f"Sign-consistent noise makes the valley of {net} asymmetric: its positive side is"
        " flatter.",
    )


def loss_is_asymmetric_too(net: str) -> Declared:
    """Return the same in cross-entropy: where it compares noises the paper plots errors alone."""
    return (
        "loss_is_asymmetric_too",
        TRAINED.asked_by_us(),
        more_than(partial(q.sign_asymmetries, value="ce"), 0, "nats")
        .in_at_least(6)
        .naming(*(NOISE_LABELS[kind] for kind in NOISES))
        .measuring(f"{LEAN}, s = 1"),
        f"Sign-consistent noise makes the valley of {net} asymmetric in cross-entropy, too.",
    )


def raw_noise_is_symmetric(
    scope: Scope, statement: str, *, kinds: tuple[str, ...], min_draws: int
) -> Declared:
    """Return that raw noise has a small share of the asymmetry of sign-consistent noise."""
    return (
        "raw_noise_is_symmetric",
        scope,
        at_most(partial(q.raw_shares, kinds=kinds, min_draws=min_draws), 0.25, "share")
        .naming(*(NOISE_LABELS[kind] for kind in kinds))
        .measuring("of the asymmetry along sign-consistent noise, s = 1"),
        statement,
    )


RAW_ABOUT_ZERO = raw_noise_is_symmetric(
    CALIBRATED,
    "Raw noise that is symmetric about zero gives a nearly symmetric valley.",
    kinds=ZERO_SYMMETRIC,
    min_draws=3,
)
RAW_OF_ALL_KINDS = raw_noise_is_symmetric(
    TRAINED,
    "Without batch normalization raw noise of every kind gives a nearly symmetric valley.",
    kinds=NOISES,
    min_draws=5,
)


def noise_claims(
    where: str,
    net: str,
    *more: Declared,
    pair: str,
    least: float,
    batch_norm: bool,
    ours: tuple[Declared, ...] = (),
) -> tuple[Claim, ...]:
    """Return what each of Figures 3 and 12 to 15 claims, and more that one of them does.

    least: asymmetry that sign-consistent noise must reach, 0 where any will do.
    ours: questions of our own beside them.
    """
    # Without it units that never fire leave weights at exactly zero, which have no sign.
    of_constant = partial(q.consistency_farthest_from_one, pair=pair)
    share = of_constant if batch_norm else q.excess_over_agreeing
    agree = (
        "signs_agree",
        CHECK,
        equal(partial(share, column="noise", values=q.NEVER_ZERO), 1 if batch_norm else 0, "share"),
        "Constant noise, made sign-consistent, has the sign of the weight at every coordinate."
        if batch_norm
        else "No noise agrees with more of the weights' signs than sign-consistent constant noise.",
    )
    return (
        *claims(where, sign_noise_is_asymmetric(net, least), *more),
        *claims(f"ours, beside {where}", *ours),
        *claims(f"{where}: |eps| * sign(theta_f)", agree),
        *one_centre(where),
    )


def direction_claims(where: str, net: str, *more: Declared, pair: str) -> tuple[Claim, ...]:
    """Return what each of Figures 5 and 16 to 19 claims, and more that one of them does."""
    asymmetric = (
        "weights_and_signs_are_asymmetric",
        CALIBRATED,
        at_least(partial(q.weights_and_centred_signs, pair=pair), 0.05, "error")
        .naming("weights", "centred signs")
        .measuring(f"{LEAN}, s = 1"),
        f"The valley of {net} is asymmetric along the converged weights and along their centred"
        " signs.",
    )
    # Units that never fire leave weights at exactly zero, which agree with nothing.
    excess = partial(q.excess_over_agreeing, column="direction", values=("theta_f", "sign"))
    agree = (
        "signs_agree",
        CHECK,
        equal(excess, 0, "share"),
        "No direction agrees with more of the weights' signs than the weights themselves.",
    )
    return (
        *claims(where, asymmetric, *more),
        *claims(f"{where}: theta_f and sign(theta_f)", agree),
        *one_centre(where),
    )


def groups_are_asymmetric(net: str, value: str = "error") -> Declared:
    """Return that noise in a group of parameters is asymmetric, in error or in cross-entropy."""
    name, unit, id = {
        "error": ("error", "error", "groups_are_asymmetric"),
        "ce": ("cross-entropy", "nats", "groups_are_asymmetric_in_loss"),
    }[value]
    found = partial(q.group_asymmetries, groups=NOISE_GROUPS, value=value)
    return (
        id,
        TRAINED,
        more_than(found, 0, unit).in_at_least(5).naming(*GROUP_LABELS.values()).measuring(LEAN),
        f"In nearly every group of {net}'s parameters sign-consistent noise makes the {name}"
        " asymmetric.",
    )


def group_claims(where: str, *asked: Declared) -> tuple[Claim, ...]:
    """Return claims on noise in a group of parameters, and the checks beside them."""
    by = ("pair", "seed", "group")
    excess = partial(q.excess_over_agreeing, column="group", values=NOISE_GROUPS, by=by)
    agree = (
        "signs_agree",
        CHECK,
        equal(excess, 0, "share"),
        "In each group no noise agrees with more of the weights' signs than sign-consistent noise.",
    )
    return (
        *claims(where, *asked),
        *claims(f"{where}: |eps| * sign(theta_f)", agree),
        *one_centre(where),
    )
