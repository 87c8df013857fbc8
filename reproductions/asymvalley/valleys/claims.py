"""What several figures of valleys claim alike, net by net, and how they are described."""

from __future__ import annotations

from collections.abc import Iterator
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
from reproductions.asymvalley.method.directions import NOISE_GROUPS, ZERO_SYMMETRIC
from reproductions.asymvalley.models.curves import widest_centre
from reproductions.asymvalley.models.names import GROUP_LABELS, NOISE_LABELS
from reproductions.asymvalley.models.scopes import (
    CALIBRATED,
    ON_A_CPU,
    TRAINED,
)
from reproductions.asymvalley.valleys import quantities as q

KINDS = tuple(NOISE_LABELS.values())
GROUPS = tuple(GROUP_LABELS.values())
Declared = tuple[str, Scope, Criterion, str]

NOISE_CAPTION = (
    "Test error along norm-scaled noise of seven kinds, one line per width factor s: mean over"
    " draws and seeds, bands reach from the least to the largest of them. Below: the same draws"
    " with the signs of the converged weights. The number in a panel is the share of coordinates"
    " where noise and weight agree in sign. The paper's curves are not published as numbers."
)
NOISE_ALT = (
    "Two rows of seven panels of test error against lambda: raw noise above, its sign-consistent"
    " version below, one line per width factor."
)
DIRECTION_CAPTION = (
    "Test error along six norm-scaled directions, one line per width factor s: mean over seeds,"
    " bands reach from the least to the largest of them.{twin} The number in a panel is the share"
    " of coordinates where direction and weight agree in sign; a zero agrees with none. The paper's"
    " curves are not published as numbers."
)
DIRECTION_ALT = (
    "Six panels of test error against lambda, one per direction: initial weights, converged"
    " weights, their signs, and the positive parts of their signs."
)
GROUP_CAPTION = (
    "Test error (above) and cross-entropy (below) along Gaussian noise on one group of the"
    " parameters alone, raw and with the signs of the weights, scaled to the group's norm: mean"
    " over draws and seeds of the noise, bands reach from the least to the largest of them. The"
    " paper's curves are not published as numbers."
)
GROUP_ALT = (
    "Two rows of six panels, one column per parameter group: test error and cross-entropy against"
    " lambda, for raw and for sign-consistent noise."
)
PHRASES = {
    "theta_f": "the converged weights themselves",
    "sign": "the signs of the weights",
    "sign_centred": "the signs of the weights less their mean per tensor",
    "sgp": "the positive part of the signs (1 where a weight is positive, else 0)",
    "sgp_centred": "the positive part of the signs of the weights less their mean per tensor",
}


def one_net_at_zero(where: str) -> tuple[Claim, ...]:
    """Return the check that all curves of a net pass through one point."""
    return claims(
        f"{where}: L(theta_f)",
        (
            "one_net_at_zero",
            ON_A_CPU,
            equal(partial(widest_centre, by=("pair",)), 0, "error"),
            "All curves of one trained net have one error at lambda = 0.",
        ),
    )


def noise_claims(
    where: str, *more: Declared, least: float, raw: Declared, agree: Declared
) -> tuple[Claim, ...]:
    """Return what each of Figures 3 and 12 to 15 claims, and more that one of them does.

    least: asymmetry that sign-consistent noise must reach, 0 where any will do.
    raw: that raw noise gives a nearly symmetric valley.
    """
    return (
        *claims(where, sign_asymmetric(least), SIGN_ASYMMETRIC_NARROW),
        *claims("section 3.1, not plotted: L is an error or a loss", ASYMMETRIC_IN_LOSS),
        *claims(where, raw, SIGN_OVER_RAW, *more),
        *claims(f"{where}: |eps| * sign(theta_f)", agree),
        *one_net_at_zero(where),
    )


def sign_asymmetric(least: float) -> Declared:
    """Return that sign-consistent noise is asymmetric, by so much."""
    reached = f"at least {least:g}" if least else "positive"
    ask = (at_least if least else more_than)(q.sign_asymmetries, least, "error")
    return (
        "sign_asymmetric",
        CALIBRATED if least else TRAINED,
        ask.in_at_least(6)
        .naming(*KINDS)
        .measuring("mean error of the negative side less that of the positive side"),
        "Sign-consistent noise is asymmetric: at s = 1 the mean error of the negative side less"
        f" that of the positive side is {reached} for at least 6 of 7 kinds.",
    )


SIGN_ASYMMETRIC_NARROW: Declared = (
    "sign_asymmetric_narrow",
    TRAINED,
    more_than(partial(q.sign_asymmetries, s=0.2), 0, "error")
    .in_at_least(6)
    .naming(*KINDS)
    .measuring("mean error of the negative side less that of the positive side"),
    "Sign-consistent noise is asymmetric at s = 0.2 too, where any difference will do: for at least"
    " 6 of 7 kinds the mean error of the negative side exceeds that of the positive side.",
)
ASYMMETRIC_IN_LOSS: Declared = (
    "sign_asymmetric_ce",
    TRAINED,
    more_than(partial(q.sign_asymmetries, value="ce"), 0, "nats")
    .in_at_least(6)
    .naming(*KINDS)
    .measuring("mean loss of the negative side less that of the positive side"),
    "In cross-entropy, which the paper names beside the error and does not plot: at s = 1 the mean"
    " loss of the negative side exceeds that of the positive side for at least 6 of 7 kinds.",
)
SIGN_OVER_RAW: Declared = (
    "sign_over_raw",
    TRAINED,
    more_than(q.sign_gains, 0, "error")
    .naming(*KINDS)
    .measuring("asymmetry along the sign-consistent noise less that along the raw one"),
    "For each of the 7 kinds the sign-consistent version is more asymmetric than the raw noise, at"
    " s = 1.",
)


def raw_symmetric(scope: Scope, min_draws: int) -> Declared:
    """Return that raw noise about zero has a small share of the asymmetry."""
    shares = partial(q.raw_shares, kinds=ZERO_SYMMETRIC, min_draws=min_draws)
    return (
        "raw_symmetric",
        scope,
        at_most(shares, 0.25, "share").naming(*(NOISE_LABELS[kind] for kind in ZERO_SYMMETRIC)),
        "Raw noise of the three kinds that are symmetric about zero gives a nearly symmetric"
        f" valley: at s = 1 the asymmetry of each, averaged over at least {min_draws} draws, is at"
        " most a quarter of that of its sign-consistent version in size.",
    )


def with_batch_norm(where: str, *more: Declared, pair: str, least: float) -> tuple[Claim, ...]:
    """Return the claims on noises around a net with batch normalization."""
    agree = (
        "signs_agree",
        CHECK,
        equal(
            partial(
                q.consistency_farthest_from_one, pair=pair, column="noise", values=q.NEVER_ZERO
            ),
            1,
            "share",
        ),
        "The constant noise, made sign-consistent, has the sign of the weight at every coordinate.",
    )
    return noise_claims(where, *more, least=least, raw=raw_symmetric(CALIBRATED, 3), agree=agree)


def without_batch_norm(where: str, *more: Declared, least: float) -> tuple[Claim, ...]:
    """Return the claims on noises around a net without batch normalization."""
    # Units that never fire leave weights at exactly zero, which have no sign.
    agree = (
        "signs_agree",
        CHECK,
        equal(partial(q.excess_over_agreeing, column="noise", values=q.NEVER_ZERO), 0, "share"),
        "The constant noise, made sign-consistent, has the sign of the weight at equally many"
        " coordinates in every draw, and no other noise at more.",
    )
    # The calibration gives no bound here; one word has one bound.
    raw = raw_symmetric(TRAINED, 5)
    return noise_claims(where, *more, least=least, raw=raw, agree=agree)


def direction_claims(where: str, *more: Declared, pair: str) -> tuple[Claim, ...]:
    """Return what each of Figures 5 and 16 to 19 claims, and more that one of them does."""
    along = partial(q.direction_asymmetry, pair=pair)
    asymmetric: tuple[Declared, ...] = (
        (
            "theta_f_asymmetric",
            CALIBRATED,
            at_least(partial(along, direction="theta_f", inside=True), 0.05, "error"),
            f"The valley along {PHRASES['theta_f']} is asymmetric: at s = 1 the negative side's"
            " mean error exceeds the positive side's by at least 0.05. The ends do not count: at"
            " lambda = -1 all weights are zero, whatever they were.",
        ),
        (
            "sign_centred_asymmetric",
            CALIBRATED,
            at_least(partial(along, direction="sign_centred"), 0.05, "error"),
            f"The valley along {PHRASES['sign_centred']} is asymmetric: at s = 1 the negative"
            " side's mean error exceeds the positive side's by at least 0.05.",
        ),
    )
    # Units that never fire leave weights at exactly zero, which agree with nothing.
    excess = partial(q.excess_over_agreeing, column="direction", values=("theta_f", "sign"))
    agree = (
        "signs_agree",
        CHECK,
        equal(excess, 0, "share"),
        "The converged weights, and their signs, agree with the weights in sign at equally many"
        " coordinates, and no other direction at more.",
    )
    return (
        *claims(where, *asymmetric, *more),
        *claims(f"{where}: theta_f and sign(theta_f)", agree),
        *one_net_at_zero(where),
    )


def nearly_symmetric(pair: str) -> tuple[Declared, ...]:
    """Return that the positive part of the signs makes a nearly symmetric valley."""
    return tuple(
        (
            f"{name}_nearly_symmetric",
            CALIBRATED,
            at_most(partial(q.direction_share, pair=pair, direction=name), 0.5, "share"),
            f"The valley along {PHRASES[name]} is nearly symmetric: at s = 1 its asymmetry is at"
            " most half of that along the signs of the weights in size.",
        )
        for name in ("sgp", "sgp_centred")
    )


def follows_signs(pair: str) -> Declared:
    """Return that directions are the more asymmetric the more signs agree."""
    return (
        "asymmetry_follows_signs",
        TRAINED,
        more_than(partial(q.consistency_spearman, pair=pair), 0, "rank correlation").measuring(
            "of asymmetry and share"
        ),
        "Over the six directions asymmetry grows with the share of coordinates that agree in sign"
        " with the weights: their rank correlation is positive.",
    )


def group_claims(where: str) -> tuple[Claim, ...]:
    """Return what Figures 6 and 20 claim on noise in a group of parameters."""
    by = ("pair", "seed", "group")
    excess = partial(q.excess_over_agreeing, column="group", values=NOISE_GROUPS, by=by)
    agree = (
        "signs_agree",
        CHECK,
        equal(excess, 0, "share"),
        "In each group sign-consistent Gaussian noise has the sign of the weight at equally many"
        " coordinates in every draw, and raw noise at no more.",
    )
    return (
        *claims(where, *group_asymmetric()),
        *claims(f"{where}: |eps| * sign(theta_f)", agree),
        *one_net_at_zero(where),
    )


def group_asymmetric() -> Iterator[Declared]:
    """Yield that noise in a group is asymmetric, in error and in cross-entropy."""
    for value, name, unit in (("error", "error", "error"), ("ce", "cross-entropy", "nats")):
        own = partial(q.group_asymmetries, sign_consistent=True, groups=NOISE_GROUPS, value=value)
        gains = partial(q.group_gains, groups=NOISE_GROUPS, value=value)
        yield (
            f"{value}_asymmetric",
            TRAINED,
            more_than(own, 0, unit)
            .in_at_least(5)
            .naming(*GROUPS)
            .measuring(f"mean {name} of the negative side less that of the positive side"),
            f"For at least 5 of 6 groups sign-consistent noise is asymmetric in {name}, the"
            " negative side being higher.",
        )
        yield (
            f"{value}_over_raw",
            TRAINED,
            more_than(gains, 0, unit)
            .in_at_least(5)
            .naming(*GROUPS)
            .measuring("asymmetry along the sign-consistent noise less that along the raw one"),
            f"For at least 5 of 6 groups sign-consistent noise is more asymmetric in {name} than"
            " raw noise.",
        )
