"""Memory of one step, by method and model."""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare.experiment import Estimate, Experiment, Needs, Outcome, RawParams, RunContext
from harness.declare.params import Scalar
from reproductions.lisa.costs import room_bytes
from reproductions.lisa.shapes import shape_of

Point = dict[str, Scalar]

GAMMAS = (0, 2, 4)
RANKS = (128, 256, 512)
TINY_RANKS = (4, 8, 16)
"""Stand for 128, 256 and 512: rank 4 adapts the share of the tiny model, a thirty-second as wide,
that rank 128 adapts of LLaMA-2-7B."""
DROPOUT = 0.1
"""Of adapters in the authors' memory script."""
MODELS = ("gpt2-small", "tinyllama", "mistral-7b", "llama-2-7b", "llama-2-70b")
BIG_SEQ_LENS = (256, 512, 640, 704, 768, 1024)
"""The paper's activations lie between those of 640 and 768 tokens."""
OF_ALL = {"batch_size": 1, "seq_len": 512, "dtype": "bfloat16"}
NO_METHOD = {"rank": 0, "gamma": 0, "dropout": 0.0}
START_S = 5.0
"""Import of transformers and peft."""


def run(params: RawParams, ctx: RunContext) -> Outcome:
    """Count, and measure on a GPU; one row."""
    from reproductions.lisa.memory_trial import memory_row

    return memory_row(params, ctx)


def needs(params: RawParams) -> Needs:
    """Return what a trial asks for, on a GPU by the closed form and a guess of activations."""
    if params["how"] != "gpu":
        return Needs(memory_bytes=2**31, packages=("transformers", "peft"))
    room = room_bytes(params, shape_of(str(params["shape"])))
    return Needs(device="cuda", gpu_bytes=room, packages=("transformers", "peft"), exclusive=True)


def estimate(params: RawParams) -> Estimate:
    """Return a start and a time that grows with the number of blocks."""
    blocks = shape_of(str(params["shape"])).num_blocks
    return Estimate(seconds=START_S + 0.1 * blocks, memory_bytes=2**31)


def methods(ranks: tuple[int, ...], dropouts: tuple[float, ...]) -> Iterator[Point]:
    """Yield the columns of Table 1; the smallest rank with every dropout, the others with the
    first."""
    yield {**NO_METHOD, "method": "full"}
    for rank in ranks:
        for dropout in dropouts if rank == ranks[0] else dropouts[:1]:
            yield {**NO_METHOD, "method": "lora", "rank": rank, "dropout": dropout}
    for gamma in GAMMAS:
        yield {**NO_METHOD, "method": "lisa", "gamma": gamma}


def tiny(shape_name: str, ranks: tuple[int, ...], **step: Scalar) -> Iterator[RawParams]:
    """Yield real steps of a model of small blocks, in float32, and arithmetic beside each."""
    shape: Point = {"shape": shape_name, "seed": 0, "dtype": "float32"}
    for method in methods(ranks, (DROPOUT, 0.0)):
        for how in ("count", "arithmetic"):
            yield {**shape, **step, **method, "how": how}


def full_size(how: str, models: tuple[str, ...]) -> Iterator[RawParams]:
    """Yield the paper's models at one length, and the 7B LLaMA at four."""
    for name in models:
        lengths = BIG_SEQ_LENS if name == "llama-2-7b" else (OF_ALL["seq_len"],)
        for seq_len in lengths:
            shape: Point = {"shape": name, "how": how, "seed": 0, **OF_ALL, "seq_len": seq_len}
            for method in methods(RANKS, (DROPOUT, 0.0)):
                yield {**shape, **method}


def smoke_grid() -> Iterator[RawParams]:
    """Yield a model of eight blocks on one short sequence."""
    yield from tiny("tiny-smoke", (1, 2, 4), seq_len=8, batch_size=1)


def cpu_grid() -> Iterator[RawParams]:
    """Yield real steps of 32 small blocks, and arithmetic for the paper's models."""
    yield from tiny("tiny-deep", TINY_RANKS, seq_len=256, batch_size=8)
    yield from full_size("arithmetic", MODELS)


def gpu_grid() -> Iterator[RawParams]:
    """Yield the paper's models with random weights, each in a fresh process; 70B by arithmetic."""
    yield from full_size("gpu", MODELS[:-1])
    yield from full_size("arithmetic", MODELS[-1:])


experiment = Experiment(
    id="lisa/memory",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid, "gpu": gpu_grid, "paper": gpu_grid},
    needs=needs,
    estimate=estimate,
    address=("shape", "how", "method", "rank", "gamma", "dropout", "seq_len"),
)
