"""Figure 3: what holds the memory of full training, LoRA and LISA."""

from __future__ import annotations

from functools import partial

from harness.declare import (
    CHECK,
    CPU_UP,
    Task,
    at_most,
    claims,
    less_than,
)
from reproductions.lisa.memory import quantities as q
from reproductions.lisa.memory import table
from reproductions.lisa.memory.experiment import steps
from reproductions.lisa.models.claims import ON_A_GPU
from reproductions.lisa.models.steps.held import (
    DROPPED,
    FULL,
    LISA,
    PLAIN,
    Chosen,
    arithmetic_is_the_count,
)

ARITHMETIC = CHECK.at(*CPU_UP, elsewhere="so small a model has other proportions")
"""What the shapes of a model decide, whatever its weights."""
SHAPES = {"tiny-deep": "32 small blocks", "llama-2-7b": "LLaMA-2-7B"}


def activations(one: Chosen, other: Chosen) -> partial[list[float]]:
    """Return the quantity: one method's activations over another's, on each model."""
    return partial(q.activation_ratios, shapes=tuple(SHAPES), one=one, other=other)


task = Task(
    "lisa/fig03",
    reads=(steps,),
    table=table.BREAKDOWN,
    claims=claims(
        "Figure 3 and section 4.1",
        arithmetic_is_the_count(CHECK.at("smoke", "cpu")),
        (
            "lisa_saves_activations",
            ARITHMETIC,
            at_most(activations(LISA, FULL), 0.9, "ratio").naming(*SHAPES.values()),
            "LISA's activations take at most 0.9 of full training's.",
        ),
        (
            "dropout_costs_activations",
            ARITHMETIC,
            at_most(activations(FULL, DROPPED), 1, "ratio").naming(*SHAPES.values()),
            "LoRA with dropout 0.1 has at least the activations of full training.",
        ),
        (
            "lisa_below_lora",
            ARITHMETIC,
            less_than(activations(LISA, PLAIN), 1, "ratio").naming(*SHAPES.values()),
            "LISA's activations are smaller than LoRA's without dropout.",
        ),
        (
            "fits_24_gb",
            ON_A_GPU,
            at_most(partial(q.total_at_activations, near_gb=q.ACTIVATIONS_GB), 24, "GB").measuring(
                "memory reserved"
            ),
            "LISA trains LLaMA-2-7B in the 24 GB of one RTX 4090.",
        ),
    ),
    figure="figures:breakdown_bars",
    caption="Weights, activations, gradients and moments of one step, stacked. LLaMA-2-7B is by"
    " arithmetic, at the length whose activations under full training come nearest to the paper's,"
    " which does not state its length. Hollow and dashed: totals of the paper's early version. No"
    " seed changes these numbers.",
    alt="Stacked horizontal bars of memory for full training, LoRA with and without dropout and"
    " LISA: in the large model gradients and moments fill most of full training's bar and little"
    " of the others'; in the small one activations fill all.",
)
