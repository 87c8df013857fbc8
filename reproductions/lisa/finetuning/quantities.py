"""What the claims on fine-tuning measure. Losses are in nats per answer token.

Tables come cut to one training seed. They have one row per run (`ends`) or one per step (`curves`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from harness.declare import (
    Claim,
    Criterion,
    Frame,
    MissingRows,
    Series,
    at_least,
    at_most,
    claims,
    ordering,
    pick,
)
from harness.declare.statistics import optimum_log2
from reproductions.lisa.finetuning.experiment import WINDOW
from reproductions.lisa.models.claims import IN_HOUSE

WARM_UP = 4
"""Steps over which the learning rate rises."""


def mean(values: Series) -> float:
    """Return a mean; infinite where a run diverged."""
    numbers = values.astype(float)
    return math.inf if numbers.isna().any() else float(numbers.mean())


def end(table: Frame, setting: str) -> float:
    """Return a setting's held-out loss, the mean over seeds of its layers."""
    return mean(pick(table, setting=setting)["test_loss"])


def last(table: Frame, setting: str) -> float:
    """Return the loss after the last step."""
    rows = pick(table, setting=setting)
    return mean(rows.loc[rows["step"] == rows["step"].max(), "loss"])


def smoothed(table: Frame, setting: str) -> float:
    """Return the mean training loss of the last 13 steps."""
    return mean(_last_steps(pick(table, setting=setting))["loss"])


def _last_steps(rows: Frame) -> Frame:
    return rows[rows["step"] > rows["step"].max() - WINDOW]


Loss = Callable[[Frame, str], float]


def difference(table: Frame, *, one: str, other: str, loss: Loss = end) -> float:
    """Return the loss of one setting minus that of another."""
    return loss(table, one) - loss(table, other)


def no_higher(one: str, other: str, what: str, *, loss: Loss = end) -> Criterion:
    """Ask that the loss of one setting ends no higher than that of another."""
    return at_most(partial(difference, one=one, other=other, loss=loss), 0, "nats").measuring(what)


def leads_of_lora(table: Frame, *, models: Sequence[str]) -> list[float]:
    """Return LISA's smoothed training loss minus LoRA's, per model."""
    return [
        difference(pick(table, model=model), one="usual", other="lora", loss=smoothed)
        for model in models
    ]


def half_way(table: Frame, *, loss: Loss) -> list[float]:
    """Return LISA's loss, the middle between it and LoRA's, and the loss without blocks.

    Claimed to ascend: then LISA is ahead of LoRA, and blocks give most of its lead.
    """
    lisa, lora, control = (loss(table, name) for name in ("usual", "lora", "blocks_0"))
    return [lisa, (lisa + lora) / 2, control]


def layer_spread(table: Frame) -> float:
    """Return the range of smoothed losses over layer seeds, over the fall since the first steps."""
    rows = pick(table, setting="usual")
    ends = [smoothed(own, "usual") for _, own in rows.groupby("layer_seed")]
    return (max(ends) - min(ends)) / _fall(rows)


def gain_minus_spread(table: Frame) -> float:
    """Return how far sampled blocks lower the loss, minus its range over seeds of the layers."""
    losses = pick(table, setting="usual")["test_loss"].astype(float)
    return difference(table, one="blocks_0", other="usual") - float(losses.max() - losses.min())


def falls(table: Frame) -> list[float]:
    """Return by how much training lowers the loss, per model: full training where it is there,
    else LISA."""
    full = table[table["setting"] == "full"]
    rows = full if len(full) else pick(table, setting="usual")
    return [_fall(own) for _, own in rows.groupby("model", sort=False)]


def _fall(rows: Frame) -> float:
    """Return the first losses minus the last ones, of a table of ends or of steps.

    The loss of a single batch scatters; while the rate still rises, little is learned.
    """
    if "start_loss" in rows:
        # Where several rates were tried, at the best one.
        losses = rows.assign(lost=rows["validation_loss"].astype(float).fillna(math.inf))
        best = losses.groupby("lr")["lost"].mean().idxmin()
        rows = rows[rows["lr"] == best]
        return mean(rows["start_loss"]) - mean(rows["test_loss"])
    first = rows.loc[rows["step"] < rows["step"].min() + WARM_UP, "loss"]
    return mean(first) - mean(_last_steps(rows)["loss"])


def later_draws(table: Frame, *, settings: Sequence[str]) -> list[float]:
    """Return the loss of blocks drawn once minus that of each other setting."""
    return [difference(table, one="once", other=name) for name in settings]


def rate_steps(table: Frame, *, settings: Sequence[str]) -> list[float]:
    """Return minus log2 of the best rate of each setting: claimed not to fall.

    By the held-out loss of one seed, as the paper's table shows accuracy. Raises InvalidQuantity
    where a best rate lies at the end of the grid.
    """
    best = []
    for name in settings:
        means = pick(table, setting=name).groupby("lr")["test_loss"].mean()
        best.append(-optimum_log2([math.log2(lr) for lr in means.index], list(means)))
    return best


def all_blocks_gap(table: Frame) -> float:
    """Return the largest difference, step by step, of LISA with all blocks from full training."""
    keys = ["lr", "seed", "split", "step"]
    most, full = (
        pick(table, setting=name).set_index(keys)["loss"] for name in ("all_blocks", "full")
    )
    both = most.to_frame("lisa").join(full.rename("full"), how="outer").astype(float)
    if both.isna().any(axis=None):
        raise MissingRows("the two do not have the same steps, or one of them diverged")
    return float((both["lisa"] - both["full"]).abs().max())


SPREAD = "Lines: mean over seeds; bars: standard error."
DOTS = "Dots: runs, over seeds and seeds of layers; lines: their mean."
OWN_RATE = "Each has the rate of its least validation loss in pilots."
MT_BENCH = "The paper has MT-Bench scores here."
ALIKE = 0.02
"""Nats within which two losses are alike."""
LEAST_FALL = 0.5
"""Nats by which fine-tuning must lower the loss for its methods to be compared: half of what full
training does in pilots on the model that learns least."""
TRAINED = IN_HOUSE.controlled(
    f"fine-tuning lowers the loss by {LEAST_FALL:g} nats",
    at_least(falls, LEAST_FALL, "nats"),
)
"""Where fine-tuning taught the in-house model something."""


def blocks_lead(figure: str, loss: str, measure: Loss) -> tuple[Claim, ...]:
    """Return the claim that sampled blocks, and not what else LISA trains, put it before LoRA."""
    return claims(
        f"ours, beside {figure} and Table 10, which takes the blocks away",
        (
            "sampled_blocks_give_the_lead",
            TRAINED.asked_by_us(),
            ordering(partial(half_way, loss=measure), "nats")
            .naming("LISA ahead of LoRA", "blocks ahead of half the lead")
            .measuring("distance from half way between LISA and LoRA"),
            f"The sampled blocks give LISA most of its lead over LoRA in {loss} loss.",
        ),
    )
