"""Fine-tuning SmolLM2-135M by every method, and what a step of each holds and takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Literal, get_args

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
from reproductions.lisa.models.names import GRAMMAR, SMALLEST, TITLES
from reproductions.lisa.models.tuning import RECORDS, Tuning
from reproductions.lisa.step_time.experiment import FEW, Timing

SMOLLM, SMOLLM_SHAPE = "smollm2_135m", "smollm2-135m"
"""Its weights in the catalogue; its shape."""
Way = Literal[
    "untuned", "full", "lora", "lora_equal", "lora_ends", "galore", "lisa", "lisa_8", "no_blocks"
]
WAYS: tuple[Way, ...] = get_args(Way)
TUNED = WAYS[1:]
LABELS: Mapping[Way, str] = {
    "untuned": "untuned",
    "full": "full",
    "lora": "LoRA, r = 128",
    "lora_equal": "LoRA, LISA's memory",
    "lora_ends": "LoRA and E+H, LISA's memory",
    "galore": "GaLore",
    "lisa": r"LISA, 2 blocks",
    "lisa_8": r"LISA, 8 blocks",
    "no_blocks": "E+H alone",
}
NUM_STEPS, PERIOD = 40, 4
"""Ten draws of blocks, as the paper's 122 steps with K = 13 have."""
BATCH_SIZE, MAX_TOKENS = 8, 64
RANKS: Mapping[Way, int] = {"lora": 128, "lora_equal": 86, "lora_ends": 17, "galore": 128}
"""The paper's; the most with which weights, gradients and moments are no more than LISA's with two
blocks, alone and beside trained embeddings and head; and what transformers gives GaLore."""
TIMED_RANK = 18
"""As large a share of the width as 128 of LLaMA-2-7B's; a greater one would cost LoRA more time."""
SMALL_RANKS: Mapping[Way, int] = {"lora": 10, "lora_equal": 8, "lora_ends": 1, "galore": 4}
GAMMAS: Mapping[Way, int] = {"lisa": 2, "lisa_8": 8, "no_blocks": 0}
SMALL_GAMMAS: Mapping[Way, int] = {"lisa": 1, "lisa_8": 2, "no_blocks": 0}
CANDIDATES = (1e-4, 3e-4, 1e-3)
"""Rates that pilots try for every method."""
BEYOND: Mapping[Way, tuple[float, ...]] = {"full": (3e-5,)}
"""Further ones, for methods whose best rate was the least or the greatest, until it is not."""
RATES: Mapping[Way, float] = dict.fromkeys(TUNED, 3e-4) | {"full": 1e-4}
"""Each method's rate of the least validation loss in the pilots."""
BENCHMARKS = {"arc_easy": "arc_easy", "piqa": "piqa_val"}
"""Benchmark -> data set, where the untuned model is above guessing."""
CANDIDATE_BENCHMARKS = {**BENCHMARKS, "winogrande": "winogrande_val", "mmlu": "mmlu"}
"""All that pilots ask the untuned model."""
SCORED: tuple[Way, ...] = ("full", "lora", "galore", "lisa")
"""The methods of the paper's Table 2, whose accuracies are measured."""
MAX_DOCUMENTS = 200
MEMORY_BYTES = 4 * 2**30


class Compared(Tuning):
    """Fine-tuning of a model by a method, or the model as it came."""

    method: Way = doc(
        "untuned; full; lora, lora_equal (LISA's memory), lora_ends (that, with embeddings, head"
        " and final norm trained); galore; lisa, lisa_8 (more blocks), no_blocks (none)."
    )
    rank: int = doc("Rank of LoRA or GaLore; 0 without.", default=0)
    gamma: int = doc("Blocks that LISA trains at once; else 0.", default=0)
    period: int = doc(
        "Optimizer steps from draw to draw of blocks, K; 0 where none are drawn.", default=0
    )
    held_out: Literal["validation", "test"] = doc(
        "Split of the held-out loss: rates are chosen on the one, results are of the other."
    )
    benchmarks: Literal["none", "chosen", "all"] = doc(
        "Which benchmarks are asked.", default="none"
    )


class Held(Params):
    """One step of a method whose bytes are counted."""

    shape: str = doc("Model, with new weights.")
    how: Literal["count", "arithmetic"] = doc(
        "count: a real step; arithmetic: the same on the meta device, which computes nothing."
    )
    method: Way = doc("As in fine-tuning.")
    rank: int = doc("Rank of LoRA or GaLore; 0 without.", default=0)
    gamma: int = doc("Blocks that LISA trains at once; else 0.", default=0)
    seq_len: int = doc("Tokens per sequence.")
    batch_size: int = doc("Sequences per step.")
    seed: int = seed("Weights, which no byte depends on.", default=0)


def compared(method: Way, *, lr: float, seed: int, small: bool = False) -> Compared:
    """Return a method at a rate and seed on SmolLM2, or on a tiny model; its loss is of `test`."""
    ranks, gammas = (SMALL_RANKS, SMALL_GAMMAS) if small else (RANKS, GAMMAS)
    untuned = method == "untuned"
    point = Compared(
        model=SMALLEST if small else SMOLLM,
        method=method,
        rank=ranks.get(method, 0),
        gamma=gammas.get(method, 0),
        period=PERIOD if method in gammas else 0,
        lr=0.0 if untuned else lr,
        seed=seed,
        num_steps=0 if untuned else NUM_STEPS,
        batch_size=BATCH_SIZE,
        max_tokens=MAX_TOKENS,
        held_out="test",
    )
    # Until just after a switch.
    return replace(point, num_steps=min(point.num_steps, PERIOD + 1)) if small else point


def grid(profile: Profile) -> Iterator[Compared]:
    """Yield the model as it came, and every method at its rate; one that forgets is asked too."""
    if profile not in ("smoke", "cpu"):
        return
    small, seeds = profile == "smoke", seeds_of(profile)
    untuned = compared("untuned", lr=0.0, seed=seeds[0], small=small)
    yield replace(untuned, benchmarks="chosen")
    for method in TUNED:
        for number in seeds:
            point = compared(method, lr=RATES[method], seed=number, small=small)
            # So tiny a model shows the way once.
            asked = method == "lisa" if small else method in SCORED
            yield replace(point, benchmarks="chosen" if asked else "none")


def pilot_grid(profile: Profile) -> Iterator[Compared]:
    """Yield the untuned model on all benchmarks, and every method at every rate."""
    if profile not in ("smoke", "cpu"):
        return
    small = profile == "smoke"
    number = seeds_of("smoke")[0] if small else PILOT_SEEDS[0]
    untuned = compared("untuned", lr=0.0, seed=number, small=small)
    yield replace(untuned, held_out="validation", benchmarks="all")
    for method in ("full", "lisa") if small else TUNED:
        rates = CANDIDATES[:1] if small else sorted({*CANDIDATES, *BEYOND.get(method, ())})
        for lr in rates:
            point = compared(method, lr=lr, seed=number, small=small)
            yield replace(point, held_out="validation")


def held_grid(profile: Profile) -> Iterator[Held]:
    """Yield every method's step, counted and by arithmetic."""
    if profile not in ("smoke", "cpu"):
        return
    small = profile == "smoke"
    for method in TUNED:
        told = compared(method, lr=1.0, seed=0, small=small)
        for how in ("count", "arithmetic"):
            yield Held(
                shape=SMALLEST if small else SMOLLM_SHAPE, how=how, method=method, rank=told.rank,
                gamma=told.gamma, seq_len=8 if small else MAX_TOKENS,
                batch_size=1 if small else BATCH_SIZE,
            )  # fmt: skip


def timing_grid(profile: Profile) -> Iterator[Timing]:
    """Yield warm steps of full training, LoRA and LISA, methods in turn."""
    if profile == "smoke":
        yield FEW
    if profile == "cpu":
        for number in seeds_of(profile):
            yield Timing(
                shape=SMOLLM_SHAPE, device="cpu", dtype="float32", seq_len=MAX_TOKENS,
                batch_size=BATCH_SIZE, lora_rank=TIMED_RANK, num_warmup=1, num_timed=6,
                seed=number,
            )  # fmt: skip


def datasets_of(benchmarks: str) -> Mapping[str, str]:
    """Return the benchmarks of a trial with their data sets."""
    return {"none": {}, "chosen": BENCHMARKS, "all": CANDIDATE_BENCHMARKS}[benchmarks]


def needs(params: Compared) -> Needs:
    """Return the weights, the examples and the documents."""
    asked = datasets_of(params.benchmarks)
    packages = ("transformers", "peft", "tokenizers", *(("lm_eval",) if asked else ()))
    if params.model == SMALLEST:
        return Needs(data=(GRAMMAR,), memory_bytes=2**30, packages=packages)
    data = (SMOLLM, RECORDS, *asked.values())
    return Needs(data=data, memory_bytes=MEMORY_BYTES, packages=packages)


def estimate(params: Compared) -> Estimate:
    """Return a start with one evaluation, the steps, and the documents."""
    asked = len(datasets_of(params.benchmarks))
    if params.model == SMALLEST:
        return Estimate(seconds=0.5 + 0.5 * asked, memory_bytes=2**30)
    seconds = 60.0 + 4.0 * params.num_steps + 80.0 * asked
    return Estimate(seconds=seconds, memory_bytes=MEMORY_BYTES)


def stands_in(params: Compared | Held | Timing) -> dict[str, str]:
    """Return what SmolLM2, or a tiny model at smoke, stands in for."""
    name = getattr(params, "model", "") or params.shape  # type: ignore[union-attr]
    net = "SmolLM2-135M" if name in (SMOLLM, SMOLLM_SHAPE) else "a tiny model"
    return {TITLES["llama-2-7b"]: net}


_compared = partial(
    Experiment,
    version=1,
    params=Compared,
    run="trial:compared_rows",
    needs=needs,
    estimate=estimate,
    address=("model", "method", "lr", "seed"),
    stands_in=stands_in,
    package=__package__,
)
finetuned = _compared("lisa/compared", grid=grid)
pilots = _compared("lisa/pilot_rates", grid=pilot_grid)
held = Experiment(
    "lisa/compared_memory",
    version=1,
    params=Held,
    grid=held_grid,
    run="trial:held_row",
    needs=Needs(memory_bytes=MEMORY_BYTES, packages=("transformers", "peft")),
    estimate=lambda params: Estimate(
        seconds=10.0 if params.shape == SMOLLM_SHAPE else 0.2, memory_bytes=MEMORY_BYTES
    ),
    address=("shape", "method", "how"),
    stands_in=stands_in,
)
timings = Experiment(
    "lisa/compared_time",
    version=1,
    params=Timing,
    grid=timing_grid,
    run=".step_time.trial:time_rows",
    needs=Needs(memory_bytes=2 * MEMORY_BYTES, packages=("transformers", "peft"), exclusive=True),
    estimate=lambda params: Estimate(
        seconds=150.0 if params.shape == SMOLLM_SHAPE else 10.0, memory_bytes=2 * MEMORY_BYTES
    ),
    address=("shape", "seed"),
    stands_in=stands_in,
)
