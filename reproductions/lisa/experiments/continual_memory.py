"""Memory of a step of continual pre-training, by gamma: counted for our model, else computed."""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare.experiment import Experiment, Needs, RawParams
from reproductions.lisa.experiments import continual, memory
from reproductions.lisa.shapes import shape_of

FULL_SIZE = ("tinyllama", "llama-2-7b")
"""The paper's models of Table 4."""


def half_of(shape_name: str) -> int:
    """Return half of a model's blocks, the largest gamma of the paper's Figure 7."""
    return shape_of(shape_name).num_blocks // 2


def points(
    shape_name: str, gammas: tuple[int, ...], how: str, **step: int | str
) -> Iterator[RawParams]:
    """Yield full training and LISA on one model."""
    for method, gamma in (("full", 0), *(("lisa", gamma) for gamma in gammas)):
        yield {
            "shape": shape_name, "how": how, "seed": 0, **step, **memory.NO_METHOD,
            "method": method, "gamma": gamma,
        }  # fmt: skip


def smoke_grid() -> Iterator[RawParams]:
    """Yield a step of the smallest model."""
    yield from points("tiny-path", (1, 2), "count", seq_len=16, batch_size=2, dtype="float32")


def cpu_grid() -> Iterator[RawParams]:
    """Yield a step as our runs take it, and the paper's models at one length of Table 1."""
    ours = {name: int(continual.STEPS[name]) for name in ("batch_size", "max_tokens")}
    yield from points(
        "tiny-quality", continual.GAMMAS, "count", seq_len=ours["max_tokens"],
        batch_size=ours["batch_size"], dtype="float32",
    )  # fmt: skip
    for name in FULL_SIZE:
        half = half_of(name)
        # The paper's 2, 4, 8 and 16 of 32, and of 22 blocks half.
        gammas = (2, 4, 8, half) if name == "llama-2-7b" else (half,)
        yield from points(
            name, gammas, "arithmetic", seq_len=512, batch_size=1, dtype="bfloat16"
        )  # fmt: skip


experiment = Experiment(
    id="lisa/continual_memory",
    version=1,
    run=memory.run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid},
    needs=Needs(memory_bytes=2**31, packages=("transformers",)),
    estimate=memory.estimate,
    address=("shape", "how", "method", "gamma"),
)
