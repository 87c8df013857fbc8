"""Builders of the claims on valleys: of trained nets, and of identities."""

from __future__ import annotations

from harness.declare.claims import Claim, Form, Grade, Quantity, Threshold, ThresholdFrom
from harness.declare.old import flat_claim
from harness.declare.profiles import PROFILES, Profile
from reproductions.asymvalley.valleys.quantities import largest_spread_at_zero

TRAINED: tuple[Profile, ...] = ("cpu", "gpu", "paper")
ON_A_CPU: tuple[Profile, ...] = ("smoke", "cpu")
TOO_SHORT = "a few training steps show the structure, not the shape of a converged net's valley"
NO_FIXED_ORDER = "CUDA kernels add in no fixed order, so equality is not promised there"
PAPER_ONLY = "it needs the paper's own net, data and 200 epochs"
OURS = "; threshold: ours, see DEV-08"
STRICTLY = -1e-9
"""Slack of an ordering that must be strict: equal numbers neither exceed nor fall."""
ABOVE_ZERO = 1e-9
"""Bound of what must be positive: zero is not."""


def trained(
    id: str,
    statement: str,
    *,
    form: Form,
    where: str,
    quantity: Quantity,
    bound: Threshold,
    unit: str = "error",
    grade: Grade = "empirical",
    threshold_from: ThresholdFrom = "theory",
    deterministic: bool = False,
    profiles: tuple[Profile, ...] = TRAINED,
    out_of_profile: str = TOO_SHORT,
) -> Claim:
    """Return a claim on trained nets whose bound is ours; undecided at smoke unless told so."""
    return flat_claim(
        id=id,
        statement=statement,
        where=where + OURS,
        form=form,
        grade=grade,
        quantity=quantity,
        threshold=bound,
        threshold_from=threshold_from,
        profiles=profiles,
        out_of_profile=out_of_profile,
        deterministic=deterministic,
        unit=unit,
    )


def identity(
    id: str,
    statement: str,
    *,
    where: str,
    quantity: Quantity,
    expected: float,
    tolerance: float = 0.0,
    unit: str = "error",
    profiles: tuple[Profile, ...] = PROFILES,
    out_of_profile: str = NO_FIXED_ORDER,
) -> Claim:
    """Return the exact claim that a number of the whole table has one value, at every net."""
    return flat_claim(
        id=id,
        statement=statement,
        where=where,
        form="equal",
        grade="exact",
        quantity=quantity,
        threshold=expected,
        threshold_from="theory",
        tolerance=tolerance,
        profiles=profiles,
        out_of_profile=out_of_profile,
        deterministic=True,
        unit=unit,
    )


def one_net_at_zero(where: str) -> Claim:
    """Return the exact claim that all curves of a net pass through one point."""
    return identity(
        "one_net_at_zero",
        "All curves of one trained net have one error at lambda = 0.",
        where=f"{where}: L(theta_f)",
        quantity=largest_spread_at_zero,
        expected=0.0,
        profiles=ON_A_CPU,
    )
