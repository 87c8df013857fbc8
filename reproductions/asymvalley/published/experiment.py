"""Walks around published nets of CIFAR-10: noises, shares of agreeing signs, directions.

They err on 8 % of the test images, as no net does that two cores train; so what Figures 3 to 5, 12
and 16 ask is asked of them, too. Their start is not known: there is no direction theta_0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from harness.declare import Experiment, Profile, doc, seed, seeds_of
from reproductions.asymvalley.method.directions import NOISES, ZERO_SYMMETRIC, Noise
from reproductions.asymvalley.models.costs import estimate_of, needs_of, point_s
from reproductions.asymvalley.models.pairs import Net, staged_resnet

Along = Literal[
    "gaussian", "uniform", "ternary", "gaussian_mean1", "uniform01", "binary", "ones",
    "theta_f", "sign", "sign_centred", "sgp", "sgp_centred",
]  # fmt: skip
MADE: tuple[Along, ...] = get_args(Along)[len(NOISES) :]
"""Directions made of the weights, behind the seven noises."""
DEPTHS = (20, 44, 56)
ALL_KINDS = 20
"""The depth whose net gets noise of all seven kinds; the deeper ones get Gaussian noise."""
NUM_DRAWS = 10
RAW, CONSISTENT = 0.0, 1.0
"""Shares of agreeing signs that stand for the two rows of Figure 3."""
Kinds = tuple[tuple[int, Noise], ...]
DEEPER: Kinds = tuple((depth, NOISES[0]) for depth in DEPTHS if depth != ALL_KINDS)
NETS_AND_KINDS: Kinds = (*((ALL_KINDS, kind) for kind in NOISES), *DEEPER)
"""Every net with every kind of its noises."""
SYMMETRIC_KINDS: Kinds = (*((ALL_KINDS, kind) for kind in ZERO_SYMMETRIC), *DEEPER)


class PublishedCurves(Net):
    """Curves through a published net along one noise, or one direction made of its weights."""

    weights: str = doc("Data set of its weights; empty for a network at its start.")
    along: Along = doc("Kind of the noise, or direction made of the weights.")
    num_ratios: int = doc(
        "Shares of signs made consistent, from 0 (raw) to 1; 1 along a direction, which is as it"
        " is."
    )
    num_points: int = doc("Points of a curve.")
    seed: int = seed("One draw of the noise around the net; nothing is drawn along a direction.")


def grid(profile: Profile) -> Iterator[PublishedCurves]:
    """Yield one trial per net, noise and draw, and per net and direction; none at `paper`."""
    if profile == "paper":
        return
    seeds = seeds_of(profile, NUM_DRAWS)
    for depth in DEPTHS if profile != "smoke" else DEPTHS[:1]:
        for number in seeds:
            for kind in NOISES if depth == ALL_KINDS else NOISES[:1]:
                yield curves_of(profile, depth, kind, number)
        for made in MADE:
            yield curves_of(profile, depth, made, seeds[0])


def curves_of(profile: Profile, depth: int, along: Along, number: int) -> PublishedCurves:
    """Return one trial: at `smoke` around a tiny net at its start, on digits."""
    small, drawn = profile == "smoke", along in NOISES
    ratios = (3 if small else 6) if along == "gaussian" else 2
    return PublishedCurves(
        **staged_resnet(profile, depth, num_images=50 if small else 500),
        along=along,
        num_ratios=ratios if drawn else 1,
        num_points=3 if small else 5 if drawn else 11,
        seed=number,
    )


published_curves = Experiment(
    "asymvalley/published_curves",
    version=1,
    params=PublishedCurves,
    grid=grid,
    run="trial:curve_rows",
    needs=needs_of,
    estimate=lambda params: estimate_of(params.num_ratios * params.num_points * point_s(params)),
    address=("depth", "along", "seed"),
)
