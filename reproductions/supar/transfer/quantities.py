"""What the claims on untuned nets measure, from the tables of Figures 3 and 10.

Every function takes the table of one seed, unless it says "whole table".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from harness.declare import Frame, MissingRows, pick


def differences(
    table: Frame,
    *,
    pairs: Sequence[tuple[str, str]],
    densities: Sequence[float],
    value: str,
) -> list[float]:
    """Return the first scheme's loss less the second's, pair by pair at each density."""
    found = []
    for density in densities:
        for pair in pairs:
            first, second = _losses_at(table, pair, density, value)
            found.append(first - second)
    return found


def _losses_at(table: Frame, schemes: Sequence[str], density: float, value: str) -> Iterator[float]:
    """Yield a loss of several schemes at one density; infinite where a net diverged."""
    for scheme in schemes:
        rows = table[(table["scheme"] == scheme) & (table["density"] == density)]
        if len(rows) != 1:
            raise MissingRows(f"{scheme} at density {density:g}: {len(rows)} rows, need one a seed")
        loss = float(rows[value].iloc[0])
        yield math.inf if math.isnan(loss) else loss


def gap_at(table: Frame, *, scheme: str, density: float, value: str, over: str = "supar") -> float:
    """Return (scheme - SmuPar) / `over` at one density; `over` is one of the two.

    The paper does not say which of the two it divides by.
    """
    theirs, ours = _losses_at(table, (scheme, "supar"), density, value)
    # In this form a rival that diverged is infinitely, or wholly, worse.
    return theirs / ours - 1.0 if over == "supar" else 1.0 - ours / theirs


def gap_at_lowest(table: Frame, *, scheme: str, value: str, over: str = "supar") -> float:
    """Return `gap_at` the lowest density."""
    lowest = float(table["density"].min())
    return gap_at(table, scheme=scheme, density=lowest, value=value, over=over)


def dense_and_sparse_gap(table: Frame, *, scheme: str, value: str) -> list[float]:
    """Return `gap_at` density 1 and at the lowest density, claimed to ascend."""
    dense = gap_at(table, scheme=scheme, density=1.0, value=value)
    return [dense, gap_at_lowest(table, scheme=scheme, value=value)]


def flops_to_dense(table: Frame) -> float:
    """Return training operations of the sparsest net over those of the dense one; whole table."""
    lowest = float(table["density"].min())
    sparse, dense = (pick(table, density=at)["train_flops"].iloc[0] for at in (lowest, 1.0))
    return float(sparse / dense)
