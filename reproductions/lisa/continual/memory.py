"""Memory of a step of continual pre-training, by gamma: counted for our model, else computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from harness.declare.experiment import Experiment, Needs
from harness.declare.profiles import Profile
from reproductions.lisa.continual import experiment as continual
from reproductions.lisa.memory import experiment as memory
from reproductions.lisa.memory.experiment import Step
from reproductions.lisa.models.shapes import shape_of

FULL_SIZE = ("tinyllama", "llama-2-7b")
"""The paper's models of Table 4."""


def half_of(shape_name: str) -> int:
    """Return half of a model's blocks, the largest gamma of the paper's Figure 7."""
    return shape_of(shape_name).num_blocks // 2


def methods(full: Step, gammas: tuple[int, ...]) -> Iterator[Step]:
    """Yield full training and LISA on one model."""
    yield full
    for gamma in gammas:
        yield replace(full, method="lisa", gamma=gamma)


def grid(profile: Profile) -> Iterator[Step]:
    """Yield a step as our runs take it, and the paper's models at one length of Table 1."""
    match profile:
        case "smoke":
            full = Step(
                shape="tiny-path", how="count", method="full", dtype="float32",
                seq_len=16, batch_size=2,
            )  # fmt: skip
            yield from methods(full, (1, 2))
        case "cpu":
            ours = {name: int(continual.STEPS[name]) for name in ("batch_size", "max_tokens")}
            full = Step(
                shape="tiny-quality", how="count", method="full", dtype="float32",
                seq_len=ours["max_tokens"], batch_size=ours["batch_size"],
            )  # fmt: skip
            yield from methods(full, continual.GAMMAS)
            for name in FULL_SIZE:
                half = half_of(name)
                # The paper's 2, 4, 8 and 16 of 32, and of 22 blocks half.
                gammas = (2, 4, 8, half) if name == "llama-2-7b" else (half,)
                full = Step(
                    shape=name, how="arithmetic", method="full", dtype="bfloat16",
                    seq_len=512, batch_size=1,
                )  # fmt: skip
                yield from methods(full, gammas)


experiment = Experiment(
    "lisa/continual_memory",
    version=1,
    params=Step,
    grid=grid,
    run=".memory.trial:memory_row",
    needs=Needs(memory_bytes=2**31, packages=("transformers",)),
    estimate=memory.estimate,
    address=("shape", "how", "method", "gamma"),
)
