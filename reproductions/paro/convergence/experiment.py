"""A small GPT trained on four ranks by every strategy, by DDP, by FSDP2, and by one process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from harness.declare import (
    FRESH_SEED,
    Estimate,
    Experiment,
    Needs,
    Params,
    Profile,
    doc,
    seed,
    seeds_of,
)
from reproductions.paro.method.strategy import EFFECTIVE

Precision = Literal["float64", "float32", "bfloat16"]
"""bfloat16: passes and sums of gradients, over masters in float32."""
EXACT: tuple[Precision, ...] = ("float64", "float32")
ALONE = "AdamW"
"""One process, on the whole batch at once."""
PYTORCH = {"DDP": "NNN", "FSDP2": "GGG"}
"""PyTorch's own, and whose letters they have."""
FIGURE_7 = ("GGG", "IGG", "IIG", "NIG")
"""Those of the paper's figure; GGG is ZeRO-3."""
Methods = Literal["all", "some"]
NUM_SEEDS, FIRST_SEED = 20, 300
"""Of Figure 7's methods in bfloat16: five seeds, from 200 on, did not decide whether their losses
agree."""
TEXTS = {"tinyshakespeare": "Tiny Shakespeare", "grammar-text": "made-up text"}
CORPUS = "C4 part of RedPajama"


class Training(Params):
    """One training run, done by each method."""

    precision: Precision = doc("In which type numbers are.")
    micro_steps: int = doc("Micro-batches of a step, s.")
    methods: Methods = doc(
        "all: the 14 strategies, DDP and FSDP2; some: Figure 7's, and those two."
    )
    data: str = doc("Text, by characters.")
    num_ranks: int = doc("Ranks, n.")
    group_size: int = doc("Ranks per group, m.")
    num_steps: int = doc("Optimizer steps.")
    num_sequences: int = doc("Sequences of a step, of all ranks together.")
    context: int = doc("Tokens of a sequence.")
    width: int = doc("Of the net.")
    num_layers: int = doc("Of the net.")
    lr: float = doc("AdamW's learning rate.")
    max_norm: float = doc("To which gradients are clipped by their global norm.")
    seed: int = seed("A net's first values, and the text that it sees.")


def methods_of(training: Training) -> tuple[str, ...]:
    """Return who trains; DDP has no copy in higher precision, and sits out in bfloat16."""
    every = tuple(strategy.letters for strategy in EFFECTIVE)
    ours = every if training.methods == "all" else FIGURE_7
    theirs = (name for name in PYTORCH if name != "DDP" or training.precision != "bfloat16")
    return (ALONE, *ours, *theirs)


def training(precision: Precision, micro_steps: int, methods: Methods, seed: int) -> Training:
    """Return a run of `cpu`."""
    return Training(
        precision=precision, micro_steps=micro_steps, methods=methods, data="tinyshakespeare",
        num_ranks=4, group_size=2, num_steps=50, num_sequences=32, context=32, width=35,
        num_layers=2, lr=3e-3, max_norm=0.5, seed=seed,
    )  # fmt: skip


def grid(profile: Profile) -> Iterator[Training]:
    """Yield exact types with all methods at four micro-batches and some at one and at eight;
    bfloat16 with all at one, and with some at four and many seeds. What is equal to rounding has
    one seed alone."""
    match profile:
        case "smoke":
            start = training("float64", 1, "some", 0)
            yield replace(
                start, data="grammar-text", num_steps=2, num_sequences=4, context=15, num_layers=1
            )
        case "cpu":
            (first,) = seeds_of(profile, 1, first=FRESH_SEED)
            for precision in EXACT:
                yield training(precision, 4, "all", first)
                for micro_steps in (1, 8):
                    yield training(precision, micro_steps, "some", first)
            yield training("bfloat16", 1, "all", first)
            for seed in seeds_of(profile, NUM_SEEDS, first=FIRST_SEED):
                yield training("bfloat16", 4, "some", seed)


def stands_in(training: Training) -> Mapping[str, str]:
    """Return what was trained, and on what, in the place of the paper's."""
    if training.data not in TEXTS:
        return {}
    return {"LLaMA-7B": f"a GPT of width {training.width}", CORPUS: TEXTS[training.data]}


def estimate(training: Training) -> Estimate:
    """Return the seconds of all methods in turn, their ranks on one core."""
    per_step_s = 0.02 + 0.04 * training.micro_steps
    slower = 3.4 if training.precision == "float64" else 1.0
    seconds = 10.0 + slower * per_step_s * training.num_steps * len(methods_of(training))
    return Estimate(seconds=seconds, memory_bytes=3 * 2**30)


trainings = Experiment(
    "paro/convergence",
    version=1,
    params=Training,
    grid=grid,
    run="trial:loss_rows",
    needs=lambda training: Needs(data=(training.data,), memory_bytes=3 * 2**30),
    estimate=estimate,
    address=("precision", "micro_steps", "seed"),
    stands_in=stands_in,
)
