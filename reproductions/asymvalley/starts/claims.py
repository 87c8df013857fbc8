"""The task of Figures 7, 21 and 22, which differ in their net alone."""

from __future__ import annotations

from functools import partial

from harness.declare import Scope, Task, at_least, at_most, claims, more_than
from harness.declare.layout import Where
from reproductions.asymvalley.models.controls import (
    CALIBRATED,
    TRAINED,
    Declared,
    at_centre,
    errors_of,
    one_centre,
)
from reproductions.asymvalley.models.curves import LEAN, asymmetries, gains, sizes_of_shares
from reproductions.asymvalley.models.pairs import SCALES, BnStart, Pair, paper_name
from reproductions.asymvalley.starts import table
from reproductions.asymvalley.starts.experiment import batch_norm_starts

STARTS = {"ones": "1", "uniform": "U(0,1)", "gaussian": "G(0,0.1)"}
CAPTION = (
    "Weights of batch normalization that start at 1, at U(0,1) and at G(0,0.1), one"
    " column each. First row: their distribution after training, over all seeds, and how many"
    " are positive. Other rows: test error under {0,1} noise of width s, on all parameters"
    " norm-scaled and filter-normalized, and on the BN weights alone. Lines are means over"
    " seeds and draws; bands reach to the extremes."
)
ALT = (
    "Three columns, one for each start of the BN weights, with rows for their distribution"
    " after training and for three kinds of valley of test error against lambda."
)
THAN = "asymmetry less that after a start at G(0,0.1), at the smallest s"
POSITIVE: dict[BnStart, str] = {"ones": "start at 1", "uniform": "start at U(0,1)"}


def bn_noise(*starts: BnStart) -> list[Where]:
    """Return which valleys are those along noise on the BN weights alone."""
    noise: Where = {"part": "curve", "norm": "ns", "group": "bn", "s": 1.0}
    return [{**noise, "bn_start": start} for start in starts]


def filtered_noise(*starts: BnStart) -> list[Where]:
    """Return which valleys are those along filter-normalized noise close to the net."""
    noise: Where = {"part": "curve", "norm": "filter_ns", "group": "all", "s": min(SCALES)}
    return [{**noise, "bn_start": start} for start in starts]


THAN_GAUSSIAN = partial(
    gains, of=filtered_noise(*POSITIVE), beside=filtered_noise("gaussian", "gaussian")
)
BN_ASYMMETRIES = partial(asymmetries, of=bn_noise(*POSITIVE))
BN_SHARES = partial(
    sizes_of_shares, of=bn_noise("gaussian", "gaussian"), beside=bn_noise(*POSITIVE)
)


def well_trained(scope: Scope, pair: Pair) -> Scope:
    """Return a scope that asks the net of every start to err no more than it may."""
    return at_centre(scope, pair, by=("bn_start",), varied=True)


def start_task(word: str, pair: Pair, *, place: str = "") -> Task:
    """Return the task of how the start of a net's BN weights shapes its valley.

    place: where else than in the figure the paper says it.
    """
    where, net = f"Figure {int(word[3:])}{place}", paper_name(pair)
    more_asymmetric = (
        "positive_starts_are_more_asymmetric",
        well_trained(TRAINED, pair),
        more_than(partial(THAN_GAUSSIAN, size=True), 0, "error")
        .naming(*POSITIVE.values())
        .measuring(f"size of the {THAN}"),
        f"{net} has a more asymmetric valley when its BN weights start positive than at G(0,0.1).",
    )
    nets = {f"start at {name}": {"bn_start": start} for start, name in STARTS.items()}
    drawn: Where = {"part": "curve", "norm": "ns", "group": "all", "s": 1.0, "draw": 0}
    return Task(
        f"asymvalley/{word}",
        reads=(batch_norm_starts,),
        table=table.starts(pair),
        claims=claims(where, one_centre("bn_start"), more_asymmetric)
        + claims(f"ours, beside {where}", *questions(pair)),
        layout=errors_of(nets, x="x", **drawn),
        figure="figures:start_panels",
        caption=CAPTION,
        alt=ALT,
    )


def questions(pair: Pair) -> tuple[Declared, ...]:
    """Return what we ask beside them: of the side, and of noise on the BN weights alone."""
    net, calibrated = paper_name(pair), well_trained(CALIBRATED.asked_by_us(), pair)
    return (
        (
            "positive_starts_lean_positive",
            well_trained(TRAINED.asked_by_us(), pair),
            more_than(THAN_GAUSSIAN, 0, "error").naming(*POSITIVE.values()).measuring(THAN),
            f"The valley of {net} favours its positive side more when its BN weights start positive"
            " than at G(0,0.1), as the paper's explanation implies.",
        ),
        (
            "bn_noise_is_asymmetric",
            calibrated,
            at_least(BN_ASYMMETRIES, 0.10, "error")
            .naming(*POSITIVE.values())
            .measuring(f"{LEAN}, s = 1"),
            f"Noise on the BN weights alone gives {net} an asymmetric valley where they started"
            " positive.",
        ),
        (
            "gaussian_start_is_symmetric",
            calibrated,
            at_most(BN_SHARES, 0.33, "ratio")
            .naming(*(f"beside the {name}" for name in POSITIVE.values()))
            .measuring("asymmetry over that after a positive start"),
            f"Noise on the BN weights alone gives {net} a nearly symmetric valley where they"
            " started at G(0,0.1).",
        ),
    )
