"""Golden trials on PDEs: few steps of every kind of fit, and all that is exact."""

from __future__ import annotations

from dataclasses import replace

from reproductions.fg2u.models.spectral import ALLEN_CAHN, Pde
from tests.golden_trials import Golden, Short
from tests.patches import Mutation, Patch
from tests.reproductions.fg2u.golden_noise import DOUBLED


def thicker(pde: Pde) -> Pde:
    """Return an equation of twice the coefficient."""
    return replace(pde, true_coefficient=2 * pde.true_coefficient)


GOLDEN = (
    Golden(
        experiment="fg2u/pde_solutions",
        points=(Short(to={"columns": 5, "rows": 3}),),
        mutation=Mutation(
            where="reproductions.fg2u.models.exact:WALLED",
            instead=lambda walled: ALLEN_CAHN,
            breaks="Allen-Cahn is solved without walls.",
        ),
    ),
    Golden(
        experiment="fg2u/pde_slopes",
        points=(Short(to={"num_points": 32}),),
        mutation=DOUBLED,
        # Smaller steps leave rounding alone.
        patches=(
            Patch(
                where="reproductions.fg2u.coefficients.slopes:EXPONENTS",
                instead=lambda exponents: (-1, -2),
            ),
        ),
    ),
    Golden(
        experiment="fg2u/pde_forward",
        points=(
            Short(of={"solver": "numerical"}),
            Short(of={"optimizer": "adam"}, to={"train_steps": 3}),
            Short(of={"optimizer": "sgd"}, to={"train_steps": 3}),
        ),
        mutation=Mutation(
            where="reproductions.fg2u.coefficients.forward:BURGERS",
            instead=thicker,
            breaks="Burgers is solved at twice its coefficient.",
        ),
        patches=(
            Patch(
                where="reproductions.fg2u.coefficients.forward:DRAWN_AT_ONCE",
                instead=lambda steps: 1,
            ),
            Patch(
                where="reproductions.fg2u.coefficients.forward:LOGGED",
                instead=lambda steps: (1, 2, 3),
            ),
        ),
    ),
    Golden(
        experiment="fg2u/pde_inverse",
        points=(
            Short(of={"method": "single"}, to={"num_points": 32, "num_steps": 100}),
            Short(of={"method": "quadrature"}, to={"num_points": 32, "num_steps": 100}),
            Short(of={"method": "pinn"}),
        ),
        mutation=Mutation(
            where="reproductions.fg2u.coefficients.inverse:coefficient",
            instead=lambda coefficient: lambda params, phi: phi,
            breaks="The coefficient is taken for its own root.",
        ),
    ),
)
