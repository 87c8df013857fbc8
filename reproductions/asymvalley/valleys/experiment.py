"""Walks around trained nets along noise and along directions made of their weights."""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare import Experiment, Profile, doc, seed, seeds_of
from reproductions.asymvalley.method.directions import (
    DIRECTIONS,
    NOISE_GROUPS,
    NOISES,
    Direction,
    Group,
    Noise,
)
from reproductions.asymvalley.models.costs import estimate_of, needs_of, point_s
from reproductions.asymvalley.models.pairs import (
    COMMON,
    DATA,
    SCALES,
    TWO_TITLES,
    Curves,
    DrawnCurves,
    Net,
    Pair,
    curves_of,
    drawn_curves_of,
    staged_resnet,
)
from reproductions.asymvalley.trained_nets.experiment import trainings, walk_experiment

FEW: tuple[Noise, ...] = ("gaussian", "ones")
"""Noises of a pair at `smoke`, but for the first pair."""
WITH_TWIN: tuple[Pair, ...] = (*COMMON, "vgg16nobn_cifar10")
"""With a twin without batch normalisation of Figure 5's network."""
NUM_RATIOS: dict[Profile, int] = {"smoke": 3, "cpu": 6, "gpu": 11, "paper": 11}
"""The paper has 0.0, 0.1, ..., 1.0; six of them at `cpu` (DEV-04)."""
STAND_IN_DEPTHS = {"resnext101_imagenet": 20, "resnet50_imagenet": 44}
"""Depth of the CIFAR-10 ResNet that stands for each ImageNet network (DEV-02)."""
IMAGENET_NAMES = {"resnext101_imagenet": "ResNeXt101", "resnet50_imagenet": "ResNet50"}
GROUP_POINTS: dict[Profile, int] = {"smoke": 3, "cpu": 5, "gpu": 11}
"""Points of a curve: fewer at `cpu`, since these networks are four times as large as the others."""
NUM_GROUP_DRAWS = 10


class NoiseCurves(DrawnCurves):
    """Curves along one kind of noise, raw and with the signs of the weights."""

    noise: Noise = doc(
        "Kind of the i.i.d. noise: gaussian G(0,1), uniform U(-1,1), ternary {-1,0,1},"
        " gaussian_mean1 G(1,1), uniform01 U(0,1), binary {0,1}, ones {1}."
    )


class DirectionCurves(Curves):
    """Curves along one direction made of the weights; nothing is drawn."""

    direction: Direction = doc(
        "Direction made of the weights: theta_0 (the start), theta_f (the converged net), sign and"
        " sgp of theta_f (+1/-1, and 1/0), and both of theta_f minus its mean per tensor"
        " (_centred)."
    )


class RatioCurves(Curves):
    """Curves along one draw of Gaussian noise, more and more of it with the weights' signs."""

    draw: int = doc("Number of the noise's draw; raw and sign-consistent rows share a draw.")
    num_ratios: int = doc("Shares of signs made consistent, from 0 to 1.")


class GroupCurves(Net):
    """Curves along noise in one group of parameters of a network that others trained."""

    pair: str = doc(
        "Net and data as the paper names them; smaller stand-ins below profile `paper`."
    )
    weights: str = doc("Data set of its weights; empty for a network at its start.")
    num_points: int = doc("Points of a curve.")
    num_draws: int = doc("Draws of the noise.")
    group: Group = doc(
        "Parameters that get noise: all, clf (last layer's weights), feat (all weights but these),"
        " layer1 (first blocks), conv (convolution weights), bn (batch normalization)."
    )
    seed: int = seed("One draw of the noise around one net that others trained.")


def noise_grid(profile: Profile) -> Iterator[NoiseCurves]:
    """Yield one trial per pair, seed and kind of noise."""
    for training in trainings(profile, *COMMON):
        all_of_them = profile != "smoke" or training.pair == COMMON[0]
        for noise in NOISES if all_of_them else FEW:
            yield NoiseCurves(**vars(drawn_curves_of(profile, training)), noise=noise)


def direction_grid(profile: Profile) -> Iterator[DirectionCurves]:
    """Yield one trial per pair, seed and direction."""
    for training in trainings(profile, *WITH_TWIN):
        for direction in DIRECTIONS:
            yield DirectionCurves(**vars(curves_of(profile, training)), direction=direction)


def ratio_grid(profile: Profile) -> Iterator[RatioCurves]:
    """Yield one trial per pair, seed and draw."""
    for training in trainings(profile, *TWO_TITLES):
        curves = vars(curves_of(profile, training))
        for draw in range(drawn_curves_of(profile, training).num_draws):
            yield RatioCurves(**curves, draw=draw, num_ratios=NUM_RATIOS[profile])


def group_grid(profile: Profile) -> Iterator[GroupCurves]:
    """Yield one trial per network, seed and group; none at `paper`, whose weights are not at hand.

    The paper takes torchvision's ImageNet networks and trains nothing; here the staged CIFAR-10
    ResNets stand for them (DEV-02). A seed is one draw of the noise.
    """
    if profile == "paper":
        return
    small = profile == "smoke"
    for pair, depth in STAND_IN_DEPTHS.items():
        net = staged_resnet(profile, depth, num_images=50 if small else 500)
        net |= {"pair": pair, "num_points": GROUP_POINTS[profile], "num_draws": 1}
        for draw_seed in seeds_of(profile, NUM_GROUP_DRAWS):
            for group in NOISE_GROUPS:
                yield GroupCurves(**net, group=group, seed=draw_seed)


def groups_stand_in(params: GroupCurves) -> dict[str, str]:
    """Return what was run in the place of the paper's ImageNet networks."""
    standing = {IMAGENET_NAMES[params.pair]: f"ResNet{params.depth}"}
    return standing | {"ImageNet": DATA[params.data].name}


common_noises = walk_experiment(
    "asymvalley/common_noises",
    params=NoiseCurves,
    grid=noise_grid,
    run=".valleys.trial:common_noise_rows",
    num_points=lambda params: 2 * (params.num_draws + 2) * params.num_points,
    address=("pair", "noise", "seed"),
)
special_directions = walk_experiment(
    "asymvalley/special_directions",
    params=DirectionCurves,
    grid=direction_grid,
    run=".valleys.trial:direction_rows",
    num_points=lambda params: len(SCALES) * params.num_points,
    address=("pair", "direction", "seed"),
)
sign_ratios = walk_experiment(
    "asymvalley/sign_ratios",
    params=RatioCurves,
    grid=ratio_grid,
    run=".valleys.trial:ratio_rows",
    num_points=lambda params: params.num_ratios * params.num_points,
    address=("pair", "draw", "seed"),
)
group_noises = Experiment(
    "asymvalley/group_noises",
    version=1,
    params=GroupCurves,
    grid=group_grid,
    run="trial:group_rows",
    needs=needs_of,
    estimate=lambda params: estimate_of(2 * params.num_points * point_s(params)),
    address=("pair", "group", "seed"),
    stands_in=groups_stand_in,
)
