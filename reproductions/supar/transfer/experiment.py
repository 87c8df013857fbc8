"""Loss over density with hyperparameters transferred and not tuned: Figure 3; models of Table 2.

The trained nets are kept as artifacts, so that downstream scores need no retraining.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from harness.declare.experiment import RawParams, RunContext
from reproductions.supar.method.base_hyperparameters import TABLE_3
from reproductions.supar.models.gpt_experiment import gpt_experiment
from reproductions.supar.models.points import (
    CPU_DENSITIES,
    ETA_LOG2,
    PUBLISHED_SP_STD,
    SCHEMES,
    Point,
    base_params,
    decaying,
    gpt_shape,
    on_gpu,
    paper_net,
    swept,
)

if TYPE_CHECKING:
    from harness.declare.experiment import Outcome

SP_CENTRE = -4
"""k of SP's best dense learning rate in `dense_pilot`, family `transfer`; our stand-in for 2e-4."""
PAPER_SP_LR = 2e-4
MODEL = "model.safetensors"
NUM_SEEDS = 3


def run(params: RawParams, ctx: RunContext) -> Outcome:
    """Train one net and keep it as an artifact, unless it diverged."""
    from harness.declare.experiment import Status
    from reproductions.supar.models.gpt_trial import adamw_of, finish, prepare, run_training

    prepared = prepare(params, ctx, mask_density=float(params["density"]))
    outcome = finish(prepared, run_training(prepared, adamw_of(prepared), ctx))
    if outcome.status is Status.DONE:
        ctx.save(MODEL, prepared.model.state_dict())
    return outcome


def smoke_grid() -> Iterator[RawParams]:
    """Yield two densities of a small net: the path, not a result."""
    yield from _grid((1.0, 1 / 4), SMOKE_NET, sp_lr=2.0 ** (ETA_LOG2 + SP_CENTRE), num_seeds=1)


def cpu_grid() -> Iterator[RawParams]:
    """Yield nets of width 256 on books as bytes, 0.4M tokens each."""
    sp_lr = 2.0 ** (ETA_LOG2 + SP_CENTRE)
    yield from _grid(CPU_DENSITIES, CPU_NET, sp_lr=sp_lr, num_seeds=NUM_SEEDS)


def gpu_grid() -> Iterator[RawParams]:
    """Yield four-layer nets of width 1024 on books as bytes."""
    yield from _grid(GPU_DENSITIES, GPU_NET, sp_lr=PAPER_SP_LR, num_seeds=NUM_SEEDS)


def paper_grid() -> Iterator[RawParams]:
    """Yield the paper's own runs (Table 4): 12.13B tokens a trial."""
    yield from _grid(PAPER_DENSITIES, PAPER_NET, sp_lr=PAPER_SP_LR, num_seeds=NUM_SEEDS)


def _books(width: int, *, base_width: int, num_layers: int, batch_size: int) -> Point:
    """Return a net as the paper's (ALiBi, SwiGLU) on bytes, which any other text has too."""
    shape = gpt_shape(
        data="books",
        width=width,
        base_width=base_width,
        num_layers=num_layers,
        context=128,
        batch_size=batch_size,
    )
    return shape | {"tokenizer": "bytes", "feed_forward": "swiglu", "positions": "alibi"}


GPU_DENSITIES = (1.0, 1 / 4, 1 / 16, 1 / 64)
PAPER_DENSITIES = tuple(2.0**-halvings for halvings in range(8))
CPU_NET = _books(256, base_width=64, num_layers=2, batch_size=8) | decaying(400, schedule="to_zero")
SMOKE_NET = (
    _books(64, base_width=32, num_layers=2, batch_size=8)
    | {"data": "grammar-text", "context": 64}
    | decaying(20, schedule="to_zero")
)
GPU_NET = on_gpu(_books(1024, base_width=128, num_layers=4, batch_size=16)) | decaying(
    200, schedule="to_zero"
)
PAPER_NET = paper_net(width=2048, num_layers=10, batch_size=504, micro_batches=63) | decaying(
    11752, schedule="to_zero"
)


def _grid(
    densities: Sequence[float], net: Point, *, sp_lr: float, num_seeds: int
) -> Iterator[Point]:
    for seed in range(num_seeds):
        for scheme in SCHEMES:
            start = base_params(scheme, sp_init_std=PUBLISHED_SP_STD, base=TABLE_3)
            rate: Point = {"lr": sp_lr if scheme == "sp" else TABLE_3.lr}
            for density in densities:
                yield swept(scheme, density, seed) | rate | start | net


def net_of(params: RawParams) -> RawParams:
    """Return the trial of this experiment behind one that scores its net: the parameters it has."""
    return {name: params[name] for name in next(iter(smoke_grid()))}


experiment = gpt_experiment(
    "supar/transfer",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid, "gpu": gpu_grid, "paper": paper_grid},
    address=("scheme", "density", "seed"),
)
