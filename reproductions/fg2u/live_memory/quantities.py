"""What the claims on memory measure. Worst cases are over nets; no seed changes a byte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from harness.declare import Frame, MissingRows, Series, pick
from reproductions.fg2u.live_memory.experiment import Counted

SHALLOW, BUDGET, DEEP = 8, 16, 64
"""Inner steps: the ends that are compared, and those whose RGU sets a budget."""
PLAIN = Counted(method="plain")
RGU = Counted(method="rgu")
CHECKPOINTED = Counted(method="rgu-mixflow", segment=0)
FG2U = Counted(method="fg2u", chunk=1)
HESSIAN_FREE = Counted(method="hessian-free")


def one_batch(table: Frame, *, equal: bool = True) -> Frame:
    """Return the rows with a peak and one batch of images as phi.

    equal: as many outer as inner images, else the released code's five times as many.
    """
    same = table["outer_batch"].eq(table["inner_batch"])
    rows = table[table["num_images"].eq(table["inner_batch"]) & (same if equal else ~same)]
    return rows.dropna(subset=["peak_bytes"])


def peaks(table: Frame, one: Counted, depth: int, *, equal: bool = True) -> Series:
    """Return a method's peaks by net, at a depth and with one batch of images as phi."""
    rows = pick(one_batch(table, equal=equal), **asdict(one), depth=depth)
    return rows.set_index("net")["peak_bytes"].astype(float)


def ratios(above: Series, below: Series) -> Series:
    """Return ratios of what both have. Raises MissingRows where that is nothing."""
    found = (above / below).dropna()
    if found.empty:
        raise MissingRows("no net has both peaks")
    return found


def largest_growth(table: Frame, *, one: Counted) -> float:
    """Return a method's peak at 64 steps over that at 8, on the net where it is largest."""
    return float(ratios(peaks(table, one, DEEP), peaks(table, one, SHALLOW)).max())


def least_growth(table: Frame, *, one: Counted) -> float:
    """Return the same on the net where it is least."""
    return float(ratios(peaks(table, one, DEEP), peaks(table, one, SHALLOW)).min())


def least_fit(table: Frame) -> float:
    """Return the least R^2 over nets of (FG)2U's peak as affine in the chunk."""
    import numpy as np

    fits = []
    for _, group in pick(one_batch(table), method="fg2u", depth=SHALLOW).groupby("net"):
        if len(group) > 2:
            x, y = group["chunk"].astype(float), group["peak_bytes"].astype(float)
            fits.append(float(np.corrcoef(x, y)[0, 1]) ** 2)
    if not fits:
        raise MissingRows("no net has three chunks")
    return min(fits)


def largest_excess(table: Frame) -> float:
    """Return what (FG)2U's peak gains with 4 N beyond directions and gradient, in bytes.

    Those are chunk + 1 times phi; phi itself is not part of a peak. The largest over nets and
    chunks, whatever its sign.
    """
    rows = table[table["method"].eq("fg2u") & table["outer_batch"].eq(table["inner_batch"])]
    rows = rows[rows["depth"] == SHALLOW].dropna(subset=["peak_bytes"])
    own = rows["peak_bytes"] - (rows["chunk"] + 1) * rows["phi_bytes"]
    spread = own.groupby([rows["net"], rows["chunk"]]).agg(["min", "max", "size"])
    spread = spread[spread["size"] > 1]
    if spread.empty:
        raise MissingRows("no net has two sizes of phi")
    return float((spread["max"] - spread["min"]).max())


def budget_margin(table: Frame) -> float:
    """Return how far RGU(64) is above a budget of RGU(16), and (FG)2U(64) below it.

    The lesser of the two ratios, and the least over nets.
    """
    budget = peaks(table, RGU, BUDGET)
    over = ratios(peaks(table, RGU, DEEP), budget).min()
    below = ratios(budget, peaks(table, FG2U, DEEP)).min()
    return float(min(over, below))


def saving(table: Frame) -> float:
    """Return RGU's peak over that of mixflow with checkpoints, at 64 steps (least over nets)."""
    return float(ratios(peaks(table, RGU, DEEP), peaks(table, CHECKPOINTED, DEEP)).min())


def over_methods(table: Frame, *, others: Sequence[Counted], equal_batches: bool) -> list[float]:
    """Return one direction's peak over that of each other method, the largest over nets.

    equal_batches: as many outer as inner images, else the released code's five times as many.
    """
    own, *theirs = (peaks(table, one, SHALLOW, equal=equal_batches) for one in (FG2U, *others))
    return [float(ratios(own, other).max()) for other in theirs]
