"""Continual pre-training on mathematical text, then fine-tuning on word problems, by gamma; and
the memory of its steps, counted for our model, else computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Literal

from harness.declare import (
    PILOT_SEEDS,
    Estimate,
    Experiment,
    Needs,
    Params,
    Profile,
    doc,
    seed,
    seeds_of,
)
from reproductions.lisa.base_model.experiment import USES_BASE
from reproductions.lisa.finetuning.experiment import GAMMA, PERIOD
from reproductions.lisa.memory.experiment import Step, estimate
from reproductions.lisa.models.names import QUALITY, SMALLEST
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.models.stand_ins import net

GAMMAS = (1, 2, 4)
"""An eighth, a quarter and half of eight blocks; the paper has 2, 4, 8 and 16 of 32."""
LRS = (3e-4, 1e-3, 3e-3)
"""What pilots try for every method, in both stages."""
BEYOND: Mapping[int, tuple[float, ...]] = {0: (1e-4,)}
"""Gamma -> further rates, where the best one was the least or the greatest, until it is not."""
RATES: Mapping[int, float] = dict.fromkeys(GAMMAS, 1e-3) | {0: 3e-4}
"""Gamma -> rate of the most validation problems solved in the pilots; 0 is full training."""
NUM_PILOT_SEEDS = 2
SOLUTIONS = "gsm8k_train"
FULL_SIZE = ("tinyllama", "llama-2-7b")
"""The paper's models of Table 4."""


class TwoStages(Params):
    """Training on text, then on problems, both by one method."""

    model: str = doc("What is trained.")
    method: Literal["full", "lisa"] = doc("full or lisa.", default="full")
    gamma: int = doc("Blocks trained at once by LISA; else 0.", default=0)
    period: int = doc("Optimizer steps from draw to draw of blocks, K.", default=0)
    lr: float = doc("Highest learning rate of both stages.", default=1e-3)
    seed: int = seed("One training in both stages: text, problems and layers.", default=0)
    text_steps: int = doc("Steps on text.")
    problems_steps: int = doc("Steps on problems.")
    batch_size: int = doc("Windows or problems per step.")
    max_tokens: int = doc("Tokens of a window of text.")
    num_held_out: int = doc("Problems of the validation split, and as many of the test split.")
    max_new_tokens: int = doc("Tokens of an answer at most.")
    solutions: bool = doc("Whether solved problems of GSM8K are mixed into the text.")
    keep_weights: bool = doc("Whether the weights are an artifact.", default=False)


OURS = TwoStages(
    model=QUALITY, text_steps=312, problems_steps=520, batch_size=8, max_tokens=64,
    num_held_out=200, max_new_tokens=48, solutions=True,
)  # fmt: skip
"""24 periods of text and 40 of problems. After half as many full training solved half, and LISA far
fewer."""
SMALL = TwoStages(
    model=SMALLEST, text_steps=3, problems_steps=3, batch_size=2, max_tokens=32, num_held_out=2,
    max_new_tokens=4, solutions=False,
)  # fmt: skip


def lisa(base: TwoStages, gamma: int) -> TwoStages:
    """Return LISA; with two blocks it keeps its weights, for those who decode with them."""
    kept = gamma == GAMMA
    return replace(base, method="lisa", gamma=gamma, period=PERIOD, keep_weights=kept)


def grid(profile: Profile) -> Iterator[TwoStages]:
    """Yield full training and LISA, each at its rate, at every seed."""
    match profile:
        case "smoke":
            # Half of the blocks, and a quarter.
            yield from (SMALL, lisa(SMALL, 1), lisa(SMALL, 2))
        case "cpu":
            for base in (OURS, *(lisa(OURS, gamma) for gamma in GAMMAS)):
                for number in seeds_of(profile):
                    yield replace(base, lr=RATES[base.gamma], seed=number)


def pilot_grid(profile: Profile) -> Iterator[TwoStages]:
    """Yield full training and LISA at every rate, at seeds that no other run has."""
    if profile == "smoke":
        yield replace(SMALL, seed=seeds_of(profile)[0])
    if profile == "cpu":
        for base in (OURS, *(lisa(OURS, gamma) for gamma in GAMMAS)):
            rates = sorted({*LRS, *BEYOND.get(base.gamma, ())})
            for lr, number in product(rates, PILOT_SEEDS[:NUM_PILOT_SEEDS]):
                yield replace(base, lr=lr, seed=number, keep_weights=False)


def half_of(shape_name: str) -> int:
    """Return half of a model's blocks, the largest gamma of the paper's Figure 7."""
    return shape_of(shape_name).num_blocks // 2


def methods(full: Step, gammas: tuple[int, ...]) -> Iterator[Step]:
    """Yield full training and LISA on one model."""
    yield full
    for gamma in gammas:
        yield replace(full, method="lisa", gamma=gamma)


def memory_grid(profile: Profile) -> Iterator[Step]:
    """Yield a step as our runs take it, and the paper's models at one length of Table 1."""
    ours = Step(
        shape=QUALITY, how="count", method="full", dtype="float32", seq_len=OURS.max_tokens,
        batch_size=OURS.batch_size,
    )  # fmt: skip
    match profile:
        case "smoke":
            yield from methods(replace(ours, shape=SMALLEST, seq_len=16, batch_size=2), (1, 2))
        case "cpu":
            yield from methods(ours, GAMMAS)
            for name in FULL_SIZE:
                half = half_of(name)
                # The paper's 2, 4, 8 and 16 of 32, and of 22 blocks half.
                gammas = (2, 4, 8, half) if name == "llama-2-7b" else (half,)
                full = Step(
                    shape=name, how="arithmetic", method="full", dtype="bfloat16",
                    seq_len=512, batch_size=1,
                )  # fmt: skip
                yield from methods(full, gammas)


def needs(params: TwoStages) -> Needs:
    """Return the solved problems that are mixed in, where they are."""
    data = (SOLUTIONS,) if params.solutions else ()
    return Needs(data=data, memory_bytes=2**31, packages=("transformers", "tokenizers"))


_stages = partial(
    Experiment,
    version=1,
    params=TwoStages,
    run="trial:continual_rows",
    needs=needs,
    uses=USES_BASE,
    estimate=lambda params: Estimate(
        seconds=0.3 if params.model == SMALLEST else 100.0, memory_bytes=2**31
    ),
    address=("model", "method", "gamma", "lr", "seed"),
    # The paper's models are there by arithmetic, under their own names.
    stands_in=lambda params: {"GSM8K": f"word problems of ours, by {net(params.model)}"},
    package=__package__,
)
runs = _stages("lisa/continual", grid=grid)
pilots = _stages("lisa/pilot_continual", grid=pilot_grid)
memory = Experiment(
    "lisa/continual_memory",
    version=1,
    params=Step,
    grid=memory_grid,
    run=".memory.trial:memory_row",
    needs=Needs(memory_bytes=2**31, packages=("transformers",)),
    estimate=estimate,
    address=("shape", "how", "method", "gamma"),
)
