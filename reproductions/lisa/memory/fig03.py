"""Figure 3: what holds the memory of full training, LoRA and LISA."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from harness.declare import (
    CHECK,
    CPU,
    CPU_UP,
    GPU_UP,
    Criterion,
    Scope,
    Task,
    at_most,
    claims,
    equal,
    less_than,
    ours,
)
from reproductions.lisa.memory import quantities as q
from reproductions.lisa.memory import table
from reproductions.lisa.memory.experiment import steps
from reproductions.lisa.models.step_bytes import Chosen, bytes_ratio

FULL: Chosen = {"method": "full"}
LISA: Chosen = {"method": "lisa"}
DROPPED: Chosen = {"method": "lora", "dropout": 0.1}
PLAIN: Chosen = {"method": "lora", "dropout": 0.0}
ARITHMETIC = CHECK.at(
    *CPU_UP, elsewhere="the smoke model shows the path, and has other proportions"
)
"""What the shapes of a model decide, whatever its weights."""
ON_A_GPU = ours(
    "DEV-04",
    profiles=GPU_UP,
    elsewhere="it is about the allocator's peak on a GPU",
    deterministic=True,
)


def on_activations(
    suffix: str, scope: Scope, shape: str, model: str
) -> Iterator[tuple[str, Scope, Criterion, str]]:
    """Yield the checks on what autograd keeps, for one model."""

    def over(one: Chosen, other: Chosen) -> partial[float]:
        return partial(bytes_ratio, shape=shape, value="saved_bytes", one=one, other=other)

    for word, criterion, statement in (
        (
            "lisa_saves_activations",
            at_most(over(LISA, FULL), 0.9, "ratio"),
            "LISA's activations are at most 0.9 of full training's",
        ),
        (
            "dropout_costs_activations",
            at_most(over(FULL, DROPPED), 1, "ratio"),
            "Full training's activations are at most LoRA's with dropout 0.1",
        ),
        (
            "lisa_below_lora",
            less_than(over(LISA, PLAIN), 1, "ratio"),
            "LISA's activations are below LoRA's without dropout",
        ),
    ):
        note = f"({model}; largest ratio over sequence lengths)"
        yield word + suffix, scope, criterion, f"{statement} {note}."


task = Task(
    "lisa/fig03",
    reads=(steps,),
    table=table.BREAKDOWN,
    claims=claims(
        "Figure 3 and section 4.1",
        (
            "arithmetic_is_the_count",
            CHECK.at("smoke", "cpu"),
            equal(partial(q.arithmetic_error, values=q.PARTS), 0, "bytes"),
            "On the meta device every part has the bytes of a real step (largest difference over"
            " methods): what is said of models too large to run rests on it.",
        ),
        *on_activations(
            "", ARITHMETIC.at(*CPU), "tiny-deep", "a model of 32 small blocks, counted"
        ),
        *on_activations("_7b", ARITHMETIC, "llama-2-7b", "LLaMA-2-7B, arithmetic"),
        (
            "fits_24_gb",
            ON_A_GPU,
            at_most(partial(q.total_at_activations, near_gb=q.ACTIVATIONS_GB), 24, "GB"),
            "LISA with two blocks of LLaMA-2-7B reserves 24 GB or less, a card that the paper"
            " names, at the length at which full training's activations are nearest to the"
            " paper's.",
        ),
    ),
    figure="figures:breakdown_bars",
    caption="Weights, activations, gradients and moments of one step, stacked. LLaMA-2-7B by"
    " arithmetic, nothing of it was run, at the length whose activations under full training are"
    " nearest to those of the paper, which does not state its own. Hollow and dashed: totals of the"
    " paper's early version. No seed changes these numbers.",
    alt="Stacked horizontal bars of memory for full training, LoRA with and without dropout and"
    " LISA: in the large model gradients and moments fill most of full training's bar and little"
    " of the others'; in the small one activations fill all.",
)
