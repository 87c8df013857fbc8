"""What Figures 7, 21 and 22 claim alike, net by net, and how they are described."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from harness.declare import (
    Claim,
    Criterion,
    Scope,
    at_least,
    at_most,
    claims,
    equal,
    ordering,
)
from reproductions.asymvalley.models.curves import widest_centre
from reproductions.asymvalley.models.scopes import (
    CALIBRATED,
    ON_A_CPU,
    TRAINED,
)
from reproductions.asymvalley.starts import quantities as q

POSITIVE = ("ones", "uniform")
START_NAMES = {"ones": "at 1", "uniform": "from U(0,1)", "gaussian": "from G(0,0.1)"}
CAPTION = (
    "Weights of batch normalization that start at 1, from U(0,1) and from G(0,0.1), one column"
    " each. First row: share of the BN weights below a value after training, a line per seed, and"
    " how many are positive. The others: test error under {0,1} noise of width s, on all parameters"
    " norm-scaled and filter-normalized, and on the BN weights alone: lines are means over seeds"
    " and draws, bands reach to their extremes. The paper's curves are not published as numbers."
)
ALT = (
    "Three columns, one for each start of the BN weights, with rows for their distribution after"
    " training and for three kinds of valley of test error against lambda."
)


def start_claims(where: str) -> tuple[Claim, ...]:
    """Return the claims that each of the three figures makes."""
    return claims(where, *_declared()) + claims(f"ours, beside {where}", *_on_bn_noise())


def _declared() -> Iterator[tuple[str, Scope, Criterion, str]]:
    centre = partial(widest_centre, by=("bn_start",), x="x")
    yield (
        "one_centre",
        ON_A_CPU,
        equal(centre, 0, "error"),
        "At lambda = 0 every curve of one net has the same error, whatever its noise and scaling.",
    )
    for start in POSITIVE:
        pair = partial(q.filter_asymmetries, starts=("gaussian", start))
        yield (
            f"{start}_filter_more_asymmetric",
            TRAINED,
            ordering(pair, "error", strict=True).measuring(
                f"asymmetry when started {START_NAMES[start]} less that when started from G(0,0.1)"
            ),
            f"Started {START_NAMES[start]}, filter-normalized {{0,1}} noise on all parameters is"
            " more asymmetric at the smallest s than started from G(0,0.1), the positive side being"
            " the lower one. The paper states no side; its explanation, by weights that are"
            " positive, implies this one.",
        )


def _on_bn_noise() -> Iterator[tuple[str, Scope, Criterion, str]]:
    """Yield the claims on noise on BN weights alone: the mechanism, ours."""
    for start in POSITIVE:
        yield (
            f"{start}_bn_asymmetric",
            CALIBRATED.asked_by_us(),
            at_least(partial(q.bn_asymmetry, start=start), 0.10, "error"),
            f"Ours, not the paper's: started {START_NAMES[start]}, {{0,1}} noise on the BN weights"
            " alone is asymmetric at s = 1: the negative side's mean error exceeds the positive"
            " side's by at least 0.1.",
        )
    shares = partial(q.bn_asymmetry_shares, start="gaussian", others=POSITIVE)
    yield (
        "gaussian_bn_symmetric",
        CALIBRATED.asked_by_us(),
        at_most(shares, 0.33, "ratio").naming(
            *(f"beside the start {START_NAMES[start]}" for start in POSITIVE)
        ),
        "Ours, not the paper's: started from G(0,0.1), the asymmetry of {0,1} noise on the BN"
        " weights alone is at most 0.33 times that of each of the other two starts, in size.",
    )
