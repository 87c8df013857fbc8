"""Three ways to scale noise, on one weight vector: Figure 2.

The paper's figure is a diagram that names no net. A VGG at its start is taken, since nothing here
depends on training. Seeds draw both the net and the noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.declare.experiment import Estimate, Experiment, RawParams, Row, RunContext
from harness.declare.params import Scalar
from reproductions.asymvalley.method.directions import NOISES, Norm, OneDimRule

if TYPE_CHECKING:
    import torch
    from torch import nn

SCALINGS: tuple[tuple[Norm, OneDimRule], ...] = (
    ("raw", "abs"),
    ("filter_ns", "abs"),
    ("filter_ns", "skip"),
    ("filter_ns", "copy"),
    ("ns", "abs"),
)
"""The three of Figure 2; filter-NS with each rule for biases and batch normalisation (DEV-07)."""


def run(params: RawParams, ctx: RunContext) -> list[Row]:
    """Return angle and length of one noise under every scaling, one row each."""
    import torch

    from reproductions.asymvalley.method.layout import layout_of, parameters_vector
    from reproductions.asymvalley.method.noise import draw_noise
    from reproductions.asymvalley.method.scaling import scale_direction

    model = _net(params, torch.Generator().manual_seed(ctx.seed("init")))
    layout, weights_P = layout_of(model), parameters_vector(model)
    noise_P = draw_noise(params["noise"], layout.size, seed=ctx.seed("noise"), draw=0)  # type: ignore[arg-type]
    rows: list[Row] = []
    for norm, rule in SCALINGS:
        scaled_P = scale_direction(
            noise_P, weights_P, norm=norm, layout=layout, one_dim_rule=rule
        ).double()
        cosine = torch.cosine_similarity(scaled_P, noise_P.double(), dim=0)
        rows.append(
            {
                "norm": norm,
                "one_dim_rule": rule if norm == "filter_ns" else "",
                # Its complement would lose digits in a table of nine.
                "one_minus_cosine": 1.0 - float(cosine),
                "norm_ratio": float(scaled_P.norm() / weights_P.double().norm()),
                "num_params": layout.size,
            }
        )
    return rows


def _net(params: RawParams, generator: torch.Generator) -> nn.Module:
    from reproductions.nets.vgg import VGG, VGGConfig

    config = VGGConfig(
        image_size=32,
        in_channels=3,
        num_classes=10,
        depth=16,
        width=int(params["width"]),
        batch_norm=True,
    )
    return VGG(config, generator=generator)


def smoke_grid() -> Iterator[RawParams]:
    """Yield one seed on a narrow net."""
    yield from _points(width=4, num_seeds=1)


def cpu_grid() -> Iterator[RawParams]:
    """Yield three seeds at a quarter of the standard width."""
    yield from _points(width=16, num_seeds=3)


def paper_grid() -> Iterator[RawParams]:
    """Yield three seeds on a VGG16 of the standard width."""
    yield from _points(width=64, num_seeds=3)


def _points(*, width: int, num_seeds: int) -> Iterator[dict[str, Scalar]]:
    for seed in range(num_seeds):
        for noise in NOISES:
            yield {"noise": noise, "width": width, "seed": seed}


def estimate(params: RawParams) -> Estimate:
    """Return the measured cost: it grows as the parameters do."""
    num_params = 3600 * int(params["width"]) ** 2
    return Estimate(seconds=0.03 + 2.5e-7 * num_params, memory_bytes=120 * num_params)


experiment = Experiment(
    id="asymvalley/scaling",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid, "paper": paper_grid},
    estimate=estimate,
    address=("noise", "width", "seed"),
)
