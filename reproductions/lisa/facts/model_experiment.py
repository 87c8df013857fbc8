"""What the models are: sizes, and parameters counted on the meta device."""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare.experiment import Estimate, Experiment, Needs, RawParams, Row, RunContext
from reproductions.lisa.memory import experiment as memory

OURS = ("tiny-deep", "tiny-quality")
"""Of memory and time, and of quality."""


def run(params: RawParams, ctx: RunContext) -> list[Row]:
    """Build a model without allocating it, and count; one row."""
    from reproductions.lisa.facts.model_trial import facts_row

    return [facts_row(str(params["model"]))]


def grid() -> Iterator[RawParams]:
    """Yield the paper's models, and those of ours that stand for them."""
    for name in (*memory.MODELS, *OURS):
        yield {"model": name}


def estimate(params: RawParams) -> Estimate:
    """Return a start."""
    return Estimate(seconds=5.0, memory_bytes=2**30)


experiment = Experiment(
    id="lisa/models",
    version=1,
    run=run,
    grid={"smoke": grid, "cpu": grid},
    seed_from=(),
    needs=Needs(memory_bytes=2**30, packages=("transformers",)),
    estimate=estimate,
    address=("model",),
)
