"""Builders of LISA's claims."""

from __future__ import annotations

from harness.declare.claims import Claim, Form, Quantity, Threshold
from harness.declare.old import flat_claim
from harness.declare.profiles import PROFILES, Profile

ON_A_CPU: tuple[Profile, ...] = ("smoke", "cpu")
CPU_UP: tuple[Profile, ...] = ("cpu", "gpu", "paper")
GPU_UP: tuple[Profile, ...] = ("gpu", "paper")
TOO_SMALL = "the smoke model shows the path, and has other proportions"
NEEDS_GPU = "it is about the allocator's peak on a GPU"


def exact(
    id: str,
    statement: str,
    *,
    where: str,
    form: Form,
    quantity: Quantity,
    bound: Threshold,
    unit: str,
    tolerance: float = 0.0,
    profiles: tuple[Profile, ...] = PROFILES,
    out_of_profile: str = "this profile has no such runs",
) -> Claim:
    """Return the exact claim that a number of the whole table is what it must be."""
    return flat_claim(
        id=id,
        statement=statement,
        where=where,
        form=form,
        grade="exact",
        quantity=quantity,
        threshold=bound,
        threshold_from="theory",
        tolerance=tolerance,
        profiles=profiles,
        out_of_profile=out_of_profile,
        deterministic=True,
        unit=unit,
    )


def counted(
    id: str,
    statement: str,
    *,
    where: str,
    form: Form,
    quantity: Quantity,
    bound: Threshold,
    unit: str,
    profiles: tuple[Profile, ...] = CPU_UP,
    out_of_profile: str = TOO_SMALL,
) -> Claim:
    """Return a claim of the paper on bytes, which no seed changes; its bound is ours."""
    return flat_claim(
        id=id,
        statement=statement,
        where=f"{where}; threshold: ours, see DEV-04",
        form=form,
        grade="empirical",
        quantity=quantity,
        threshold=bound,
        threshold_from="theory",
        profiles=profiles,
        out_of_profile=out_of_profile,
        deterministic=True,
        unit=unit,
    )
