"""What the claims on memory measure, from the tables of Table 1 and Figure 3."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from harness.declare import Frame, MissingRows, pick
from reproductions.lisa.models.steps.held import Chosen, bytes_ratios

SETTING = ["shape", "how", "seq_len"]
"""What methods are compared within."""
ACTIVATIONS_GB = 6.9
"""Full training's in the paper's Figure 3, as read; it only chooses the length that is nearest."""


def least_rises(table: Frame) -> list[float]:
    """Return the least step of a step's bytes as gamma rises, and as LoRA's rank does."""
    return [
        least_rise(table, method=method, over=over)
        for method, over in (("lisa", "gamma"), ("lora", "rank"))
    ]


def least_rise(table: Frame, *, method: str, over: str) -> float:
    """Return the least step of bytes, in MB, as gamma or the rank rises, over all settings.

    Rows of another dropout, or without a value (no room on the GPU), are not compared.
    """
    value = "total_bytes"
    rows = pick(table, part="step", method=method).dropna(subset=[value])
    steps = [
        (after - before) / 1e6
        for _, group in rows.groupby([*SETTING, "dropout"])
        for before, after in pairwise(group.sort_values(over)[value].astype(float))
    ]
    if not steps:
        raise MissingRows(f"no setting has two rows of {method}")
    return min(steps)


def moments_ratio(table: Frame, *, policy: str, over: str) -> float:
    """Return the bytes of moments in the last period under one policy over another's.

    The least ratio of all seeds.
    """
    rows = pick(table, part="periods")
    last = rows[rows["period_number"] == rows["period_number"].max()].set_index("seed")
    above = pick(last, policy=policy)["moments_bytes"]
    below = pick(last, policy=over)["moments_bytes"]
    return float((above / below).min())


def activation_ratios(
    table: Frame, *, shapes: Sequence[str], one: Chosen, other: Chosen
) -> list[float]:
    """Return one method's activations over another's: of each model its largest ratio.

    A model that a profile does not count has none; one of them must be there.
    """
    there = [shape for shape in shapes if (table["shape"] == shape).any()]
    if not there:
        raise MissingRows(f"none of {', '.join(shapes)} was counted")
    return [
        ratio
        for shape in there
        for ratio in bytes_ratios(table, shape=shape, value="saved_bytes", one=one, others=[other])
    ]


def peak_error(table: Frame) -> float:
    """Return the largest relative difference of counted totals from the allocator's peaks."""
    rows = table.dropna(subset=["peak_allocated_bytes"])
    if rows.empty:
        raise MissingRows("no row has a peak of a GPU")
    ratios = rows["total_bytes"].astype(float) / rows["peak_allocated_bytes"].astype(float)
    return float((ratios - 1.0).abs().max())


def length_near(table: Frame, *, shape: str, saved_gb: float) -> int:
    """Return the sequence length at which full training's activations are nearest to `saved_gb`."""
    full = pick(table, shape=shape, method="full")
    distances = (full["saved_bytes"] / 1e9 - saved_gb).abs()
    return int(full["seq_len"].iloc[int(distances.argmin())])


def total_at_activations(table: Frame, *, near_gb: float) -> float:
    """Return what LISA reserves on LLaMA-2-7B in GB, at the length nearest to given activations."""
    seq_len = length_near(table, shape="llama-2-7b", saved_gb=near_gb)
    rows = pick(table, shape="llama-2-7b", method="lisa")
    peaks = pick(rows, seq_len=seq_len)["peak_reserved_bytes"].dropna()
    if peaks.empty:
        raise MissingRows(f"LISA at {seq_len} tokens has no peak of a GPU")
    return float(peaks.iloc[0]) / 1e9
