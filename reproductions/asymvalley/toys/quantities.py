"""What the claims on scalings and toys are about, each a number from a task's table.

Every function takes the table of one seed, unless it says "whole table". No torch, no pandas at
import.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.declare import InvalidQuantity, MissingRows, pick

if TYPE_CHECKING:
    import pandas as pd

METRICS = (
    *("error", "ce", "trace_p", "trace_h"),
    *("first_order_weight", "second_order_weight"),
)
"""The six metrics as Listing 2 computes them. Along the noise itself the first-order coefficient
is larger on the positive side whatever the weights are, since the loss is convex."""
NUM_SEEDS = 5
"""Seeds that a claim on "four of five" needs."""


# --- three scalings (Figure 2) ---


def largest_turn(table: pd.DataFrame, *, norm: str) -> float:
    """Return the largest 1 - cosine between noise and scaled noise; whole table."""
    return float(pick(table, norm=norm)["one_minus_cosine"].abs().max())


def smallest_turn(table: pd.DataFrame, *, norm: str, rule: str) -> float:
    """Return the least 1 - cosine over the kinds of noise."""
    return float(pick(table, norm=norm, one_dim_rule=rule)["one_minus_cosine"].min())


def length_error(table: pd.DataFrame, *, norm: str) -> float:
    """Return the largest |length of scaled noise / length of the weights - 1|; whole table."""
    return float((pick(table, norm=norm)["norm_ratio"] - 1.0).abs().max())


# --- class patterns (Figure 10) ---


def smallest_pattern_gain(table: pd.DataFrame, *, value: str) -> float:
    """Return the least value(+a) - value(-a) over classes and sizes a; whole table."""
    rows = pick(table, part="step").pivot(index="digit", columns="x", values=value)
    return min(float((rows[x] - rows[-x]).min()) for x in rows.columns if x > 0)


def smallest_mean_gain(table: pd.DataFrame, *, value: str) -> float:
    """Return the least gain of the mean over classes, over sizes a; whole table."""
    means = pick(table, part="step").groupby("x")[value].mean()
    return min(float(means[x] - means[-x]) for x in means.index if x > 0)


def pattern_error(table: pd.DataFrame) -> float:
    """Return the largest difference of a cosine from its closed form; whole table."""
    rows = pick(table, part="step")
    return float((rows["cosine"] - rows["expected_cosine"]).abs().max())


# --- the ReLU unit (Figure 27) ---


def mean_error(table: pd.DataFrame) -> float:
    """Return the largest |sampled - expected mean| in standard errors; whole table."""
    rows = pick(table, part="summary")
    return float(((rows["mean"] - rows["expected_mean"]).abs() / rows["standard_error"]).max())


def means(table: pd.DataFrame) -> list[float]:
    """Return the mean pre-activation by size of the noise, claimed to ascend."""
    return [float(mean) for mean in pick(table, part="summary").sort_values("lambda")["mean"]]


def active_shares(table: pd.DataFrame, *, size: float) -> list[float]:
    """Return the share of active units at -size and +size, claimed to ascend."""
    rows = pick(table, part="summary")
    shares = dict(zip(rows["lambda"], rows["active"], strict=True))
    if not {-size, size} <= shares.keys():
        raise MissingRows(f"the table has no rows at sizes -{size:g} and {size:g}")
    return [float(shares[-size]), float(shares[size])]


# --- the softmax toy (Figure 29) ---


def bracket_violation(table: pd.DataFrame) -> float:
    """Return how far a step of the loss leaves its bounds, in nats; whole table.

    The loss is convex, so from l to l' it changes by at least the slope at l and at most the
    slope at l', times l' - l; the slope is the first-order coefficient along the noise.
    """
    worst = 0.0
    for _, rows in table.groupby(["seed", "sign_consistent"]):
        line = rows.sort_values("lambda")
        step = line["lambda"].diff()
        change, slope = line["ce"].diff(), line["first_order_eps"]
        low, high = slope.shift() * step - change, change - slope * step
        worst = max(worst, float(low.max()), float(high.max()))
    return worst


def share_of_lower_sides(table: pd.DataFrame, *, value: str) -> float:
    """Return in which share of seeds the positive side is lower, sign row; whole table.

    Means over the positive and over the negative sizes are compared. Raises InvalidQuantity for
    fewer than five seeds.
    """
    sides = _sides(table, value, sign_consistent=True)
    return sum(positive < negative for positive, negative in sides) / len(sides)


def largest_common_gap(table: pd.DataFrame, *, values: Sequence[str] = METRICS) -> float:
    """Return how one-sided the raw row is in all seeds alike; whole table.

    Per metric the gap of a seed is |positive - negative| over the smaller of both magnitudes. A
    metric whose order differs between seeds counts as zero, another as its least gap; the largest
    of the metrics is returned. Raises InvalidQuantity for fewer than five seeds.
    """
    return max(_common_gap(_sides(table, value, sign_consistent=False)) for value in values)


def _common_gap(sides: Sequence[tuple[float, float]]) -> float:
    signs = {positive > negative for positive, negative in sides}
    if len(signs) > 1:
        return 0.0
    return min(abs(p - n) / max(min(abs(p), abs(n)), 1e-12) for p, n in sides)


def _sides(table: pd.DataFrame, value: str, *, sign_consistent: bool) -> list[tuple[float, float]]:
    """Return per seed the means over lambda > 0 and lambda < 0."""
    rows = pick(table, sign_consistent=sign_consistent)
    found = []
    for _, part in rows.groupby("seed"):
        positive = part.loc[part["lambda"] > 0, value].mean()
        found.append((float(positive), float(part.loc[part["lambda"] < 0, value].mean())))
    if len(found) < NUM_SEEDS:
        raise InvalidQuantity(f"{len(found)} seed(s), need at least {NUM_SEEDS}")
    return found
