"""Hand-made lines between two halves: claims plainly hold, fail, or tie."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache

import pandas as pd

from tests.reproductions.asymvalley.valleys.hand_made import SEEDS, Case, TableOf

EPOCHS = (1, 2, 5, 20)
UPSIDE_DOWN = {
    "random": ((0.3, 0.3), (0.25, 0.35), (0.02, 0.9), (0.02, 0.9)),
    "pretrained": ((-0.5, 0.95), (-0.6, 0.96), (-0.2, 0.8), (-0.2, 0.8)),
}
"""Gap and same-sign ratio by epoch where the claims fail."""


def half_lines(case: Case) -> pd.DataFrame:
    """Nets of both halves of the data, from two starts.

    Holds: from scratch the gap widens to -0.4 as signs part, pre-trained it is +0.01 and 0.97 of
    the signs agree. Fails: `UPSIDE_DOWN`, and the line does not end at the nets. Ties: both
    starts are alike, nothing changes.
    """
    rows: list[dict[str, object]] = []
    for seed, regime, (index, epoch) in itertools.product(
        SEEDS, ("random", "pretrained"), enumerate(EPOCHS)
    ):
        parting = regime == "random"
        gap = -0.1 * (index + 1) + 0.001 * seed if parting else 0.01 + 0.001 * seed
        ratio = 0.8 - 0.05 * index + 0.001 * seed if parting else 0.97 - 0.001 * index
        if case == "fails":
            gap, ratio = UPSIDE_DOWN[regime][index]
            ratio += 0.001 * seed
        if case == "flat":
            gap, ratio = -0.015, 0.85
        rows += _half(case, seed, regime, epoch, gap=gap, ratio=ratio)
    return pd.DataFrame(rows)


def _half(
    case: Case, seed: int, regime: str, epoch: int, *, gap: float, ratio: float
) -> Iterator[dict[str, object]]:
    ends = {"accuracy_a": 0.7, "accuracy_b": 0.8}
    place = {"regime": regime, "epoch": epoch, "seed": seed}
    yield {
        **{**place, **ends, "part": "epoch", "x": 0.0, "accuracy_mid": 0.75 + gap},
        **{"gap": gap, "ssr_ia": ratio + 0.02, "ssr_ib": ratio + 0.01, "ssr_ab": ratio},
    }
    for step in range(11):
        x = step / 10
        accuracy = 0.7 + 0.1 * x + 4.0 * gap * x * (1.0 - x)
        accuracy += 1e-6 if case == "fails" else 0.0
        own = {0: 0.7, 5: 0.75 + gap, 10: 0.8}
        if case != "fails" and step in own:
            accuracy = own[step]
        yield {**place, "part": "line", "x": x, "accuracy": accuracy}


TABLES: dict[str, TableOf] = {"fig11": cache(half_lines)}
"""Made once: to be read, not written."""
