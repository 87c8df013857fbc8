"""Norms of adapters as they are drawn, at the paper's widths and rank, before any training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.declare.experiment import Estimate, Experiment, Needs, RawParams, Row, RunContext
from reproductions.lisa.models.shapes import shape_of

RANK = 128
NUM_SEEDS = 3
BLOCKS_BUILT = {"gpt2-small": 12, "llama-2-7b": 1, "mistral-7b": 1}
"""Of a 7B model one block, of the real width; the others are drawn like it."""
DRAWN_PER_S = 5e7
"""Weights that one core draws and measures."""


def run(params: RawParams, ctx: RunContext) -> Sequence[Row]:
    """Draw once; one row a layer."""
    from reproductions.lisa.norms.trial import initial_rows

    return initial_rows(params, ctx)


def needs(params: RawParams) -> Needs:
    """Return room for the weights twice: some are drawn in float32 before they are stored."""
    room = 2**30 + 4 * num_built(params)
    packages = ("transformers", "peft")
    if params["device"] == "cuda":
        return Needs(device="cuda", gpu_bytes=room, packages=packages)
    return Needs(memory_bytes=room, packages=packages)


def estimate(params: RawParams) -> Estimate:
    """Return a start and a time that grows with the weights."""
    room = needs(params).memory_bytes
    return Estimate(seconds=6.0 + num_built(params) / DRAWN_PER_S, memory_bytes=room)


def num_built(params: RawParams) -> int:
    """Return how many weights a trial draws."""
    shape = shape_of(str(params["model"]))
    left_out = shape.num_blocks - int(params["num_blocks"])
    return shape.num_params - left_out * shape.block_params


def smoke_grid() -> Iterator[RawParams]:
    """Yield one draw at a small width."""
    yield point("tiny-smoke", num_blocks=8, rank=4, seed=0, device="cpu")


def cpu_grid() -> Iterator[RawParams]:
    """Yield the paper's models, those of 7B with one block."""
    for shape, num_blocks in BLOCKS_BUILT.items():
        for seed in range(NUM_SEEDS):
            yield point(shape, num_blocks=num_blocks, rank=RANK, seed=seed, device="cpu")


def gpu_grid() -> Iterator[RawParams]:
    """Yield the paper's models with all their blocks."""
    for shape in BLOCKS_BUILT:
        num_blocks = shape_of(shape).num_blocks
        for seed in range(NUM_SEEDS):
            yield point(shape, num_blocks=num_blocks, rank=RANK, seed=seed, device="cuda")


def point(shape: str, *, num_blocks: int, rank: int, seed: int, device: str) -> RawParams:
    """Return one trial's parameters; weights and adapters are in bfloat16."""
    return {
        "model": shape, "num_blocks": num_blocks, "rank": rank, "seed": seed, "device": device,
        "dtype": "bfloat16",
    }  # fmt: skip


experiment = Experiment(
    id="lisa/initial_norms",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid, "gpu": gpu_grid, "paper": gpu_grid},
    needs=needs,
    estimate=estimate,
    address=("model", "num_blocks", "seed"),
)
