"""How the start of batch normalisation shapes the valley, and what its statistics do to it.

Figures 7, 21 and 22: the noise is {0,1}. Different nets are compared, so filter-norm-scaled noise
stands beside norm-scaled; the mechanism shows with noise on the weights of batch normalisation
alone. `bn_statistics`: the paper estimates statistics anew at every point (appendix A.3) without
showing what happens otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare import Profile
from reproductions.asymvalley.models.pairs import (
    BN_STARTS,
    TWO_TITLES,
    DrawnCurves,
    drawn_curves_of,
)
from reproductions.asymvalley.trained_nets.experiment import STARTED, trainings, walk_experiment


def start_grid(profile: Profile) -> Iterator[DrawnCurves]:
    """Yield one trial per pair, start and seed."""
    for training in trainings(profile, *STARTED, bn_starts=BN_STARTS):
        yield drawn_curves_of(profile, training)


def statistics_grid(profile: Profile) -> Iterator[DrawnCurves]:
    """Yield one trial per pair and seed."""
    for training in trainings(profile, *TWO_TITLES):
        yield drawn_curves_of(profile, training)


batch_norm_starts = walk_experiment(
    "asymvalley/batch_norm_starts",
    params=DrawnCurves,
    grid=start_grid,
    run=".starts.trial:start_rows",
    num_points=lambda params: (5 + 2 * params.num_draws) * params.num_points,
    address=("pair", "bn_start", "seed"),
)
frozen_statistics = walk_experiment(
    "asymvalley/frozen_statistics",
    params=DrawnCurves,
    grid=statistics_grid,
    run=".starts.trial:statistics_rows",
    # One with frozen statistics counts as half of one.
    num_points=lambda params: 3 * params.num_draws * params.num_points,
    address=("pair", "seed"),
)
