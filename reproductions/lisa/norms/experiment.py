"""Norms by layer: of adapters as they are drawn at the paper's widths, and over a fine-tuning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from harness.declare import Estimate, Experiment, Needs, Params, Profile, doc, seed, seeds_of
from reproductions.lisa.base_model.experiment import USES_BASE
from reproductions.lisa.finetuning.experiment import NUM_STEPS, RATES, needs
from reproductions.lisa.models.names import QUALITY, SMALLEST, TITLES
from reproductions.lisa.models.shapes import Shape, shape_of
from reproductions.lisa.models.stand_ins import tuned
from reproductions.lisa.models.tuning import Tuning

RANK, RANK_IN_HOUSE = 128, 4
"""The paper's, of a width of 4,096, and as much of ours."""
BLOCKS_BUILT = {"gpt2-small": 12, "llama-2-7b": 1, "mistral-7b": 1}
"""One block of a 7B model, at the real width; the others are drawn like it."""

START, MEAN = "start", "mean"
"""Before any step, and the mean over all steps."""
EMBEDDING, POSITIONS, HEAD = "embedding", "positions", "head"


class Draw(Params):
    """Adapters beside a model with random weights, before any step."""

    model: str = doc("Shape of the model.")
    num_blocks: int = doc("Blocks that are built.")
    rank: int = doc("LoRA's rank.")
    seed: int = seed("One draw of adapters and weights.", default=0)
    device: Literal["cpu", "cuda"] = doc("Where they are drawn.", default="cpu")
    dtype: Literal["float32", "bfloat16"] = doc("Type of weights and adapters.", default="bfloat16")


class Training(Tuning):
    """Fine-tuning with a measurement after every step."""

    method: Literal["lora", "full"] = doc("lora or full.")
    rank: int = doc("LoRA's rank; 0 without it.")


def block_name(number: int) -> str:
    """Return the name of a decoder block, counted from 0."""
    return f"block {number}"


def places_of(shape: Shape) -> dict[str, int]:
    """Return each layer's place: embeddings, blocks, head; a tied head has one too.

    >>> from reproductions.lisa.models.shapes import SHAPES
    >>> places_of(SHAPES["gpt2-small"])["block 11"], places_of(SHAPES["llama-2-7b"])["head"]
    (13, 33)
    """
    embeddings = [EMBEDDING, POSITIONS] if shape.family == "gpt2" else [EMBEDDING]
    blocks = [block_name(number) for number in range(shape.num_blocks)]
    return {name: place for place, name in enumerate([*embeddings, *blocks, HEAD])}


def drawn_grid(profile: Profile) -> Iterator[Draw]:
    """Yield the paper's models, on a GPU with all their blocks; a small width at `smoke`."""
    if profile == "smoke":
        yield Draw(model="tiny-smoke", num_blocks=8, rank=4)
        return
    for model, num_built in BLOCKS_BUILT.items():
        one = Draw(model=model, num_blocks=num_built, rank=RANK)
        if profile != "cpu":
            one = replace(one, num_blocks=shape_of(model).num_blocks, device="cuda")
        for number in seeds_of(profile):
            yield replace(one, seed=number)


def training(model: str, method: Literal["lora", "full"]) -> Training:
    """Return a training at the method's rate; LoRA's rank is the paper's share of the width."""
    rank = RANK_IN_HOUSE if method == "lora" else 0
    return Training(
        model=model, method=method, rank=rank, lr=RATES[method], num_steps=NUM_STEPS, batch_size=8
    )


def training_grid(profile: Profile) -> Iterator[Training]:
    """Yield both methods; three steps of the smallest model at `smoke`."""
    methods: tuple[Literal["lora", "full"], ...] = ("lora", "full")
    for method in methods:
        match profile:
            case "smoke":
                yield replace(training(SMALLEST, method), num_steps=3, batch_size=4)
            case "cpu":
                for number in seeds_of(profile):
                    yield replace(training(QUALITY, method), seed=number)


def built(draw: Draw) -> Shape:
    """Return the shape that a trial builds: with all its widths, and some of its blocks."""
    return replace(shape_of(draw.model), num_blocks=draw.num_blocks)


def drawn_needs(draw: Draw) -> Needs:
    """Return room for the weights twice: some are drawn in float32 before they are stored."""
    room = 2**30 + 4 * built(draw).num_params
    packages = ("transformers", "peft")
    if draw.device == "cuda":
        return Needs(device="cuda", gpu_bytes=room, packages=packages)
    return Needs(memory_bytes=room, packages=packages)


def drawn_for(draw: Draw) -> dict[str, str]:
    """Return what adapters that were drawn and never trained stand in for, at any profile."""
    shape, names = shape_of(draw.model), [TITLES[name] for name in BLOCKS_BUILT]
    if draw.model not in BLOCKS_BUILT:
        return dict.fromkeys(names, "untrained adapters on a small net")
    part = "one of " if draw.num_blocks == 1 else ""
    return {TITLES[draw.model]: f"untrained adapters on {part}its {shape.num_blocks} blocks"}


drawn = Experiment(
    "lisa/initial_norms",
    version=1,
    params=Draw,
    grid=drawn_grid,
    run="trial:initial_rows",
    needs=drawn_needs,
    # A start, and a time that grows with the weights.
    estimate=lambda draw: Estimate(seconds=3.0 + built(draw).num_params / 5e7, memory_bytes=2**32),
    address=("model", "num_blocks", "seed"),
    stands_in=drawn_for,
)
trained = Experiment(
    "lisa/norms",
    version=1,
    params=Training,
    grid=training_grid,
    run="trial:training_rows",
    needs=needs,
    uses=USES_BASE,
    # A start and the steps, each with its norms.
    estimate=lambda params: Estimate(seconds=0.2 + 0.2 * params.num_steps, memory_bytes=2**31),
    address=("model", "method", "lr", "seed"),
    stands_in=tuned,
)
