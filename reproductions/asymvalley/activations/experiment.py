"""Which hidden units stay on along sign-consistent noise: Figure 28."""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare import Profile, doc
from reproductions.asymvalley.models.pairs import Pair, Training, drawn_curves_of
from reproductions.asymvalley.trained_nets.experiment import trainings, walk_experiment

PAIR: Pair = "resnet20_svhn"
PLACES = tuple(round(-1.0 + 0.2 * k, 1) + 0.0 for k in range(11))
"""The paper's: -1.0, -0.8, ..., 1.0 (appendix D.2)."""


SHARES = ("on_on", "on_off", "off_on", "off_off")
"""Of hidden units, by their state for theta_f and for the noisy net."""


class Units(Training):
    """The units of a trained net along draws of sign-consistent noise."""

    num_draws: int = doc("Draws of the noise.")


def grid(profile: Profile) -> Iterator[Units]:
    """Yield one trial per seed."""
    for training in trainings(profile, PAIR):
        num_draws = drawn_curves_of(profile, training).num_draws
        yield Units(**vars(training), num_draws=num_draws)


activations = walk_experiment(
    "asymvalley/activations",
    params=Units,
    grid=grid,
    run=".activations.trial:unit_rows",
    # Each for the units and for the error.
    num_points=lambda params: 2 * params.num_draws * len(PLACES),
    address=("pair", "seed"),
)
