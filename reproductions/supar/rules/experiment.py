"""Exact checks of Table 1: small nets, deterministic, the same at every profile.

`rules` reads the rules off a built net; `twin` trains a dense scheme beside muP; `masked` trains
a sparse net with weight decay and momentum and looks under its masks. One wide row per trial.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from harness.declare import Estimate, Experiment, Params, Profile, doc
from reproductions.supar.method.parameterization import Scheme
from reproductions.supar.models.schemes import ABLATIONS, SCHEMES

WIDTHS = (32, 64, 128)
TRAINED_WIDTH = 64
DENSITIES = (1.0, 1 / 4, 1 / 16)


class Check(Params):
    """What is checked of a small net."""

    check: Literal["rules", "twin", "masked"] = doc(
        "rules: Table 1 read from a built model; twin: a dense scheme trained beside μP; masked:"
        " masked weights after training."
    )
    scheme: Scheme = doc(
        "Parameterization: sp, mup, supar, or a half-way ablation: mup_init_only, mup_lr_only."
    )
    width: int = doc("Hidden width d of the model.")
    density: float = doc("Fraction of hidden weights that is kept.")


def grid(profile: Profile) -> Iterator[Check]:
    """Yield every rule, masks at every sparse density, and dense twins."""
    for scheme in SCHEMES:
        for density in DENSITIES:
            for width in WIDTHS:
                yield Check(check="rules", scheme=scheme, width=width, density=density)
            if density < 1.0:
                yield Check(check="masked", scheme=scheme, width=TRAINED_WIDTH, density=density)
    twins: tuple[Scheme, ...] = ("supar", *ABLATIONS)
    for scheme in twins:
        yield Check(check="twin", scheme=scheme, width=TRAINED_WIDTH, density=1.0)


def estimate(params: Check) -> Estimate:
    """Return the measured cost: small nets, a few steps."""
    return Estimate(seconds=0.02)


identities = Experiment(
    "supar/identities",
    version=2,
    params=Check,
    grid=grid,
    run="trial:check_rules",
    seed_from=(),
    estimate=estimate,
    address=("check", "scheme", "width", "density"),
)
