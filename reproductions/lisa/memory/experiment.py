"""Memory of one step, by method and model; and of ten periods, by what happens to states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, get_args

from harness.declare import Estimate, Experiment, Needs, Params, Profile, doc, seed, seeds_of
from reproductions.lisa.models.shapes import DTYPE_BYTES, shape_of

How = Literal["count", "arithmetic", "gpu"]
Policy = Literal["drop_refrozen", "keep_all", "reset_all"]
Dtype = Literal["float32", "bfloat16"]

GAMMAS = (0, 2, 4)
RANKS = (128, 256, 512)
"""The least is GaLore's too: it is what transformers, and so the paper, gives it."""
TINY_RANKS = (4, 8, 16)
"""Stand for 128, 256 and 512: rank 4 adapts the share of the tiny model, a thirty-second as wide,
that rank 128 adapts of LLaMA-2-7B."""
DROPOUT = 0.1
"""What adapters have in the authors' memory script."""
MODELS = ("gpt2-small", "tinyllama", "mistral-7b", "llama-2-7b", "llama-2-70b")
SEQ_LEN = 512
SEQ_LENS = {"llama-2-7b": (256, SEQ_LEN, 640, 704, 768, 1024)}
"""The paper's activations of LLaMA-2-7B lie between those of 640 and 768 tokens."""
ON_A_GPU = ("llama-2-7b", "tinyllama")
"""Models whose Table 1 one GPU measures within minutes."""
COMPARED_LENS = (704, 256)
"""Lengths at which claims compare LLaMA-2-7B on one GPU beside that of Table 1: the nearest to the
paper's activations, and the least, where LISA needs most beside LoRA by arithmetic."""
COMPARED = (("full", 0), ("lora", 0), ("lisa", 2))
"""What they compare there: methods, and blocks that train at once."""
NUM_PERIODS = 10
"""As many as the paper's K = 13 gives in its 122 steps."""


class Step(Params):
    """One step of a method on a model."""

    shape: str = doc("Model.")
    how: How = doc(
        "count: a real step; arithmetic: the same on the meta device, which computes nothing;"
        " gpu: arithmetic, with the allocator's peaks beside it."
    )
    method: Literal["full", "lora", "lisa", "galore"] = doc("How the model is trained.")
    rank: int = doc("Rank of LoRA or GaLore; 0 without.", default=0)
    dropout: float = doc("Dropout of LoRA's adapters; 0 without them.", default=0.0)
    gamma: int = doc("Blocks that train at once under LISA; 0 without it.", default=0)
    seq_len: int = doc("Tokens per sequence.")
    batch_size: int = doc("Sequences per step.")
    dtype: Dtype = doc("Type of weights, gradients and moments.")
    seed: int = seed("One draw of layers.", default=0)


class Periods(Params):
    """Some periods of LISA under a policy for the states of blocks that are frozen again."""

    shape: str = doc("Model.")
    gamma: int = doc("Blocks that train at once.")
    num_periods: int = doc("Periods of two steps each.")
    policy: Policy = doc("What happens to the states.")
    seed: int = seed("One draw of layers.")
    seq_len: int = doc("Tokens per sequence.")
    batch_size: int = doc("Sequences per step.")
    dtype: Dtype = doc("Type of weights, gradients and moments.")


def methods(full: Step, ranks: tuple[int, ...]) -> Iterator[Step]:
    """Yield the columns of Table 1, and two of ours: LoRA without dropout, and GaLore.

    Both have the smallest rank.

    full: the step of full training.
    """
    yield full
    for rank in ranks:
        for dropout in (DROPOUT, 0.0) if rank == ranks[0] else (DROPOUT,):
            yield replace(full, method="lora", rank=rank, dropout=dropout)
    for gamma in GAMMAS:
        yield replace(full, method="lisa", gamma=gamma)
    yield replace(full, method="galore", rank=ranks[0])


def real_steps(shape: str, ranks: tuple[int, ...], seq_len: int, batch_size: int) -> Iterator[Step]:
    """Yield real steps of a model of small blocks, each with arithmetic beside it."""
    full = Step(
        shape=shape, how="count", method="full", dtype="float32",
        seq_len=seq_len, batch_size=batch_size,
    )  # fmt: skip
    for step in methods(full, ranks):
        yield from (step, replace(step, how="arithmetic"))


def full_size(how: How, models: tuple[str, ...]) -> Iterator[Step]:
    """Yield the paper's models, LLaMA-2-7B at several lengths."""
    for name in models:
        for seq_len in SEQ_LENS.get(name, (SEQ_LEN,)):
            yield from methods(full_training(name, how, seq_len), RANKS)


def on_one_gpu() -> Iterator[Step]:
    """Yield Table 1 of some models, and at more lengths what claims compare."""
    for name in ON_A_GPU:
        yield from methods(full_training(name, "gpu", SEQ_LEN), RANKS)
    for seq_len in COMPARED_LENS:
        for step in methods(full_training(ON_A_GPU[0], "gpu", seq_len), RANKS[:1]):
            if (step.method, step.gamma) in COMPARED:
                yield step


def full_training(shape: str, how: How, seq_len: int) -> Step:
    """Return a step of full training of one of the paper's models."""
    return Step(
        shape=shape, how=how, method="full", dtype="bfloat16", seq_len=seq_len, batch_size=1
    )


def grid(profile: Profile) -> Iterator[Step]:
    """Yield small blocks step by step, and the paper's models by arithmetic or on a GPU."""
    match profile:
        case "smoke":
            yield from real_steps("tiny-smoke", (1, 2, 4), seq_len=8, batch_size=1)
        case "cpu":
            yield from real_steps("tiny-deep", TINY_RANKS, seq_len=256, batch_size=8)
            yield from full_size("arithmetic", MODELS)
        case "gpu":
            yield from on_one_gpu()
        case _:
            # 70B fits no single card.
            yield from full_size("gpu", MODELS[:-1])
            yield from full_size("arithmetic", MODELS[-1:])


def policy_grid(profile: Profile) -> Iterator[Periods]:
    """Yield every policy on a model of small blocks, with some draws of layers."""
    settings = {"smoke": ("tiny-smoke", 1), "cpu": ("tiny-deep", 2)}
    if profile in settings:
        shape, gamma = settings[profile]
        for policy in get_args(Policy):
            for number in seeds_of(profile):
                yield Periods(
                    shape=shape, gamma=gamma, num_periods=NUM_PERIODS, policy=policy, seed=number,
                    seq_len=8, batch_size=1, dtype="float32",
                )  # fmt: skip


def needs(step: Step) -> Needs:
    """Return what a trial asks for.

    On a GPU its process is its own, and so are the allocator's peaks: others run beside it.
    """
    packages = ("transformers", "peft")
    if step.how != "gpu":
        return Needs(memory_bytes=2**31, packages=packages)
    return Needs(device="cuda", gpu_bytes=room_of(step), packages=packages)


def room_of(step: Step) -> int:
    """Return what to ask of a GPU: the closed form and activations, with a tenth for the rest.

    By arithmetic a block keeps at most 32 numbers per token and unit of width, and 3 per pair of
    tokens and head; a quarter more is for what comes and goes. Logits have three copies in float32.
    """
    shape, size = shape_of(step.shape), DTYPE_BYTES[step.dtype]
    static = shape.static_bytes(step.method, rank=step.rank, gamma=step.gamma, dtype=step.dtype)
    of_block = size * (40 * shape.hidden + 4 * step.seq_len * shape.heads)
    per_token = shape.num_blocks * of_block + 3 * DTYPE_BYTES["float32"] * shape.vocab
    return int(1.1 * (static + step.batch_size * step.seq_len * per_token))


def estimate(step: Step) -> Estimate:
    """Return a start, on a GPU that of a fresh process, and a time for every block."""
    start_s = 6.0 if step.how == "gpu" else 0.2
    return Estimate(seconds=start_s + 0.03 * shape_of(step.shape).num_blocks, memory_bytes=2**31)


steps = Experiment(
    "lisa/memory",
    version=1,
    params=Step,
    grid=grid,
    run="trial:memory_row",
    needs=needs,
    estimate=estimate,
    address=("shape", "how", "method", "rank", "gamma", "dropout", "seq_len"),
)
policies = Experiment(
    "lisa/state_policies",
    version=1,
    params=Periods,
    grid=policy_grid,
    run="trial:policy_rows",
    needs=Needs(memory_bytes=2**31, packages=("transformers",)),
    estimate=lambda periods: Estimate(seconds=1.3, memory_bytes=2**31),
    address=("policy", "seed"),
)
