"""What needs no trained net: Figures 2, 10, 27 and 29, the toys at the paper's own settings.

Figure 2 is a diagram that names no net. A VGG at its start is taken, since nothing in it depends
on training; seeds draw both the net and the noise. The fit of softmax regression is deterministic
and the same for every seed: in Figure 29 a seed is a draw of the noise, Figure 10 has none.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare import Estimate, Experiment, Needs, Params, Profile, doc, seed, seeds_of
from reproductions.asymvalley.method.directions import NOISES, Noise

WIDTHS: dict[Profile, int] = {"smoke": 4, "cpu": 16, "paper": 64}
"""A quarter of the standard width at `cpu`; a GPU has no grid."""
MAX_ITER = 500


class Scaling(Params):
    """One noise on one weight vector, scaled in several ways."""

    noise: Noise = doc("Kind of noise.")
    width: int = doc("Channels of the first stage.")
    seed: int = seed("One net at its start, and one draw of the noise.")


class Unit(Params):
    """The simulated ReLU unit of Figure 27."""

    num_inputs: int = doc("Inputs of the unit, d.")
    num_draws: int = doc("Draws of the weight, N.")
    pull: float = doc("a of w = a h + delta.")
    seed: int = seed("One input h, and one sample of weights.")


class Fit(Params):
    """Softmax regression on the digits, whose class weights are shifted along their signs."""

    max_iter: int = doc("Most iterations of the fit.")


class SoftmaxNoise(Params):
    """Softmax regression on the digits, along a noise and along its sign-consistent form."""

    num_lambdas: int = doc("Sizes of the noise, from -1 to 1.")
    max_iter: int = doc("Most iterations of the fit.")
    seed: int = seed("One draw of the noise around one fit, which has no seed.")


def seeds(profile: Profile) -> tuple[int, ...]:
    """Return five seeds, at smoke one; none on a GPU, which the toys do not need."""
    return seeds_of(profile) if profile in WIDTHS else ()


def scaling_grid(profile: Profile) -> Iterator[Scaling]:
    """Yield every noise with every seed; at smoke on a narrow net."""
    for number in seeds(profile):
        for noise in NOISES:
            yield Scaling(noise=noise, width=WIDTHS[profile], seed=number)


def unit_grid(profile: Profile) -> Iterator[Unit]:
    """Yield the seeds of the paper's simulation; at smoke one with a tenth of the draws."""
    num_draws = 1000 if profile == "smoke" else 10_000
    for number in seeds(profile):
        yield Unit(num_inputs=128, num_draws=num_draws, pull=0.1, seed=number)


def pattern_grid(profile: Profile) -> Iterator[Fit]:
    """Yield the only trial."""
    if profile in WIDTHS:
        yield Fit(max_iter=MAX_ITER)


def softmax_grid(profile: Profile) -> Iterator[SoftmaxNoise]:
    """Yield the draws of the noise."""
    for number in seeds(profile):
        yield SoftmaxNoise(num_lambdas=21, max_iter=MAX_ITER, seed=number)


scalings = Experiment(
    "asymvalley/scaling",
    version=1,
    params=Scaling,
    grid=scaling_grid,
    run="trial:scaling_rows",
    estimate=lambda params: Estimate(
        seconds=0.03 + 9e-4 * params.width**2, memory_bytes=430_000 * params.width**2
    ),
    address=("noise", "width", "seed"),
)
units = Experiment(
    "asymvalley/relu_unit",
    version=1,
    params=Unit,
    grid=unit_grid,
    run="trial:unit_rows",
    # The draws of all inputs in float64, a few times over.
    estimate=lambda params: Estimate(
        seconds=0.02 + 8e-6 * params.num_draws, memory_bytes=4096 * params.num_draws
    ),
    address=("num_draws", "seed"),
)
patterns = Experiment(
    "asymvalley/class_pattern",
    version=1,
    params=Fit,
    grid=pattern_grid,
    run="trial:pattern_rows",
    seed_from=(),
    needs=Needs(data=("digits",)),
    estimate=lambda params: Estimate(seconds=0.3, memory_bytes=200_000_000),
)
softmax_noises = Experiment(
    "asymvalley/softmax_noise",
    version=1,
    params=SoftmaxNoise,
    grid=softmax_grid,
    run="trial:softmax_rows",
    needs=Needs(data=("digits",)),
    estimate=lambda params: Estimate(seconds=0.25, memory_bytes=200_000_000),
    address=("seed",),
)
