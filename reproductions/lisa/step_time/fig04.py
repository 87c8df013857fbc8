"""Figure 4: how long one training step takes under full training, LoRA and LISA."""

from __future__ import annotations

from functools import partial

from harness.declare import (
    CHECK,
    GPU_UP,
    Criterion,
    Table,
    Task,
    at_most,
    claims,
    columns_of,
    equal,
    measured,
    ours,
    param,
    ratio,
    value,
)
from reproductions.lisa.step_time import quantities as q
from reproductions.lisa.step_time.experiment import Timing, timings

STEADY = (
    "half of the steps of each method lie within 5 % of their median",
    at_most(q.spreads, 0.1, "share").measuring("range of the middle half by the median"),
)
"""The positive control of times: a statement and what it asks."""
WARM = ours("DEV-04", elsewhere="so small a model has other proportions").controlled(*STEADY)
BESIDE_LORA = WARM.at(
    *GPU_UP, elsewhere="on a CPU the overhead of LoRA's many small products decides it"
)
DROPPED: q.Chosen = {"method": "lora", "dropout": 0.1}
PLAIN: q.Chosen = {"method": "lora", "dropout": 0.0}


def lisa_at_most(share: float, *others: q.Chosen) -> Criterion:
    """Ask that a warm step of LISA takes at most a share of other methods'.

    The paper prints how many times as fast LISA is; the share beside it is derived.
    """
    name = "LoRA" if others[0]["method"] == "lora" else "full"
    printed = partial(q.share_of, other=name)
    return ratio(partial(q.times, one=q.LISA, others=others), 0, share).beside_derived(printed)


TIMES = Table.of(
    columns_of(Timing, "shape", "device", "dtype", "seq_len", "batch_size", "cold"),
    param("method", str, "full, lora or lisa."),
    param("rank", int, "LoRA's rank; 0 without it."),
    param("dropout", float, "Dropout of LoRA's adapters."),
    param("gamma", int, "Blocks that train at once under LISA."),
    param("phase", str, "forward, backward, optimizer, or their total."),
    columns_of(Timing, "seed"),
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
task = Task(
    "lisa/fig04",
    reads=(timings,),
    table=TIMES,
    claims=claims(
        "Figure 4 and section 4.1",
        (
            "same_arithmetic_forward",
            CHECK,
            equal(q.forward_difference, 0, "operations").measuring("difference"),
            "LISA's forward pass has the matrix products of full training's.",
        ),
        (
            "saved_arithmetic_as_computed",
            CHECK,
            equal(q.backward_error, 0, "operations").measuring("largest error"),
            "Going backward LISA saves the weight gradients of its frozen blocks, and no more.",
        ),
        (
            "step_takes_a_third",
            WARM,
            lisa_at_most(0.35, q.FULL).measuring("LISA's time over full training's"),
            "A step of LISA takes about a third of the time of full training.",
        ),
        (
            "no_slower_than_lora",
            BESIDE_LORA,
            lisa_at_most(1.0, DROPPED, PLAIN)
            .naming("dropout 0.1", "no dropout")
            .measuring("LISA's time over LoRA's"),
            "A step of LISA takes no longer than a step of LoRA.",
        ),
    )
    + claims(
        "ours, beside Figure 4",
        (
            "forward_alike",
            WARM.asked_by_us(),
            ratio(partial(q.times, one=q.LISA, others=(q.FULL,), phase="forward"), 0.9, 1.1)
            .measuring("LISA's time over full training's"),
            "LISA's forward pass takes as long as full training's.",
        ),
    ),
    figure="figures:time_panels",
    caption="Time of one training step by phase, as a share of full training's. Left: medians of"
    " warm steps, methods in turn; right: the first step of a fresh process, by the host's clock."
    " Lines: standard error of the total over seeds. Diamonds: counted matrix products. Dashed: the"
    " paper's early version, forward and then backward with the optimizer, as read.",
    alt="Stacked horizontal bars of forward, backward and optimizer time for full training, LoRA"
    " with and without dropout and LISA, warm and cold, beside dashed outlines of the paper's"
    " shorter bars for LoRA and LISA.",
)  # fmt: skip
