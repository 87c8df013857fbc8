"""Training a fresh net on images that exact gradients condensed, for many times the unroll."""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare import Estimate, Experiment, Needs, Params, Profile, Use, doc, seed, seeds_of
from reproductions.fg2u.condensing.experiment import DEPTHS, Condensation, point
from reproductions.fg2u.condensing.experiment import runs as condensations

NUM_STEPS = {"smoke": 100, "cpu": 2000}
LATER = 20
"""The paper's last step over the one that its text argues from."""


class InnerRun(Params):
    """A net trained on ten condensed images, all of them in each step."""

    depth: int = doc("Inner steps T that the images were condensed with.")
    num_steps: int = doc("Inner steps of the run.")
    seed: int = seed("One net's initial weights, and one set of condensed images.")


def grid(profile: Profile) -> Iterator[InnerRun]:
    """Yield a run per seed."""
    for number in seeds_of(profile) if profile in NUM_STEPS else ():
        yield InnerRun(depth=DEPTHS[profile], num_steps=NUM_STEPS[profile], seed=number)


def images_of(params: InnerRun) -> Condensation:
    """Return the condensation whose images a net is trained on: exact gradients, one phase."""
    profile: Profile = "smoke" if params.depth == DEPTHS["smoke"] else "cpu"
    return point(profile, "rgu", depth=params.depth, seed=params.seed)


runs = Experiment(
    "fg2u/inner_run",
    version=1,
    params=InnerRun,
    grid=grid,
    run="trial:inner_rows",
    needs=Needs(data=("digits",)),
    uses=(Use(experiment=condensations, params=images_of),),
    estimate=lambda params: Estimate(seconds=0.1 + 7e-4 * params.num_steps, memory_bytes=2**29),
    stands_in=lambda params: {"CIFAR-100": "ten digits of 8 x 8"},
)
