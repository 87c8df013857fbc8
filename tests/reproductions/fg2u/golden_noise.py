"""Golden trials of noise and differences: three inner steps, a few directions."""

from __future__ import annotations

from typing import Any

from reproductions.fg2u.method.forward import Slopes
from tests.golden_trials import Golden, Short
from tests.patches import Mutation, around


def unsigned(slopes: Any, *given: Any) -> Slopes:
    """Return slopes along directions without their signs."""
    found: Slopes = slopes(*given)
    return found._replace(slope_C=found.slope_C.abs())


def doubled(slopes: Any, self: Any, *given: Any) -> Slopes:
    """Return central slopes as if the step were half of what it is."""
    found: Slopes = slopes(self, *given)
    factor = 2 if self.scheme == "central" else 1
    return found._replace(slope_C=factor * found.slope_C)


UNSIGNED = Mutation(
    where="reproductions.fg2u.method.forward:Fg2u.slopes",
    instead=around(unsigned),
    breaks="The slope along a direction loses its sign.",
)
DOUBLED = Mutation(
    where="reproductions.fg2u.method.forward:Fg2uZo.slopes",
    instead=around(doubled),
    breaks="Central differences are divided by mu in place of twice mu.",
)
GOLDEN = (
    Golden(
        experiment="fg2u/sampling",
        points=(Short(to={"num_draws": 8, "num_steps": 3}),),
        mutation=UNSIGNED,
    ),
    Golden(
        experiment="fg2u/differences",
        # Smaller steps would leave rounding alone.
        points=(
            Short(of={"num_meta": 1}, to={"last_exponent": -2, "num_steps": 3}),
            Short(of={"num_meta": 10}, to={"last_exponent": -2, "num_steps": 3}),
        ),
        mutation=DOUBLED,
    ),
)
