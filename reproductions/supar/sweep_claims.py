"""Claims on where the optimal learning rate lies, which Figures 1 and 6 both make."""

from __future__ import annotations

from functools import partial

from harness.claims import Claim
from harness.task import Profile
from reproductions.supar.quantities import optimum_distance, optimum_shift

TRAINED: tuple[Profile, ...] = ("cpu", "gpu", "paper")
TOO_SHORT = "20 steps and two densities show the structure, not where an optimum lies"
OURS = "; threshold: ours, set before any run"


def stays(where: str) -> Claim:
    """Return the claim that SmuPar's optimum stays within one step of the grid."""
    return Claim(
        id="supar_stays",
        statement="Under SμPar the optimal learning rate moves by at most one factor-2 step from"
        " dense to the lowest density.",
        where=where + OURS,
        form="at_most",
        grade="empirical",
        quantity=partial(optimum_distance, scheme="supar"),
        threshold=1.0,
        threshold_from="theory",
        profiles=TRAINED,
        out_of_profile=TOO_SHORT,
        unit="octaves",
    )


def moves(scheme: str, name: str, where: str) -> tuple[Claim, Claim]:
    """Return the claims that a scheme's optimum rises: by two steps, and at all."""
    by_two = _rise(
        f"{scheme}_moves",
        f"Under {name} the optimal learning rate rises by at least two factor-2 steps from dense"
        " to the lowest density.",
        scheme=scheme,
        where=where + OURS,
        threshold=2.0,
    )
    at_all = _rise(
        f"{scheme}_rises",
        f"Under {name} the optimal learning rate is larger at the lowest density than dense.",
        scheme=scheme,
        where=where,
        threshold=0.0,
    )
    return by_two, at_all


def _rise(id_: str, statement: str, *, scheme: str, where: str, threshold: float) -> Claim:
    return Claim(
        id=id_,
        statement=statement,
        where=where,
        form="at_least",
        grade="empirical",
        quantity=partial(optimum_shift, scheme=scheme),
        threshold=threshold,
        threshold_from="theory",
        profiles=TRAINED,
        out_of_profile=TOO_SHORT,
        unit="octaves",
    )
