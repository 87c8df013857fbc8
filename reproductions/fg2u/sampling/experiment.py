"""Estimates of one hypergradient from many numbers of directions, beside biased methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.declare import Estimate, Experiment, Needs, Params, Profile, doc, seed, seeds_of

if TYPE_CHECKING:
    from reproductions.fg2u.method.directions import Kind

NUM_STEPS, DEEP_STEPS = 20, 80
FEW, MAIN = 1, 4
"""Sides of images in whose few pixels two kinds of directions can be told apart, and of those
that the paper's statements are asked of: 10 and 160 meta variables."""
PROBLEMS = ((FEW, NUM_STEPS, 2048, 1), (MAIN, NUM_STEPS, 2048, 3), (MAIN, DEEP_STEPS, 256, 1))
"""Side, inner steps, draws and timed estimates."""
LADDER = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""Numbers of directions b; of coordinates those below N."""
RADEMACHER, GAUSSIAN, COORDINATE = "fg2u-rademacher", "fg2u-gaussian", "fg2u-coordinate"
ZERO_ORDER = "fg2u-zo"
"""(FG)2U-ZO of Gaussian directions, forward differences and the step that the paper prints."""
SAMPLED: dict[str, Kind] = {
    RADEMACHER: "rademacher",
    GAUSSIAN: "gaussian",
    COORDINATE: "coordinate",
    ZERO_ORDER: "gaussian",
}
MU = 1e-4
TERMS = 20
"""Terms of the Neumann series beyond the first, as the released code has them."""


class Draws(Params):
    """All methods on one problem."""

    side: int = doc("Pixels along a side of each of the ten images that are learned.")
    num_steps: int = doc("Inner steps T.")
    num_draws: int = doc("Random directions of each kind, of which disjoint groups are estimates.")
    num_timed: int = doc("Estimates that are timed for a row; their median counts.")
    seed: int = seed("One problem: initial weights, batch, images and directions.")


def grid(profile: Profile) -> Iterator[Draws]:
    """Yield 10 and 160 meta variables, and a deeper inner problem with fewer draws."""
    if profile == "smoke":
        yield Draws(side=2, num_steps=10, num_draws=16, num_timed=1, seed=0)
    if profile == "cpu":
        for number in seeds_of(profile):
            for side, num_steps, num_draws, num_timed in PROBLEMS:
                yield Draws(
                    side=side, num_steps=num_steps, num_draws=num_draws, num_timed=num_timed,
                    seed=number,
                )  # fmt: skip


def estimate(draws: Draws) -> Estimate:
    """Return a start and a time that grows with all inner steps."""
    seconds = 1.0 + 3e-4 * draws.num_steps * draws.num_draws
    return Estimate(seconds=seconds, memory_bytes=2**30)


samples = Experiment(
    "fg2u/sampling",
    version=1,
    params=Draws,
    grid=grid,
    run="trial:sampling_rows",
    # Seconds are among its rows.
    needs=Needs(data=("digits",), exclusive=True),
    estimate=estimate,
    address=("side", "num_steps", "seed"),
)
