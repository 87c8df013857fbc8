"""The coordinate check of Figure 5: activations over density in the first ten steps.

Base hyperparameters are those of Figure 5's row in Table 4. Masks are Bernoulli, as in the
authors' code, whose plot is the only published one with readable values. Beyond the paper each
layer has a row of its own, with the size of its updates and of the gradient at its input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from harness.declare.experiment import Estimate, Experiment, RawParams, Row, RunContext
from harness.provenance.cohorts import Cohort
from reproductions.supar.method.base_hyperparameters import FIGURE_5
from reproductions.supar.models.costs import estimate_of, needs_of
from reproductions.supar.models.gpt_experiment import dry_run
from reproductions.supar.models.points import (
    CPU_DENSITIES,
    SCHEMES,
    Point,
    base_params,
    constant,
    gpt_shape,
    on_gpu,
    paper_net,
    swept,
)

COHORT_1 = Cohort(number=1, num_seeds=10, since="d7749ae120cfd1f51479c683845e7081135369a5")
FRESH = COHORT_1.name
"""Judges the claims whose seals came late, or were renewed, when the first seeds were known."""


def run(params: RawParams, ctx: RunContext) -> list[Row]:
    """Train ten steps; one row a step, kind of block and layer."""
    from reproductions.supar.method.activations import gpt_blocks, gpt_loss, measure_steps
    from reproductions.supar.models.gpt_trial import prepare
    from reproductions.supar.models.training import build_adamw

    prepared = prepare(params, ctx, mask_density=float(params["density"]), pattern="bernoulli")
    model = prepared.model
    optimizer = build_adamw(model, prepared.parameterization, prepared.settings)
    blocks = gpt_blocks(model)
    kinds = {layer: kind for kind, layers in blocks.items() for layer in layers}
    layers = {layer: module for members in blocks.values() for layer, module in members.items()}
    device = next(model.parameters()).device
    batches = (batch.to(device) for batch in prepared.batches)
    measured = measure_steps(model, optimizer, batches, layers, loss=gpt_loss)
    return [{"block": kinds[row.layer], **asdict(row)} for row in measured]


def smoke_grid() -> Iterator[RawParams]:
    """Yield two densities of a narrow net: the path, not a result."""
    net = gpt_shape(data="grammar-text", width=64, base_width=32, context=32, batch_size=4)
    yield from _grid((1.0, 1 / 4), 1, net)


def cpu_grid() -> Iterator[RawParams]:
    """Yield the check at width 768, the widest that takes under ten core-minutes."""
    net = gpt_shape(data="tinyshakespeare", width=768, base_width=256, context=64, batch_size=4)
    yield from _grid(CPU_DENSITIES, 10, net)


def gpu_grid() -> Iterator[RawParams]:
    """Yield the paper's shape on characters at the authors' context of 1024."""
    net = gpt_shape(data="tinyshakespeare", width=2048, base_width=256, context=1024, batch_size=4)
    yield from _grid(CPU_DENSITIES, 10, on_gpu(net))


def paper_grid() -> Iterator[RawParams]:
    """Yield the paper's own check (Table 4): 82k tokens a trial."""
    net = paper_net(width=2048, batch_size=4, micro_batches=1, head_size=32)
    yield from _grid(CPU_DENSITIES, 10, net)


def _grid(densities: Sequence[float], num_seeds: int, net: Point) -> Iterator[Point]:
    for seed in range(num_seeds):
        for scheme in SCHEMES:
            # For this figure Table 4 gives SP the same standard deviation as the others.
            base = base_params(scheme, sp_init_std=FIGURE_5.init_std, base=FIGURE_5)
            rest = {"lr": FIGURE_5.lr} | base | net | constant(10, clip_norm=0.0)
            for density in densities:
                yield swept(scheme, density, seed) | rest


def estimate(params: RawParams) -> Estimate:
    """Return what a trial costs: each update is followed by a second forward pass."""
    return estimate_of(params, num_passes=4.0)


experiment = Experiment(
    id="supar/coordinate_check",
    version=2,
    run=run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid, "gpu": gpu_grid, "paper": paper_grid},
    cohorts={"cpu": (COHORT_1,)},
    seed_from=("seed",),
    needs=needs_of,
    estimate=estimate,
    dry_run=dry_run,
    address=("scheme", "density", "seed"),
)
