"""What the claims on scalings and toys are about, each a number from a task's table.

Every function takes the table of one seed, unless it says "whole table". No torch, no pandas at
import.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.declare import Frame, MissingRows, pick

# --- three scalings (Figure 2) ---


def largest_turn(table: Frame) -> float:
    """Return the largest 1 - cosine between noise and norm-scaled noise; whole table."""
    return float(pick(table, norm="ns")["one_minus_cosine"].abs().max())


def length_error(table: Frame) -> float:
    """Return the largest |length of norm-scaled noise / that of the weights - 1|; whole table."""
    return float((pick(table, norm="ns")["norm_ratio"] - 1.0).abs().max())


def smallest_filter_turn(table: Frame) -> float:
    """Return the least 1 - cosine over the kinds of filter-normalized noise; whole table."""
    return float(pick(table, norm="filter_ns", one_dim_rule="abs")["one_minus_cosine"].min())


# --- class patterns (Figure 10) ---


def smallest_pattern_gain(table: Frame) -> float:
    """Return the least cosine(+a) - cosine(-a) over classes and sizes a; whole table."""
    rows = pick(table, part="step").pivot(index="digit", columns="x", values="cosine")
    sizes = [size for size in map(float, rows.columns) if size > 0]
    return min(float((rows[size] - rows[-size]).min()) for size in sizes)


def pattern_error(table: Frame) -> float:
    """Return the largest difference of a cosine from its closed form; whole table."""
    rows = pick(table, part="step")
    return float((rows["cosine"] - rows["expected_cosine"]).abs().max())


# --- the ReLU unit (Figure 27) ---


def mean_error(table: Frame) -> float:
    """Return the largest |sampled - expected mean| in standard errors; whole table."""
    rows = pick(table, part="summary")
    return float(((rows["mean"] - rows["expected_mean"]).abs() / rows["standard_error"]).max())


def smallest_mean_step(table: Frame) -> float:
    """Return the least rise of a sample's mean from one size of the noise to the next; whole
    table."""
    rows = pick(table, part="summary").pivot(index="seed", columns="lambda", values="mean")
    return float(rows.sort_index(axis="columns").diff(axis="columns").min().min())


def smallest_active_gains(table: Frame, *, sizes: Sequence[float]) -> list[float]:
    """Return the least share of active units at +size less that at -size, by size; whole table."""
    rows = pick(table, part="summary").pivot(index="seed", columns="lambda", values="active")
    needed = {sign * size for size in sizes for sign in (-1.0, 1.0)}
    if not needed <= set(rows.columns):
        raise MissingRows(f"the table has not all of the sizes {sorted(needed)}")
    return [float((rows[size] - rows[-size]).min()) for size in sizes]


# --- the softmax toy (Figure 29) ---


def bracket_violation(table: Frame) -> float:
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


def error_of_fit(table: Frame) -> float:
    """Return the share of wrong classes without noise."""
    return float(pick(table, **{"lambda": 0.0})["error"].mean())


def falls(table: Frame, *, values: Sequence[str]) -> list[float]:
    """Return by how much metrics fall from lambda < 0 to lambda > 0, over the smaller mean.

    One number a metric, of the sign-consistent row; all metrics are positive.
    """
    rows = pick(table, sign_consistent=True)
    found = []
    for value in values:
        positive, negative = (
            float(rows.loc[side, value].mean()) for side in (rows["lambda"] > 0, rows["lambda"] < 0)
        )
        found.append((negative - positive) / max(min(positive, negative), 1e-12))
    return found
