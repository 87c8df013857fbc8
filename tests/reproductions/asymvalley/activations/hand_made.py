"""Hand-made shares of hidden units: claims plainly hold, fail, or tie."""

from __future__ import annotations

import itertools
from functools import cache

import pandas as pd

from tests.reproductions.asymvalley.starts.hand_made import LAMBDAS
from tests.reproductions.asymvalley.valleys.hand_made import SEEDS, Case, TableOf


def activations(case: Case) -> pd.DataFrame:
    """Shares of units: more switch at -a than at +a where the claim holds, as many where it ties.

    Fails: at a = 0.6 alone it is the other way round, the shares sum to 0.99, and at lambda = 0
    some units switch.
    """
    rows: list[dict[str, object]] = []
    for seed, draw, place in itertools.product(SEEDS, range(2), LAMBDAS):
        off = 0.3 * abs(place) * (1.0 if place < 0 else 0.5)
        if case == "flat":
            off = 0.2 * abs(place)
        elif case == "fails" and abs(place) == 0.6:
            off = 0.1 if place < 0 else 0.2
        off += 0.002 * seed * abs(place)
        on = 0.2 * off + (0.01 if case == "fails" and place == 0.0 else 0.0)
        off_off = 0.6 - on - (0.01 if case == "fails" else 0.0)
        shares = {"on_on": 0.4 - off, "on_off": off, "off_on": on, "off_off": off_off}
        point = {"draw": draw, "lambda": place, "seed": seed}
        rows.append({**point, **shares, "agreement": shares["on_on"] + shares["off_off"]})
    return pd.DataFrame(rows)


TABLES: dict[str, TableOf] = {"fig28": cache(activations)}
"""Made once: to be read, not written."""
