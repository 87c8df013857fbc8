"""Table 1: peak memory of full training, LoRA and LISA, and of GaLore, which it has not."""

from __future__ import annotations

from functools import partial

from harness.declare import CHECK, Task, at_least, at_most, claims
from reproductions.lisa.memory import quantities as q
from reproductions.lisa.memory import table
from reproductions.lisa.memory.experiment import policies, steps
from reproductions.lisa.models.claims import ON_A_GPU
from reproductions.lisa.models.steps.held import Chosen, as_computed, bytes_ratios

WHERE = "Table 1 and section 4.1"
LISA: Chosen = {"method": "lisa", "gamma": 2}
LORA: Chosen = {"method": "lora", "rank": 128}


def lisa_over(*others: Chosen) -> partial[list[float]]:
    """Return the quantity: LISA's peak over other methods', on LLaMA-2-7B."""
    peak = "peak_allocated_bytes"
    return partial(bytes_ratios, shape="llama-2-7b", value=peak, one=LISA, others=others)


task = Task(
    "lisa/tab01",
    reads=(steps, policies),
    table=table.PEAKS,
    layout=(table.PEAK_TABLE, table.LENGTH_TABLE, table.SMALL_TABLE, table.POLICY_TABLE),
    claims=claims(
        WHERE,
        *as_computed(CHECK),
        (
            "memory_rises_with_size",
            CHECK,
            at_least(q.least_rises, 0, "MB").naming("gamma", "rank").measuring("least step"),
            "Memory never falls as gamma or LoRA's rank rises.",
        ),
    )
    + claims(
        "section 3.2, on the optimizer's memory",
        (
            "kept_states_pile_up",
            CHECK.at("smoke", "cpu"),
            at_least(
                partial(q.moments_ratio, policy="keep_all", over="drop_refrozen"), 2, "ratio"
            ).measuring("moments if kept over moments if dropped"),
            "Keeping the states of frozen blocks at least doubles the moments within ten periods.",
        ),
    )
    + claims(
        WHERE,
        (
            "lisa_within_lora",
            ON_A_GPU,
            at_most(lisa_over({**LORA, "dropout": 0.1}, {**LORA, "dropout": 0.0}), 1.05, "ratio")
            .naming("dropout 0.1", "no dropout")
            .measuring("LISA's peak over LoRA's"),
            "LISA with two blocks needs no more memory than LoRA of rank 128.",
        ),
        (
            "lisa_half_of_full",
            ON_A_GPU,
            at_most(lisa_over({"method": "full"}), 0.55, "ratio").measuring(
                "LISA's peak over full training's"
            ),
            "LISA with two blocks needs about half of full training's memory, or less.",
        ),
    )
    + claims(
        f"ours, beside {WHERE}",
        (
            "count_is_near_the_peak",
            ON_A_GPU.asked_by_us(),
            at_most(q.peak_error, 0.1, "share").measuring("largest difference"),
            "The sum of a step's tensors is close to its peak on a GPU.",
        ),
    ),
    figure="figures:peak_panels",
    draws_seeds=False,
    caption="Memory of one training step by method. Filled: sums of tensors, counted in a step of"
    " the small blocks and by arithmetic for the paper's models (512 tokens), or the peak on a GPU"
    " where there was one. Hollow: the paper's early version, at a length it does not state, and"
    " for the 70B model one GPU's share; it has no GaLore. No seed changes these numbers.",
    alt="One panel per model with the memory of full training, LoRA of three ranks and LISA with 0,"
    " 2 and 4 blocks, and of GaLore where it ran; at 7B and above LISA and LoRA lie far below full"
    " training.",
)
