"""The table of a step's time by phase, and what claims on it measure and ask."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from harness.declare import (
    Claim,
    Criterion,
    MissingRows,
    Params,
    Scope,
    Table,
    at_most,
    claims,
    columns_of,
    equal,
    measured,
    param,
    pick,
    ratio,
    value,
)
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.models.steps.held import DROPPED, FULL, LISA, PLAIN, Chosen, Declared

if TYPE_CHECKING:
    import pandas as pd


def times(
    table: pd.DataFrame, *, one: Chosen, others: Sequence[Chosen], phase: str = "total"
) -> list[float]:
    """Return a method's warm median time of a phase and each other's, in ms, pair by pair.

    From one seed's rows.
    """
    return [_warm_ms(table, each, phase) for other in others for each in (one, other)]


def spreads(table: pd.DataFrame) -> list[float]:
    """Return per method the range of the middle half of its warm steps' times by their median."""
    rows = pick(table, cold=False, phase="total")
    return [float(each) for each in (rows["p75_ms"] - rows["p25_ms"]) / rows["median_ms"]]


STEADY = (
    "half of the steps of each method lie within 5 % of their median",
    at_most(spreads, 0.1, "share").measuring("range of the middle half by the median"),
)
"""The positive control of times: a statement and what it asks."""


def share_of(reference: pd.DataFrame, *, other: str) -> float | None:
    """Return the share of another method's time that the printed speed-up leaves; None: not there.

    other: full or LoRA, as the row's name begins.
    """
    name = reference["y_name"].str.startswith(f"LISA speedup over {other}")
    rows = reference[name]
    return 1.0 / float(rows["value"].iloc[0]) if len(rows) else None


def lisa_at_most(share: float, *others: Chosen) -> Criterion:
    """Ask that a warm step of LISA takes at most a share of other methods'.

    The paper prints how many times as fast LISA is; the share beside it is derived.
    """
    name = "LoRA" if others[0]["method"] == "lora" else "full"
    printed = partial(share_of, other=name)
    return ratio(partial(times, one=LISA, others=others), 0, share).beside_derived(printed)


def claims_on_a_step(
    *more: Declared, exact: Scope, warm: Scope, beside_lora: Scope
) -> tuple[Claim, ...]:
    """Return what the paper says of a step beside full training's and LoRA's, and our question.

    more: checks, to stand behind that of the forward pass. exact: scope of that check.
    """
    forward = partial(times, one=LISA, others=(FULL,), phase="forward")
    return claims(
        "Figure 4 and section 4.1",
        (
            "same_arithmetic_forward",
            exact,
            equal(forward_difference, 0, "operations").measuring("difference"),
            "LISA's forward pass has the matrix products of full training's.",
        ),
        *more,
        (
            "step_takes_a_third",
            warm,
            lisa_at_most(0.35, FULL).measuring("LISA's time over full training's"),
            "A step of LISA takes about a third of the time of full training.",
        ),
        (
            "no_slower_than_lora",
            beside_lora,
            lisa_at_most(1.0, DROPPED, PLAIN)
            .naming("dropout 0.1", "no dropout")
            .measuring("LISA's time over LoRA's"),
            "A step of LISA takes no longer than a step of LoRA.",
        ),
    ) + claims(
        "ours, beside Figure 4",
        (
            "forward_alike",
            warm.asked_by_us(),
            ratio(forward, 0.9, 1.1).measuring("LISA's time over full training's"),
            "LISA's forward pass takes as long as full training's.",
        ),
    )


def times_of(params: type[Params]) -> Table:
    """Return the table of times per phase of steps.

    params: of the experiment that times them.
    """
    return Table.of(
        columns_of(params, "shape", "device", "dtype", "seq_len", "batch_size", "cold"),
        param("method", str, "full, lora or lisa."),
        param("rank", int, "LoRA's rank; 0 without it."),
        param("dropout", float, "Dropout of LoRA's adapters."),
        param("gamma", int, "Blocks that train at once under LISA."),
        param("phase", str, "forward, backward, optimizer, or their total."),
        columns_of(params, "seed"),
        value("num_samples", int, "Steps that were timed."),
        value(
            "flops", int, "Operations of matrix products, counted in warm steps only.",
            nullable=True,
        ),
        measured("median_ms", float, "Time of the phase."),
        measured("p25_ms", float, "A quarter of the steps took less."),
        measured("p75_ms", float, "A quarter of the steps took more."),
        measured(
            "load_average", float, "Over one minute, before the first sample.", nullable=True
        ),
    )  # fmt: skip


def forward_difference(table: pd.DataFrame) -> float:
    """Return the largest difference of LISA's and full training's operations forward."""
    return float((_flops(table, LISA, "forward") - _flops(table, FULL, "forward")).abs().max())


def backward_error(table: pd.DataFrame) -> float:
    """Return the largest error of what LISA saves backward: 2 operations per token and weight.

    The weights are those of the frozen blocks' linear layers, whose gradients are not made; the
    gradients of their inputs are, as the embedding trains.
    """
    saved = _flops(table, FULL, "backward") - _flops(table, LISA, "backward")
    rows = pick(table, **LISA, phase="backward").dropna(subset=["flops"])
    expected = [_frozen_flops(row) for _, row in rows.iterrows()]
    return float((saved - expected).abs().max())


def _frozen_flops(row: pd.Series) -> int:
    shape = shape_of(row["shape"])
    weights = sum(rows * columns for rows, columns in shape.linears)
    tokens = int(row["seq_len"]) * int(row["batch_size"])
    return int(2 * tokens * weights * (shape.num_blocks - int(row["gamma"])))


def _warm_ms(table: pd.DataFrame, method: Chosen, phase: str) -> float:
    rows = pick(table, cold=False, phase=phase, **method)
    if len(rows) != 1:
        raise MissingRows(f"{len(rows)} rows of {dict(method)} at {phase}, need one per seed")
    return float(rows["median_ms"].iloc[0])


def _flops(table: pd.DataFrame, method: Chosen, phase: str) -> pd.Series[int]:
    """Return counted operations by seed; cold starts have none."""
    rows = pick(table, cold=False, phase=phase, **method)
    return rows.set_index("seed")["flops"]
