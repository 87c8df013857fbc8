"""Golden trials of (FG)2U, by study: the smallest nets, a few steps of each kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import torch

from reproductions.fg2u.identities.experiment import Statement
from reproductions.fg2u.method.descent import adam
from reproductions.fg2u.method.tangents import Slopes
from reproductions.fg2u.models.spectral import ALLEN_CAHN, Pde
from tests.golden_trials import Short, golden
from tests.patches import Mutation, Patch, around


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


def no_momentum(module: str) -> Mutation:
    """Return a fault of a module's inner steps."""
    return Mutation(
        where=f"reproductions.fg2u.{module}:MOMENTUM",
        instead=lambda momentum: 0.0,
        breaks="Inner steps have no momentum.",
    )


BLIND = Mutation(
    where="reproductions.fg2u.models.adaptation:features",
    instead=around(lambda features, trunk, tokens: torch.zeros_like(features(trunk, tokens))),
    breaks="The weight model sees no token.",
)
READ = 8
"""Steps of Adam while the longest stream is read."""


def more_questions(asked: Any, questions: Any, window: int) -> Any:
    """Return four times as many questions."""
    return asked([*questions] * 4, window)


def thicker(pde: Pde) -> Pde:
    """Return an equation of twice the coefficient."""
    return replace(pde, true_coefficient=2 * pde.true_coefficient)


FEW_NETS = {"num_nets": 2, "test_steps": 10}
"""Of one test digit in 500 or of none, rounding does not decide after so few steps."""

SHORTER = Mutation(
    where="reproductions.fg2u.method.reverse:Trgu.parts",
    instead=around(
        lambda parts, trgu, *given: parts(replace(trgu, keep=max(1, trgu.keep - 1)), *given)
    ),
    breaks="A truncation keeps one step fewer than it says.",
)

WHOLE = Mutation(
    where="reproductions.fg2u.method.reverse:walked_back",
    instead=around(
        lambda walked, problem, *given, kept: walked(problem, *given, kept=problem.num_steps)
    ),
    breaks="TRGU walks back every step.",
)
LEVEL = Mutation(
    where="reproductions.fg2u.image_sets.trial:falling_adam",
    instead=lambda falling: lambda num_steps: adam,
    breaks="Outer steps do not fall.",
)


FEW_STEPS = {"test_steps": 3}
"""After so few steps rounding does not decide which class a digit is given."""


SHORT_UNROLLS = {"depth": 2, "long_depth": 3, "kept_steps": 1}

GOLDEN = (
    golden("fg2u/sampling", UNSIGNED, Short(to={"num_draws": 8, "num_steps": 3})),
    golden(
        "fg2u/differences",
        DOUBLED,
        # Smaller steps would leave rounding alone.
        Short(of={"num_meta": 1}, to={"last_exponent": -2, "num_steps": 3}),
        Short(of={"num_meta": 10}, to={"last_exponent": -2, "num_steps": 3}),
    ),
    golden(
        "fg2u/adaptation_bases",
        Mutation(
            where="reproductions.fg2u.models.stream:_share",
            instead=around(lambda share, step, recipe: 1.0),
            breaks="Base models have no warm-up and no decay.",
        ),
        Short(of={"model": "small"}),
        Short(of={"model": "large"}),
    ),
    golden("fg2u/adaptation_first", BLIND, max_steps=READ),
    golden("fg2u/adaptation_second", BLIND, max_steps=READ),
    golden(
        "fg2u/adaptation_costs",
        Mutation(
            where="reproductions.fg2u.adaptation.counting:asked",
            instead=around(more_questions),
            breaks="The outer loss has four times as many questions.",
        ),
        Short(to={"rgu_depths": "6", "fg2u_depths": "6"}),
        double=False,
    ),
    golden(
        "fg2u/pde_solutions",
        Mutation(
            where="reproductions.fg2u.models.exact:WALLED",
            instead=lambda walled: ALLEN_CAHN,
            breaks="Allen-Cahn is solved without walls.",
        ),
        Short(to={"columns": 5, "rows": 3}),
    ),
    golden(
        "fg2u/pde_slopes",
        DOUBLED,
        Short(to={"num_points": 32}),
        # Smaller steps leave rounding alone.
        patches=(
            Patch(
                where="reproductions.fg2u.coefficients.slopes:EXPONENTS",
                instead=lambda exponents: (-1, -2),
            ),
        ),
    ),
    golden(
        "fg2u/pde_forward",
        Mutation(
            where="reproductions.fg2u.coefficients.forward:BURGERS",
            instead=thicker,
            breaks="Burgers is solved at twice its coefficient.",
        ),
        Short(of={"solver": "numerical"}),
        Short(of={"optimizer": "adam"}, to={"train_steps": 3}),
        Short(of={"optimizer": "sgd"}, to={"train_steps": 3}),
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
    golden(
        "fg2u/pde_inverse",
        Mutation(
            where="reproductions.fg2u.coefficients.inverse:coefficient",
            instead=lambda coefficient: lambda params, phi: phi,
            breaks="The coefficient is taken for its own root.",
        ),
        Short(of={"method": "single"}, to={"num_points": 32, "num_steps": 100}),
        Short(of={"method": "quadrature"}, to={"num_points": 32, "num_steps": 100}),
        Short(of={"method": "pinn"}),
    ),
    golden(
        "fg2u/condensing",
        no_momentum("models.condensation"),
        Short(of={"second": "fg2u"}, to=FEW_NETS),
        Short(of={"method": "rgu"}, to={**FEW_NETS, "steps": 2}),
    ),
    golden(
        "fg2u/inner_run",
        Mutation(
            where="reproductions.fg2u.inner_run.trial:norm",
            instead=around(lambda norm, tree: norm(tree).square()),
            breaks="The square of the gradient's norm stands for the norm.",
        ),
        Short(to={"num_steps": 20}),
    ),
    golden(
        "fg2u/identities",
        SHORTER,
        *(Short(of={"statement": statement}) for statement in get_args(Statement)),
        double=False,
    ),
    golden(
        "fg2u/image_sets",
        no_momentum("image_sets.problem"),
        Short(of={"method": "fg2u"}, to=FEW_STEPS),
        Short(of={"ipc": 2}, to=FEW_STEPS),
    ),
    golden("fg2u/image_sets_continued", LEVEL, Short(to=FEW_STEPS)),
    golden("fg2u/pilot_second_phases", LEVEL, Short(to=FEW_STEPS)),
    golden("fg2u/alignments", WHOLE, Short(to=FEW_STEPS)),
    golden(
        "fg2u/kernel_step",
        Mutation(
            where="reproductions.kernels.tangent_step.plain:step",
            instead=around(
                lambda step, rule, *given: step(rule._replace(lr=1.01 * rule.lr), *given)
            ),
            breaks="Inner steps with their tangents are a hundredth longer.",
        ),
        # The first step, two that are timed, and one whose bytes are counted.
        max_steps=4,
        double=False,
    ),
    golden(
        "fg2u/live_memory",
        WHOLE,
        Short(of={"depth": 8}, to={"depth": 6, "methods": "all"}),
        # It counts what a model of float32 holds.
        double=False,
    ),
    golden(
        "fg2u/capabilities",
        Mutation(
            where="reproductions.fg2u.method.reverse:Trgu.parts",
            instead=around(
                lambda parts, self, problem, *rest: parts(
                    type(self)(keep=problem.num_steps, measure_memory=self.measure_memory),
                    problem,
                    *rest,
                )
            ),
            breaks="TRGU keeps all steps.",
        ),
        *(
            Short(of={"method": method}, to=SHORT_UNROLLS)
            for method in ("rgu", "neumann", "trgu", "fg2u")
        ),
        double=False,
    ),
    golden(
        "fg2u/step_time",
        Mutation(
            where="reproductions.fg2u.method.forward:_chunks",
            instead=around(lambda chunks, numbers, size: chunks(numbers, len(numbers))),
            breaks="All directions are carried at once, whatever the chunk.",
        ),
        # In this process, where a mutation is seen.
        Short(to={"max_workers": 1}),
        double=False,
    ),
    golden(
        "fg2u/pilot_sets",
        no_momentum("image_sets.problem"),
        Short(of={"method": "rgu"}, to={**FEW_STEPS, "lr": 0.01}),
    ),
    golden(
        "fg2u/pilot_phases",
        no_momentum("models.condensation"),
        Short(to=FEW_NETS),
    ),
    golden("fg2u/pilot_streams", BLIND, max_steps=READ),
)
