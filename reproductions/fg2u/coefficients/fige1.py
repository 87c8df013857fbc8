"""Figure E.1: exact solutions of three PDEs, and where they are observed."""

from functools import partial

from harness.declare import CHECK, Table, Task, at_most, claims, equal, param, value
from reproductions.fg2u.coefficients import quantities as q
from reproductions.fg2u.coefficients.experiment import solutions

EXACT = 1e-6

task = Task(
    "fg2u/fige1",
    reads=(solutions,),
    table=Table.of(
        param("pde", str, "Equation."),
        param(
            "kind", str, "field: u on a grid; observed: u at an observed point; else a fact, with"
            " its size as u: refined, change by twice the points and steps (relative L2);"
            " series_to_closed_form; walls, largest distance from the held values; mass, momentum,"
            " largest change of the mean of u and of its square; periodic_to_walls, distance"
            " of the Fourier solver's Allen-Cahn from the one with walls (relative L2).",
        ),
        param("t", float, "Time; 0 for a fact."),
        param("x", float, "Place; 0 for a fact."),
        value("u", float, "The solution there, or the size of a fact."),
    ),
    claims=claims(
        "Appendix E.3 and Figure E.1",
        (
            "sixty_four_points",
            CHECK,
            equal(partial(q.wrong_observations, expected=64), 0, "points").measuring(
                "points too many or too few"
            ),
            "Every equation is observed at 64 points.",
        ),
        (
            "burgers_is_cole_hopf",
            CHECK,
            at_most(partial(q.fact, kinds=("series_to_closed_form",)), EXACT, "relative L2"),
            "Burgers' Fourier series agrees with its closed form by Cole and Hopf.",
        ),
        (
            "refining_changes_nothing",
            CHECK,
            at_most(partial(q.fact, kinds=("refined",)), EXACT, "relative L2"),
            "Twice the points and twice the steps leave Allen-Cahn and KdV as they are.",
        ),
        (
            "walls_are_held",
            CHECK,
            at_most(partial(q.fact, kinds=("walls",)), EXACT, "u"),
            "At the walls Burgers stays 0 and Allen-Cahn -1.",
        ),
        (
            "kdv_keeps_mass_and_momentum",
            CHECK,
            at_most(partial(q.fact, kinds=("mass", "momentum")), EXACT, "u or its square").naming(
                "mass", "momentum"
            ),
            "KdV keeps the integrals of u and of its square.",
        ),
    ),
    figure="figures:solution_panels",
    draws_seeds=False,
    caption="Exact solutions at the true coefficients, and the 8 x 8 points of observation: Burgers"
    " by its closed form, Allen-Cahn between its walls and KdV by Fourier series.",
    alt="Three coloured maps of u over time and place, each with a grid of 64 dots: a front that"
    " steepens in the middle, a plateau with sharp sides, and waves that run to the right.",
)  # fmt: skip
