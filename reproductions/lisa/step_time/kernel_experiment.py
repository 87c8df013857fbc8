"""A step of LISA with its kernels and in plain torch, in turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from harness.declare import Estimate, Experiment, Needs, Params, Profile, doc, seed
from reproductions.lisa.models.costs import (
    activation_bytes,
    static_bytes,
    trainable_of,
    with_a_tenth,
)
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.models.stand_ins import net

NUM_SEEDS = 3
START_S = 6.0
"""Import of transformers."""
STEP_S = {"cpu": 0.05, "cuda": 0.4}
"""Of one way."""
WIDER_BYTES = 4
"""Per weight that trains: a kernel's two moments are in float32, of weights in bfloat16 too."""


class KernelStep(Params):
    """Steps of LISA on a model, in two ways."""

    shape: str = doc("Model, with new weights.")
    device: Literal["cpu", "cuda"] = doc("cpu: one thread; cuda: one GPU.")
    dtype: Literal["float32", "bfloat16"] = doc("Type of weights and gradients.")
    seq_len: int = doc("Tokens per sequence.")
    batch_size: int = doc("Sequences per step.")
    gamma: int = doc("Blocks that train at once.")
    num_warmup: int = doc("Rounds before those that are timed, beside the first step.")
    num_timed: int = doc("Rounds that are timed.")
    seed: int = seed("One process on one machine.")


def grid(profile: Profile) -> Iterator[KernelStep]:
    """Yield LLaMA-2-7B and TinyLlama with new weights at `gpu`, eight small blocks at `smoke`.

    The loss is a kernel where targets are more than features, which in LLaMA-2-7B's step they are
    not, and in TinyLlama's are.
    """
    match profile:
        case "smoke":
            yield KernelStep(
                shape="tiny-smoke", device="cpu", dtype="float32", seq_len=16, batch_size=1,
                gamma=2, num_warmup=0, num_timed=3, seed=0,
            )  # fmt: skip
        case "gpu":
            for shape, batch_size in (("llama-2-7b", 1), ("tinyllama", 8)):
                first = KernelStep(
                    shape=shape, device="cuda", dtype="bfloat16", seq_len=512,
                    batch_size=batch_size, gamma=2, num_warmup=5, num_timed=20, seed=0,
                )  # fmt: skip
                yield from (replace(first, seed=number) for number in range(NUM_SEEDS))


def needs(params: KernelStep) -> Needs:
    """Return what a trial asks for: on a GPU both models at once, and one's activations."""
    if params.device == "cpu":
        return Needs(memory_bytes=2**31, packages=("transformers",), exclusive=True)
    shape, gamma, dtype = shape_of(params.shape), params.gamma, params.dtype
    static = static_bytes(shape, "lisa", rank=0, gamma=gamma, dtype=dtype)
    wider = WIDER_BYTES * trainable_of(shape, "lisa", rank=0, gamma=gamma)
    saved = activation_bytes(
        shape, seq_len=params.seq_len, batch_size=params.batch_size, dtype=dtype
    )
    return Needs(
        device="cuda", gpu_bytes=with_a_tenth(2 * static + wider + saved),
        packages=("transformers", "triton"), exclusive=True,
    )  # fmt: skip


def estimate(params: KernelStep) -> Estimate:
    """Return a start, and the steps of both ways."""
    rounds = params.num_warmup + params.num_timed + 2
    seconds = START_S + 2 * rounds * STEP_S[params.device]
    return Estimate(seconds=seconds, memory_bytes=2**31)


def stands_in(params: KernelStep) -> dict[str, str]:
    """Return what a model of small blocks stands in for; at a GPU nothing."""
    return {} if params.device == "cuda" else {"LLaMA-2-7B": net(params.shape)}


kernel_steps = Experiment(
    "lisa/kernel_step",
    version=1,
    params=KernelStep,
    grid=grid,
    run="kernel_trial:step_rows",
    needs=needs,
    estimate=estimate,
    address=("shape", "seed"),
    stands_in=stands_in,
)
