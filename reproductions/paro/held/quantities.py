"""How far what PyTorch holds is from the formula."""

from __future__ import annotations

from harness.declare import Frame, pick

PLAIN = ("ddp", "fsdp2", "fsdp2-hs")
"""NNN, GGG and III with nothing set beside."""


def even_errors(table: Frame) -> list[float]:
    """Return the largest difference of any rank from the formula, where rows divide by ranks.

    One number for what is plain, one for all other settings.
    """
    rows = pick(table, net="even")
    counted = rows[["least_bytes", "most_bytes"]]
    errors = counted.sub(rows["formula_bytes"], axis=0).abs().max(axis=1)
    plain = rows["setting"].isin(PLAIN)
    return [float(errors[plain].max()), float(errors[~plain].max())]


def most_padding(table: Frame) -> float:
    """Return what a rank holds at most above the formula, over one row of every tensor."""
    rows = pick(table, net="odd")
    return float(((rows["most_bytes"] - rows["formula_bytes"]) / rows["row_bytes"]).max())


def least_padding(table: Frame) -> float:
    """Return what it is at least, of parameters and gradients, which every rank pads alike."""
    rows = pick(table, net="odd")
    rows = rows[rows["state"] != "adam"]
    return float(((rows["least_bytes"] - rows["formula_bytes"]) / rows["row_bytes"]).min())


def moments_error(table: Frame) -> float:
    """Return by how much moments of all ranks together differ from whole ones, replicas times."""
    rows = pick(table, state="adam")
    replicas = rows["num_ranks"] * rows["formula_bytes"] / rows["whole_bytes"]
    return float((rows["sum_bytes"] - replicas * rows["whole_bytes"]).abs().max())
