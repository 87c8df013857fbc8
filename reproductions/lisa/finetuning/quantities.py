"""What the claims on fine-tuning measure. Losses are in nats per answer token.

Tables have one row per run (`finals`) or one per step (`curves`); those with claims over seeds
come cut to one training seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from harness.declare import (
    Claim,
    Criterion,
    InvalidQuantity,
    MissingRows,
    at_least,
    at_most,
    claims,
    ordering,
    pick,
)
from harness.declare.statistics import optimum_log2
from reproductions.lisa.finetuning.experiment import (
    FIXED_LR,
    GAMMA,
    LRS,
    NUM_STEPS,
    PERIOD,
    WINDOW,
)
from reproductions.lisa.models.claims import IN_HOUSE
from reproductions.lisa.models.names import NO_BLOCKS

if TYPE_CHECKING:
    import pandas as pd

Chosen = Mapping[str, str | int | float]
"""Columns and their values that choose a configuration."""
LORA: Chosen = {"method": "lora"}
LISA: Chosen = {"method": "lisa"}
CONTROL: Chosen = {"method": NO_BLOCKS}
WARM_UP = 4
"""Steps over which the learning rate rises."""
TWO: Chosen = {**LISA, "gamma": GAMMA}
EIGHT: Chosen = {**LISA, "gamma": 8}
ONE_DRAW: Chosen = {**TWO, "period": NUM_STEPS}


def at_an_end(table: pd.DataFrame) -> str:
    """Say which method's learning rate is at an end of the grid, beyond which a better one may lie;
    nothing where none is."""
    for end in (LRS[0], LRS[-1]):
        if (table["lr"] == end).any():
            first = table[table["lr"] == end].iloc[0]
            return (
                f"the best rate of {first['method']} on {first['model']} is {end:g}, an end of the"
                " grid"
            )
    return ""


def one_ends(table: pd.DataFrame, *, methods: Sequence[str]) -> str:
    """Say which of some methods has its best rate at an end of the grid."""
    return at_an_end(table[table["method"].isin(methods)])


def mean_of(table: pd.DataFrame, chosen: Chosen, value: str) -> float:
    """Return a configuration's mean over layer seeds; infinite where a run diverged.

    Raises InvalidQuantity where its learning rate is at an end of the grid.
    """
    rows = pick(table, **chosen)
    if why := at_an_end(rows):
        raise InvalidQuantity(why)
    return _mean(rows[value])


def _mean(values: pd.Series[float]) -> float:
    numbers = values.astype(float)
    return math.inf if numbers.isna().any() else float(numbers.mean())


def difference(table: pd.DataFrame, *, one: Chosen, other: Chosen, value: str) -> float:
    """Return a value of one configuration minus that of another."""
    return mean_of(table, one, value) - mean_of(table, other, value)


def no_higher(one: Chosen, other: Chosen, what: str, *, value: str = "test_loss") -> Criterion:
    """Ask that a loss of one configuration ends no higher than that of another."""
    measured = partial(difference, one=one, other=other, value=value)
    return at_most(measured, 0, "nats").measuring(what)


def smoothed(table: pd.DataFrame, chosen: Chosen) -> float:
    """Return the mean training loss of the last 13 steps, over layer seeds too."""
    return mean_of(_last_steps(pick(table, **chosen)), {}, "loss")


def smoothed_difference(table: pd.DataFrame, *, one: Chosen, other: Chosen) -> float:
    """Return the smoothed final training loss of one configuration minus that of another."""
    return smoothed(table, one) - smoothed(table, other)


def leads_of_lora(table: pd.DataFrame, *, models: Sequence[str]) -> list[float]:
    """Return LISA's smoothed final training loss minus LoRA's, per model, whatever the rates."""
    ends = (_last_steps(pick(table, model=model, **LISA)) for model in models)
    others = (_last_steps(pick(table, model=model, **LORA)) for model in models)
    return [
        _mean(lisa["loss"]) - _mean(lora["loss"]) for lisa, lora in zip(ends, others, strict=True)
    ]


def _last_steps(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["step"] > rows["step"].max() - WINDOW]


def last(table: pd.DataFrame, chosen: Chosen) -> float:
    """Return the loss after the last step, the mean over layer seeds."""
    rows = pick(table, **chosen)
    return mean_of(rows[rows["step"] == rows["step"].max()], {}, "loss")


def last_difference(table: pd.DataFrame, *, one: Chosen, other: Chosen) -> float:
    """Return the last loss of one configuration minus that of another."""
    return last(table, one) - last(table, other)


def half_way(table: pd.DataFrame, *, end: Callable[[pd.DataFrame, Chosen], float]) -> list[float]:
    """Return LISA's loss, the middle between it and LoRA's, and the loss without blocks.

    Claimed to ascend: then LISA is ahead of LoRA, and blocks give most of its lead.
    """
    lisa, lora, control = (end(table, one) for one in (LISA, LORA, CONTROL))
    return [lisa, (lisa + lora) / 2, control]


def layer_spread(table: pd.DataFrame, *, chosen: Chosen) -> float:
    """Return the range of smoothed losses over layer seeds, over the fall since the first step."""
    rows = pick(table, **chosen)
    ends = [smoothed(rows, {"layer_seed": number}) for number in rows["layer_seed"].unique()]
    first = mean_of(rows, {"step": 1}, "loss")
    return (max(ends) - min(ends)) / (first - sum(ends) / len(ends))


def falls(table: pd.DataFrame) -> list[float]:
    """Return by how much training lowers the loss, per model, whatever the rates.

    Full training does where the table has it, else LISA as in its other rows: with two blocks, the
    usual period, and the chosen rate where all are there.
    """
    rows = table[table["method"] == "full"]
    if rows.empty:
        rows = pick(table, **TWO, period=PERIOD)
        rows = rows[rows["chosen"]] if "chosen" in rows and rows["chosen"].any() else rows
    return [_fall(own) for _, own in rows.groupby("model", sort=False)]


def _fall(rows: pd.DataFrame) -> float:
    """Return the first losses minus the last ones, of a table of ends or of steps.

    The loss of a single batch scatters; while the rate still rises, little is learned.
    """
    if "start_loss" in rows:
        return _mean(rows["start_loss"]) - _mean(rows["test_loss"])
    first = rows.loc[rows["step"] < rows["step"].min() + WARM_UP, "loss"]
    return _mean(first) - _mean(_last_steps(rows)["loss"])


def later_draws(table: pd.DataFrame, *, periods: Sequence[int]) -> list[float]:
    """Return the test loss of blocks drawn once minus that of each other period."""
    return [
        difference(table, one=ONE_DRAW, other={**TWO, "period": period}, value="test_loss")
        for period in periods
    ]


def gap_minus_spread(table: pd.DataFrame, *, chosen: Chosen, other: Chosen) -> float:
    """Return how far `chosen` is below `other`, minus its range over layer seeds."""
    gap = difference(table, one=other, other=chosen, value="test_loss")
    losses = pick(table, **chosen)["test_loss"].astype(float)
    return gap - float(losses.max() - losses.min())


def rate_steps(table: pd.DataFrame, *, gammas: Sequence[int], chosen: Chosen) -> list[float]:
    """Return minus log2 of the best rate at each number of blocks: claimed not to fall.

    By the test loss of one seed, as the paper's table shows accuracy. Raises InvalidQuantity where
    a best rate lies at the end of the grid.
    """
    best = []
    for gamma in gammas:
        means = pick(table, **{**chosen, "gamma": gamma}).groupby("lr")["test_loss"].mean()
        best.append(-optimum_log2([math.log2(lr) for lr in means.index], list(means)))
    return best


def all_blocks_gap(table: pd.DataFrame) -> float:
    """Return the largest difference, step by step, of LISA with all blocks from full training."""
    lisa = pick(table, method="lisa")
    keys = ["lr", "seed", "split", "step"]
    most = lisa[lisa["gamma"] == lisa["gamma"].max()].set_index(keys)["loss"]
    full = pick(table, method="full").set_index(keys)["loss"]
    both = most.to_frame("lisa").join(full.rename("full"), how="outer").astype(float)
    if both.isna().any(axis=None):
        raise MissingRows("the two do not have the same steps, or one of them diverged")
    return float((both["lisa"] - both["full"]).abs().max())


def outside_grid(table: pd.DataFrame, *, lrs: Sequence[float]) -> float:
    """Return how many chosen rates are none of the grid, or are not one per configuration."""
    best = table[table["chosen"]].groupby(["model", "method", "gamma", "period"])["lr"].unique()
    if best.empty:
        raise MissingRows("no rate is chosen")
    return float(sum(len(rates) != 1 or float(rates[0]) not in lrs for rates in best))


SPREAD = "Lines: mean over seeds; bars: standard error."
DOTS = "Dots: runs, over seeds and seeds of layers; lines: their mean."
ONE_RATE = f"All at one learning rate, {FIXED_LR:g}, as in the paper."
MT_BENCH = "The paper has MT-Bench scores here."

LEAST_FALL = 0.3
"""Nats by which fine-tuning must lower the loss for its methods to be compared."""
TRAINED = IN_HOUSE.controlled(
    f"fine-tuning lowers the loss by {LEAST_FALL:g} nats",
    at_least(falls, LEAST_FALL, "nats"),
)
"""Where fine-tuning taught the in-house model something."""


def blocks_lead(figure: str, loss: str, end: Callable[..., float]) -> tuple[Claim, ...]:
    """Return the claim that sampled blocks, and not what else LISA trains, put it before LoRA."""
    return claims(
        f"ours, beside {figure} and Table 10, which takes the blocks away",
        (
            "sampled_blocks_give_the_lead",
            TRAINED.asked_by_us(),
            ordering(partial(half_way, end=end), "nats")
            .naming("LISA ahead of LoRA", "blocks ahead of half the lead")
            .measuring("distance from half way between LISA and LoRA"),
            f"The sampled blocks give LISA most of its lead over LoRA in {loss} loss.",
        ),
    )
