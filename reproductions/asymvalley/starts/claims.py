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
    within,
)
from reproductions.asymvalley.models.curves import widest_centre
from reproductions.asymvalley.models.scopes import CALIBRATED, ON_A_CPU, TRAINED
from reproductions.asymvalley.starts import quantities as q

POSITIVE = ("ones", "uniform")
START_NAMES = {"ones": "at 1", "uniform": "from U(0,1)", "gaussian": "from G(0,0.1)"}
SHARES = {"ones": (0.97, 1.0), "uniform": (0.97, 1.0), "gaussian": (0.3, 0.7)}
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
    return claims(where, *_declared())


def _declared() -> Iterator[tuple[str, Scope, Criterion, str]]:
    centre = partial(widest_centre, by=("bn_start",), x="x")
    yield (
        "one_centre",
        ON_A_CPU,
        equal(centre, 0, "error"),
        "At lambda = 0 every curve of one net has the same error, whatever its noise and scaling.",
    )
    for start, name in START_NAMES.items():
        low, high = SHARES[start]
        amount = f"between {low:g} and {high:g}" if high < 1.0 else f"at least {low:g}"
        yield (
            f"{start}_positive_share",
            CALIBRATED,
            within(partial(q.positive_share, start=start), low, high, "share"),
            f"Started {name}, the share of BN weights that end positive is {amount}.",
        )
    yield from _on_bn_weights()
    for start in POSITIVE:
        pair = partial(q.filter_asymmetries, starts=("gaussian", start))
        yield (
            f"{start}_filter_more_asymmetric",
            TRAINED,
            ordering(pair, "error", strict=True),
            f"Started {START_NAMES[start]}, filter-normalized {{0,1}} noise on all parameters is"
            " more asymmetric at the smallest s, in size, than started from G(0,0.1). Which side is"
            " flatter is not claimed.",
        )


def _on_bn_weights() -> Iterator[tuple[str, Scope, Criterion, str]]:
    """Yield the claims on noise on BN weights alone: the mechanism, ours."""
    for start in POSITIVE:
        yield (
            f"{start}_bn_asymmetric",
            CALIBRATED,
            at_least(partial(q.bn_asymmetry, start=start), 0.10, "error"),
            f"Started {START_NAMES[start]}, {{0,1}} noise on the BN weights alone is asymmetric at"
            " s = 1: E- exceeds E+ by at least 0.1.",
        )
    share = partial(q.bn_asymmetry_share, start="gaussian", others=POSITIVE)
    yield (
        "gaussian_bn_symmetric",
        CALIBRATED,
        at_most(share, 0.33, "ratio"),
        "Started from G(0,0.1), the asymmetry of {0,1} noise on the BN weights alone is at most"
        " 0.33 times that of the other two starts, in size.",
    )
