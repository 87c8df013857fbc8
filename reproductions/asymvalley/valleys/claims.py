"""Tasks of one shape: what figures of valleys claim alike, and how they are described."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from harness.declare import (
    CHECK,
    Criterion,
    Scope,
    Task,
    at_least,
    at_most,
    bind,
    claims,
    equal,
    more_than,
)
from harness.declare.criterion import Quantity
from harness.declare.layout import Where
from reproductions.asymvalley.method.directions import (
    GROUP_LABELS,
    NOISE_GROUPS,
    NOISE_LABELS,
    NOISES,
    Direction,
    Noise,
    Value,
)
from reproductions.asymvalley.models.controls import (
    CALIBRATED,
    TRAINED,
    Declared,
    all_at_centre,
    errors_of,
    one_centre,
)
from reproductions.asymvalley.models.curves import LEAN, asymmetries, sizes_of_shares
from reproductions.asymvalley.models.pairs import Pair, paper_name, training_of
from reproductions.asymvalley.valleys import quantities as q
from reproductions.asymvalley.valleys import table
from reproductions.asymvalley.valleys.experiment import (
    IMAGENET_NAMES,
    common_noises,
    group_noises,
    special_directions,
)


def signs_agree(share: Quantity, said: str, *, expected: float = 0) -> Declared:
    """Return the check that what has the signs of the weights has them all.

    Units that never fire leave weights at exactly zero, which have no sign and agree with nothing.
    """
    return "signs_agree", CHECK, equal(share, expected, "share"), said


# --- seven noises (Figures 3 and 12 to 15) ---
NEVER_ZERO: tuple[Noise, ...] = ("ones",)
"""Kinds that are never exactly zero; a zero has no sign to be consistent with. Uniform and Gaussian
noise in float32 is, about once in 2^24 draws."""
NOISES_CAPTION = (
    "Test error along norm-scaled noise of seven kinds, one line per width factor s:"
    " raw, and the same draws with the signs of the weights. Lines are means over draws and"
    " seeds; bands reach to the extremes. The number in a panel is the share of coordinates"
    " where noise and weight agree in sign."
)
NOISES_ALT = (
    "Seven panels of test error against lambda for raw noise and seven for its"
    " sign-consistent version, one line per width factor."
)


def along(kinds: Iterable[Noise], *, sign_consistent: bool, s: float = 1.0) -> list[Where]:
    """Return which valleys are those along some kinds of noise."""
    return [{"noise": kind, "sign_consistent": sign_consistent, "s": s} for kind in kinds]


def of_seven(criterion: Criterion, *, s: float = 1.0) -> Criterion:
    """Return a criterion on the asymmetry along each of seven kinds, of which one may miss it."""
    named = criterion.in_at_least(6).naming(*(NOISE_LABELS[kind] for kind in NOISES))
    return named.measuring(f"{LEAN}, s = {s:g}")


def raw_noise_is_symmetric(
    scope: Scope, statement: str, *, kinds: tuple[Noise, ...], min_draws: int
) -> Declared:
    """Return that raw noise has a small share of the asymmetry of sign-consistent noise."""
    return (
        "raw_noise_is_symmetric",
        scope,
        at_most(
            partial(
                sizes_of_shares,
                of=along(kinds, sign_consistent=False),
                beside=along(kinds, sign_consistent=True),
                min_draws=min_draws,
            ),
            0.25,
            "share",
        )
        .naming(*(NOISE_LABELS[kind] for kind in kinds))
        .measuring("of the asymmetry along sign-consistent noise, s = 1"),
        statement,
    )


SIGN_ASYMMETRIES = partial(asymmetries, of=along(NOISES, sign_consistent=True))
SIGN_ASYMMETRIES_NEARBY = partial(asymmetries, of=along(NOISES, sign_consistent=True, s=0.2))


def noise_task(
    word: str,
    pair: Pair,
    *more: Declared,
    least: float,
    place: str = "",
    asked: tuple[Declared, ...] = (),
) -> Task:
    """Return the task of the valleys along seven noises around one net.

    more, asked: what this figure claims beside the others, and our own questions. place: where
    else the paper says it. least: what sign-consistent noise must reach, 0 where any will do.
    """
    where, net = f"Figure {int(word[3:])}{place}", paper_name(pair)
    said = f"Sign-consistent noise makes the valley of {net} asymmetric"
    asymmetric = (
        "sign_noise_is_asymmetric",
        CALIBRATED if least else TRAINED,
        of_seven((at_least if least else more_than)(SIGN_ASYMMETRIES, least, "error")),
        f"{said}: its positive side is flatter.",
    )
    nearby = (
        "sign_noise_is_asymmetric_nearby",
        TRAINED.asked_by_us(),
        of_seven(more_than(SIGN_ASYMMETRIES_NEARBY, 0, "error"), s=0.2),
        f"{said} also at s = 0.2.",
    )
    return Task(
        f"asymvalley/{word}",
        reads=(common_noises,),
        table=table.noises(pair),
        claims=claims(where, *all_at_centre((asymmetric, *more), pair))
        + claims(f"ours, beside {where}", *all_at_centre((nearby, *asked), pair))
        + claims(f"{where}: |eps| * sign(theta_f)", noise_signs_agree(pair))
        + claims(f"{where}: L(theta_f)", one_centre("pair")),
        layout=errors_of({net: {}}, noise=NOISES[0], sign_consistent=False, s=1.0, draw=0),
        figure="figures:noise_panels",
        caption=NOISES_CAPTION,
        alt=NOISES_ALT,
    )


def loss_is_asymmetric_too(pair: Pair) -> Declared:
    """Return the same in cross-entropy, which we ask: the paper plots errors alone."""
    return (
        "loss_is_asymmetric_too",
        TRAINED.asked_by_us(),
        of_seven(more_than(partial(SIGN_ASYMMETRIES, value="ce"), 0, "nats")),
        f"Sign-consistent noise makes the valley of {paper_name(pair)} asymmetric in cross-entropy,"
        " too.",
    )


def noise_signs_agree(pair: Pair) -> Declared:
    """Return the check that sign-consistent noise has the signs of the weights."""
    if training_of("paper", pair, seed=0).batch_norm:
        return signs_agree(
            partial(q.consistency_farthest_from_one, pair=pair, column="noise", values=NEVER_ZERO),
            "Constant noise, made sign-consistent, has the sign of the weight at every coordinate.",
            expected=1,
        )
    return signs_agree(
        partial(q.excess_over_agreeing, column="noise", values=NEVER_ZERO),
        "No noise agrees with more of the weights' signs than sign-consistent constant noise.",
    )


# --- special directions (Figures 5 and 16 to 19) ---
WITH_TWIN = " Dashed and dotted: the same net without batch normalization, at s = 1."
DIRECTIONS_CAPTION = (
    "Test error along six norm-scaled directions, one line per width factor s.{beside} Lines are"
    " means over seeds; bands reach to the extremes. The number in a panel is the share of"
    " coordinates where direction and weight agree in sign; a zero agrees with neither sign."
)
DIRECTIONS_ALT = (
    "Six panels of test error against lambda, one per direction: initial weights,"
    " converged weights, their signs, and the positive parts of their signs."
)


def through(*pairs: Pair, directions: Iterable[Direction]) -> list[Where]:
    """Return which valleys are those of some nets along some directions, net by net."""
    return [{"pair": pair, "direction": name, "s": 1.0} for pair in pairs for name in directions]


def along_weights(pair: Pair) -> tuple[Declared, Declared]:
    """Return that a net's valley is asymmetric along its centred signs and along its weights."""
    signs, weights = (
        partial(asymmetries, of=through(pair, directions=(name,)))
        for name in ("sign_centred", "theta_f")
    )
    said = f"The valley of {paper_name(pair)} is asymmetric along"
    return (
        (
            "signs_are_asymmetric",
            CALIBRATED,
            at_least(signs, 0.05, "error").measuring(f"{LEAN}, s = 1"),
            f"{said} the centred signs of its weights.",
        ),
        (
            "weights_are_asymmetric",
            TRAINED,
            more_than(weights, 0, "error").measuring(f"{LEAN}, s = 1, both ends left out"),
            f"{said} its weights, even without the point where all are zero.",
        ),
    )


def direction_task(
    word: str,
    pair: Pair,
    *more: Declared,
    twin: Pair | None = None,
    beside_twin: tuple[Declared, ...] = (),
) -> Task:
    """Return the task of the valleys along six directions around one net.

    more: what this figure claims beside the others. twin: a net without batch normalisation that
    it is compared with. beside_twin: what it claims of both.
    """
    where = f"Figure {int(word[3:])}"
    named = {paper_name(pair): {"pair": pair}}
    named |= {f"{paper_name(twin)}, without BN": {"pair": twin}} if twin else {}
    agree = signs_agree(
        partial(q.excess_over_agreeing, column="direction", values=("theta_f", "sign")),
        "No direction agrees with more of the weights' signs than the weights themselves.",
    )
    return Task(
        f"asymvalley/{word}",
        reads=(special_directions,),
        table=table.directions(pair, *([twin] if twin else [])),
        claims=claims(
            where,
            *all_at_centre((*along_weights(pair), *more), pair),
            *all_at_centre(beside_twin, pair, *([twin] if twin else [])),
        )
        + claims(f"{where}: theta_f and sign(theta_f)", agree)
        + claims(f"{where}: L(theta_f)", one_centre("pair")),
        layout=errors_of(named, direction="theta_f", s=1.0),
        figure=bind("figures:direction_panels", pair=pair, twin=twin),
        caption=DIRECTIONS_CAPTION.format(beside=WITH_TWIN if twin else ""),
        alt=DIRECTIONS_ALT,
    )


# --- noise on parameter groups (Figures 6 and 20) ---


ASYMMETRIC_GROUPS: dict[Value, tuple[str, str, str]] = {
    "error": ("groups_are_asymmetric", "error", "error"),
    "ce": ("groups_are_asymmetric_in_loss", "cross-entropy", "nats"),
}
"""Of each value of a curve its claim, its name and its unit."""
GROUPS_CAPTION = (
    "Test error (above) and cross-entropy (below) along Gaussian noise on one group of"
    " the parameters, raw and with the signs of the weights, scaled to the group's norm. Lines"
    " are means over draws of the noise; bands reach to the extremes."
)
GROUPS_ALT = (
    "Two rows of six panels, one column per parameter group: test error and cross-entropy"
    " against lambda, for raw and for sign-consistent noise."
)


def group_task(word: str, pair: str, *values: Value) -> Task:
    """Return the task of the valleys along noise in one group of a net's parameters.

    values: of which the paper says that they are asymmetric.
    """
    where, by = f"Figure {int(word[3:])}", ("pair", "seed", "group")
    signed: list[Where] = [{"group": group, "sign_consistent": True} for group in NOISE_GROUPS]
    asymmetric = [
        (
            id,
            TRAINED,
            more_than(partial(asymmetries, of=signed, value=value), 0, unit)
            .in_at_least(5)
            .naming(*GROUP_LABELS.values())
            .measuring(LEAN),
            f"In nearly every group of {IMAGENET_NAMES[pair]}'s parameters sign-consistent noise"
            f" makes the {name} asymmetric.",
        )
        for value, (id, name, unit) in ((value, ASYMMETRIC_GROUPS[value]) for value in values)
    ]
    agree = signs_agree(
        partial(q.excess_over_agreeing, column="group", values=NOISE_GROUPS, by=by),
        "In each group no noise agrees with more of the weights' signs than sign-consistent noise.",
    )
    return Task(
        f"asymvalley/{word}",
        reads=(group_noises,),
        table=table.groups(pair),
        claims=claims(where, *all_at_centre(asymmetric, pair))
        + claims(f"{where}: |eps| * sign(theta_f)", agree)
        + claims(f"{where}: L(theta_f)", one_centre("pair")),
        layout=errors_of({IMAGENET_NAMES[pair]: {}}, group="all", sign_consistent=False, draw=0),
        figure="figures:group_panels",
        caption=GROUPS_CAPTION,
        alt=GROUPS_ALT,
    )
