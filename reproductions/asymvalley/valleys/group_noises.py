"""Noise in one group of parameters of a large network: Figures 6 and 20.

The paper takes torchvision's ImageNet networks and trains nothing; here the staged CIFAR-10
ResNets stand for them (DEV-02). A seed is one draw of the noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from harness.declare.experiment import (
    Estimate,
    Experiment,
    Needs,
    Outcome,
    RawParams,
    Row,
    RunContext,
)
from harness.declare.profiles import Profile
from reproductions.asymvalley.method.directions import NOISE_GROUPS, Group
from reproductions.asymvalley.models.costs import estimate as estimate_of
from reproductions.asymvalley.models.costs import point_s
from reproductions.asymvalley.models.pairs import Point
from reproductions.asymvalley.trained_nets.walking import grids

DEPTHS = {"resnext101_imagenet": 20, "resnet50_imagenet": 44}
"""Of the staged network that stands for each."""
GROUP_POINTS: dict[Profile, int] = {"smoke": 3, "cpu": 7, "gpu": 11, "paper": 21}
"""Of a curve: fewer at `cpu` than elsewhere, since these networks are four times as large."""


def run(params: RawParams, ctx: RunContext) -> Outcome:
    """Walk along Gaussian noise in one group, raw and with the signs of the weights."""
    from reproductions.asymvalley.method.curve import Walk
    from reproductions.asymvalley.method.layout import same_sign_ratio
    from reproductions.asymvalley.method.noise import draw_noise, sign_consistent
    from reproductions.asymvalley.models.curve_rows import (
        curve_rows,
        data_of,
        lambdas,
        statistics_of,
    )
    from reproductions.asymvalley.models.staged import load_staged

    model = load_staged(params, ctx)
    walk = Walk(model, data_of(params, ctx), bn_stats=statistics_of(params))
    mask_P = walk.layout.mask(cast(Group, params["group"])).to(ctx.device)
    rows: list[Row] = []
    for draw in range(int(params["num_draws"])):
        noise_P = draw_noise("gaussian", walk.layout.size, seed=int(params["seed"]), draw=draw)
        noise_P = noise_P.to(ctx.device)
        for consistent in (False, True):
            eps_P = sign_consistent(noise_P, walk.weights_P) if consistent else noise_P
            step_P = walk.step(eps_P * mask_P, scale=1.0, norm="ns", mask=mask_P)
            labels = {"sign_consistent": consistent, "draw": draw}
            agree = same_sign_ratio(step_P[mask_P], walk.weights_P[mask_P])
            curve = curve_rows(walk, step_P, lambdas(int(params["num_points"])), labels)
            # Of the group: elsewhere the step is zero, which agrees with nothing.
            rows += [{**row, "sign_consistency": agree} for row in curve]
    return Outcome(rows=rows)


def points(profile: Profile) -> Iterator[Point]:
    """Yield one walk a network, group and seed; none at `paper`, whose weights are not at hand."""
    if profile == "paper":
        return
    small = profile == "smoke"
    for pair, depth in DEPTHS.items():
        net: Point = {"pair": pair, "net": "resnet", "depth": depth, "batch_norm": True}
        if small:
            net |= {"width": 2, "data": "digits", "image_size": 8}
            net |= {"normalisation": "train", "weights": ""}
        else:
            weights = f"resnet{depth}_cifar10"
            net |= {"width": 16, "data": "cifar10_10k_5k", "image_size": 32}
            net |= {"normalisation": "imagenet", "weights": weights}
        images = 50 if small else 1000
        net |= {"num_train": images, "num_statistics": images, "num_test": images}
        net |= {"num_points": GROUP_POINTS[profile], "num_draws": 1}
        net |= {"device": "cuda" if profile == "gpu" else "cpu"}
        for seed in range(1 if small else 3):
            for group in NOISE_GROUPS:
                yield net | {"group": group, "seed": seed}


def needs(params: RawParams) -> Needs:
    """Return images, weights, and a GPU where the trial has one."""
    data = tuple(str(params[name]) for name in ("data", "weights") if params[name])
    return Needs(data=data, device="cuda" if params["device"] == "cuda" else "cpu")


def estimate(params: RawParams) -> Estimate:
    """Return what the curves of a trial cost."""
    curves = 2 * int(params["num_draws"])
    return estimate_of((curves * (int(params["num_points"]) - 1) + 1) * point_s(params))


experiment = Experiment(
    id="asymvalley/group_noises",
    version=1,
    run=run,
    grid=grids(points),
    needs=needs,
    estimate=estimate,
    address=("pair", "group", "seed"),
)
