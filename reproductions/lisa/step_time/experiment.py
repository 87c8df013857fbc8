"""Time of one training step: by method, warm with all methods in turn and each one's cold start;
and of LISA with its kernels and in plain torch, in turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from harness.declare import Estimate, Experiment, Needs, Params, Profile, doc, seed, seeds_of
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.models.stand_ins import net

DROPOUT = 0.1
"""What adapters have in the authors' memory script."""


class Timing(Params):
    """Steps of some methods on a model."""

    shape: str = doc("Model, with new weights.")
    device: Literal["cpu", "cuda"] = doc("cpu: one thread; cuda: one GPU.")
    dtype: Literal["float32", "bfloat16"] = doc("Type of weights, gradients and moments.")
    seq_len: int = doc("Tokens per sequence.")
    batch_size: int = doc("Sequences per step.")
    lora_rank: int = doc("LoRA's rank.")
    lisa_gamma: int = doc("Blocks that train at once under LISA.", default=2)
    num_warmup: int = doc("Rounds before those that are timed.", default=5)
    num_timed: int = doc("Rounds that are timed.", default=20)
    cold: bool = doc(
        "The first step of a fresh process, by the host's clock without a synchronise; else warm"
        " steps, methods in turn.",
        default=False,
    )
    methods: Literal["all", "full", "lora_dropout", "lora", "lisa"] = doc(
        "Which methods are timed.", default="all"
    )
    seed: int = seed("One process on one machine.", default=0)


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Timed:
    """One method that is timed."""

    method: Literal["full", "lora", "lisa"]
    rank: int = 0
    dropout: float = 0.0
    gamma: int = 0


def methods_of(timing: Timing) -> list[Timed]:
    """Return the methods of a trial, in the order in which they take turns."""
    lora = Timed(method="lora", rank=timing.lora_rank)
    known = {
        "full": Timed(method="full"),
        "lora_dropout": replace(lora, dropout=DROPOUT),
        "lora": lora,
        "lisa": Timed(method="lisa", gamma=timing.lisa_gamma),
    }
    return list(known.values()) if timing.methods == "all" else [known[timing.methods]]


FEW = Timing(
    shape="tiny-smoke", device="cpu", dtype="float32", seq_len=16, batch_size=1, lora_rank=1,
    num_warmup=0, num_timed=3,
)  # fmt: skip
"""What shows the path."""


SMALL = Timing(
    shape="tiny-deep", device="cpu", dtype="float32", seq_len=256, batch_size=2, lora_rank=4
)
LARGE = Timing(
    shape="llama-2-7b", device="cuda", dtype="bfloat16", seq_len=512, batch_size=1, lora_rank=128,
    num_timed=10,
)  # fmt: skip


def grid(profile: Profile) -> Iterator[Timing]:
    """Yield a model of small blocks, and on a GPU LLaMA-2-7B with random weights.

    Within a GPU's minutes claims, which are about warm steps, have all seeds, and cold ones one.
    """
    seeds = seeds_of(profile)
    match profile:
        case "smoke":
            yield from (FEW, replace(FEW, cold=True, methods="full"))
        case "gpu":
            yield from (replace(LARGE, seed=number) for number in seeds)
            yield from cold_starts(replace(LARGE, seed=seeds[0]))
        case _:
            for number in seeds:
                warm = replace(SMALL if profile == "cpu" else LARGE, seed=number)
                yield from (warm, *cold_starts(warm))


def cold_starts(warm: Timing) -> Iterator[Timing]:
    """Yield each method's first step, in a process of its own."""
    for method in ("full", "lora_dropout", "lora", "lisa"):
        yield replace(warm, cold=True, methods=method)


def needs(timing: Timing) -> Needs:
    """Return what a trial asks for: on a GPU all its models at once, and one's activations."""
    packages = ("transformers", "peft")
    if timing.device != "cuda":
        return Needs(memory_bytes=2**31, packages=packages, exclusive=True)
    room = shape_of(timing.shape).step_bytes(
        *({"method": m.method, "rank": m.rank, "gamma": m.gamma} for m in methods_of(timing)),
        seq_len=timing.seq_len, batch_size=timing.batch_size, dtype=timing.dtype,
    )  # fmt: skip
    return Needs(device="cuda", gpu_bytes=room, packages=packages, exclusive=True)


def stands_in(timing: Timing | KernelStep) -> dict[str, str]:
    """Return what a model of small blocks stands in for; at a GPU nothing."""
    return {} if timing.device == "cuda" else {"LLaMA-2-7B": net(timing.shape)}


def estimate(timing: Timing) -> Estimate:
    """Return a start, with transformers and peft, and the steps.

    On a GPU warm trials follow each other in one process: models are made, nothing is imported.
    """
    rounds = 1 if timing.cold else timing.num_warmup + timing.num_timed
    step_s, start_s, num_methods = 0.2, 6.0, len(methods_of(timing))
    if timing.shape == "tiny-deep":
        step_s = 0.6
    elif timing.device == "cuda":
        # A round more counts operations.
        step_s, rounds = 0.1, rounds + 1
        start_s = start_s if timing.cold else 1.0 * num_methods
    return Estimate(seconds=start_s + step_s * rounds * num_methods, memory_bytes=2**31)


def kernel_grid(profile: Profile) -> Iterator[KernelStep]:
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
                yield from (replace(first, seed=number) for number in seeds_of(profile))


def kernel_needs(params: KernelStep) -> Needs:
    """Return what a trial asks for: on a GPU both models at once, and one's activations."""
    if params.device == "cpu":
        return Needs(memory_bytes=2**31, packages=("transformers",), exclusive=True)
    shape, lisa = shape_of(params.shape), {"method": "lisa", "gamma": params.gamma}
    # A kernel's two moments are in float32, of weights in bfloat16 too.
    room = 4 * shape.lisa_params(params.gamma) + shape.step_bytes(
        lisa, lisa, seq_len=params.seq_len, batch_size=params.batch_size, dtype=params.dtype
    )
    return Needs(device="cuda", gpu_bytes=room, packages=("transformers", "triton"), exclusive=True)


timings = Experiment(
    "lisa/step_time",
    version=1,
    params=Timing,
    grid=grid,
    run="trial:time_rows",
    needs=needs,
    estimate=estimate,
    address=("shape", "cold", "methods", "seed"),
    stands_in=stands_in,
)
kernel_steps = Experiment(
    "lisa/kernel_step",
    version=1,
    params=KernelStep,
    grid=kernel_grid,
    run="kernel_trial:step_rows",
    needs=kernel_needs,
    estimate=lambda params: Estimate(seconds=6.0 + 0.8 * params.num_timed, memory_bytes=2**31),
    address=("shape", "seed"),
    stands_in=stands_in,
)
