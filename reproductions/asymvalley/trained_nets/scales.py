"""How finely each profile walks: points of a curve, draws of a noise (DEV-04, DEV-09). No torch."""

from __future__ import annotations

from harness.declare.experiment import RawParams
from harness.declare.profiles import Profile
from reproductions.asymvalley.models.pairs import Point

NUM_POINTS: dict[Profile, int] = {"smoke": 3, "cpu": 11, "gpu": 11, "paper": 21}
"""Of a curve over [-1, 1]; the paper does not state it for networks, its listing has 21."""
NUM_DRAWS: dict[Profile, int] = {"smoke": 1, "cpu": 3, "gpu": 3, "paper": 3}
NUM_DRAWS_WITHOUT_BN: dict[Profile, int] = {"smoke": 1, "cpu": 5, "gpu": 5, "paper": 5}
"""Raw noise is less even without batch normalisation, so it takes more draws to call it so."""
SCALES = (0.2, 1.0, 2.0)
"""s of Figures 3 and 5 and their variants."""


def walked(profile: Profile, solution: Point) -> Point:
    """Return a training's parameters with the fineness of the walks through it."""
    draws = NUM_DRAWS if solution["batch_norm"] else NUM_DRAWS_WITHOUT_BN
    return solution | {"num_points": NUM_POINTS[profile], "num_draws": draws[profile]}


def draws_at(scale: float, params: RawParams) -> int:
    """Return how many draws a curve at a scale gets: the claims are about s = 1."""
    return int(params["num_draws"]) if scale == 1.0 else 1
