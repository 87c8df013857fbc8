"""What the claims on lines between two solutions are about, each a number from a task's table.

Every function takes the table of one seed, unless it says "whole table". Of two solutions of
unlike recipes (Figures 8, 24 to 26) `first` is the one at l = 0, and `consistency` counts the
coordinates whose product with second - first is positive. Of two nets trained on half of the
data (Figure 11) A is the one at x = 0. No torch, no pandas at import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.statistics import MissingRows
from reproductions.asymvalley.method.directions import PARTITION
from reproductions.asymvalley.models.scopes import ABOVE_ZERO
from reproductions.asymvalley.valleys.quantities import pick, spearman

if TYPE_CHECKING:
    import pandas as pd

FIRST_EPOCH = 5
"""From here on the nets of Figure 11 are compared: before, those from scratch have not moved."""
ON_GRID = 1e-6
"""How far a place on a line may be from a grid point and still be it."""


# --- two solutions of unlike recipes (Figures 8, 24, 25, 26) ---


def group_pair(table: pd.DataFrame, *, group: str, value: str) -> list[float]:
    """Return a statistic of a group of parameters, of the first and the second solution.

    value: `norm`, `mean`, `std` or `consistency`. Raises MissingRows without the two.
    """
    rows = pick(table, part="group", group=group)
    found = [pick(rows, solution=solution)[value].iloc[0] for solution in ("first", "second")]
    return [float(number) for number in found]


def num_groups_more_consistent(table: pd.DataFrame) -> float:
    """Return in how many of Figure 8's five groups the second solution is more consistent."""
    pairs = [group_pair(table, group=group, value="consistency") for group in PARTITION]
    return float(sum(second - first >= ABOVE_ZERO for first, second in pairs))


def larger_is_more_consistent(table: pd.DataFrame) -> list[float]:
    """Return the consistency with (larger - smaller) of the smaller and of the larger solution.

    Larger by the norm of all parameters. With first - second instead of second - first, the
    consistent coordinates are the others.
    """
    norms = group_pair(table, group="all", value="norm")
    first, second = group_pair(table, group="all", value="consistency")
    return [first, second] if norms[1] >= norms[0] else [1.0 - second, 1.0 - first]


def outward_consistency(table: pd.DataFrame) -> list[float]:
    """Return how consistent each solution is with the way to it: the smaller, then the larger.

    The way to the second is second - first, to the first its negative, with which the others of
    the first's coordinates are consistent. Larger by the norm of all parameters.
    """
    norms = group_pair(table, group="all", value="norm")
    first, second = group_pair(table, group="all", value="consistency")
    outward = [1.0 - first, second]
    return outward if norms[1] >= norms[0] else outward[::-1]


def least_gain_of_consistency(table: pd.DataFrame) -> float:
    """Return the least consistency(second) - consistency(first) over groups; whole table."""
    rows = pick(table, part="group")
    wide = rows.pivot(index=["seed", "group"], columns="solution", values="consistency")
    return float((wide["second"] - wide["first"]).min())


def barrier(table: pd.DataFrame) -> list[float]:
    """Return the larger error of both solutions, and the largest error between them."""
    line = errors_on_line(table)
    ends = [_at(line, place) for place in (0.0, 1.0)]
    between = [error for place, error in line.items() if ON_GRID < place < 1.0 - ON_GRID]
    if not between:
        raise MissingRows("the table has no point between the two solutions")
    return [max(ends), max(between)]


def errors_on_line(table: pd.DataFrame) -> dict[float, float]:
    """Return the test error by place on the line, ascending."""
    rows = pick(table, part="line")
    return {float(x): float(y) for x, y in sorted(zip(rows["x"], rows["error"], strict=True))}


def _at(line: dict[float, float], place: float) -> float:
    for found, value in line.items():
        if abs(found - place) < ON_GRID:
            return value
    raise MissingRows(f"the line has no point at {place:g}")


# --- two nets of half of the data (Figure 11) ---


def epochs(table: pd.DataFrame, *, regime: str) -> pd.DataFrame:
    """Return the rows of a regime, one an epoch, indexed by it, ascending."""
    return pick(table, part="epoch", regime=regime).set_index("epoch").sort_index()


def last_gap(table: pd.DataFrame, *, regime: str) -> float:
    """Return accuracy(midpoint) - mean accuracy of both ends, after the last epoch."""
    return float(epochs(table, regime=regime)["gap"].iloc[-1])


def least_ssr(table: pd.DataFrame, *, regime: str) -> float:
    """Return the least same-sign ratio of A and B over the epochs from `FIRST_EPOCH` on."""
    return min(_late_ssr(table, regime).values())


def closest_ssr(table: pd.DataFrame) -> list[float]:
    """Return SSR-AB from scratch and pre-trained, at the late epoch where they favour it least."""
    scratch, pretrained = (_late_ssr(table, regime) for regime in ("random", "pretrained"))
    common = sorted(scratch.keys() & pretrained.keys())
    if not common:
        raise MissingRows(f"the regimes share no epoch from {FIRST_EPOCH} on")
    closest = min(common, key=lambda epoch: pretrained[epoch] - scratch[epoch])
    return [scratch[closest], pretrained[closest]]


def gap_follows_ssr(table: pd.DataFrame) -> float:
    """Return Spearman's correlation of gap and SSR-AB over all epochs of both regimes."""
    gaps: list[float] = []
    ratios: list[float] = []
    for regime in ("random", "pretrained"):
        rows = epochs(table, regime=regime)
        gaps += [float(gap) for gap in rows["gap"]]
        ratios += [float(ratio) for ratio in rows["ssr_ab"]]
    return spearman(gaps, ratios)


def _late_ssr(table: pd.DataFrame, regime: str) -> dict[int, float]:
    ratios = epochs(table, regime=regime)["ssr_ab"]
    late = {int(e): float(ratio) for e, ratio in ratios.items() if e >= FIRST_EPOCH}
    if not late:
        raise MissingRows(f"the regime {regime} has no epoch from {FIRST_EPOCH} on")
    return late


def farthest_end(table: pd.DataFrame) -> float:
    """Return the largest difference of a line's ends and middle from the nets' own; whole table.

    The middle counts where the line has a point there. Raises MissingRows without an epoch that
    has both.
    """
    keys = ["regime", "seed", "epoch"]
    own = table[table["part"] == "epoch"].set_index(keys)
    farthest = []
    for key, line in table[table["part"] == "line"].groupby(keys):
        curve = dict(zip(line["x"].astype(float), line["accuracy"].astype(float), strict=True))
        row = own.loc[key]
        farthest += [
            abs(_at(curve, 0.0) - row["accuracy_a"]),
            abs(_at(curve, 1.0) - row["accuracy_b"]),
        ]
        if any(abs(place - 0.5) < ON_GRID for place in curve):
            farthest.append(abs(_at(curve, 0.5) - row["accuracy_mid"]))
    if not farthest:
        raise MissingRows("the table has no line between two nets")
    return float(max(farthest))


def largest_gap_error(table: pd.DataFrame) -> float:
    """Return how far a gap is from what it is the difference of; whole table."""
    rows = pick(table, part="epoch")
    own = rows["accuracy_mid"] - (rows["accuracy_a"] + rows["accuracy_b"]) / 2.0
    return float((rows["gap"] - own).abs().max())
