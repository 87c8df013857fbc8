"""Claims on where an optimum lies and what its transfer costs, which many figures make."""

from __future__ import annotations

from functools import partial

from harness.claims import Claim, Form, Quantity
from harness.task import Profile
from reproductions.supar.loss_quantities import (
    optimum_distance,
    optimum_shift,
    transfer_loss,
    transfer_losses,
)
from reproductions.supar.quantities import STRICTLY

TRAINED: tuple[Profile, ...] = ("cpu", "gpu", "paper")
ON_A_CPU: tuple[Profile, ...] = ("smoke", "cpu")
TOO_SHORT = "20 steps and two densities show the structure, not where an optimum lies"
PAPER_ONLY = "the number belongs to the paper's own model, data and densities"
OURS = "; threshold: ours, set before any run"
NAMES = {
    "sp": "standard parameterization",
    "mup": "μP",
    "supar": "SμPar",
    "mup_init_only": "μP with SμPar's initial variance alone",
    "mup_lr_only": "μP with SμPar's learning rate alone",
}
SWEPT = {"log2_lr": "learning rate", "log2_sigma": "initial standard deviation"}


def octaves(
    id: str, statement: str, *, form: Form, where: str, quantity: Quantity, bound: float
) -> Claim:
    """Return the claim that a distance in octaves keeps a bound of ours."""
    return Claim(
        id=id,
        statement=statement,
        where=where + OURS,
        form=form,
        grade="empirical",
        quantity=quantity,
        threshold=bound,
        threshold_from="theory",
        profiles=TRAINED,
        out_of_profile=TOO_SHORT,
        unit="octaves",
    )


def stays(where: str, *, x: str = "log2_lr") -> Claim:
    """Return the claim that SmuPar's optimum stays within one step of the grid."""
    return octaves(
        "supar_stays",
        f"Under SμPar the optimal {SWEPT[x]} moves by at most one factor-2 step from dense to the"
        " lowest density.",
        form="at_most",
        where=where,
        quantity=partial(optimum_distance, scheme="supar", x=x),
        bound=1.0,
    )


def moves(scheme: str, where: str) -> tuple[Claim, Claim]:
    """Return the claims that a scheme's optimal rate rises: by two steps, and at all."""
    by_two = octaves(
        f"{scheme}_moves",
        f"Under {NAMES[scheme]} the optimal learning rate rises by at least two factor-2 steps from"
        " dense to the lowest density.",
        form="at_least",
        where=where,
        quantity=partial(optimum_shift, scheme=scheme),
        bound=2.0,
    )
    at_all = octaves(
        f"{scheme}_rises",
        f"Under {NAMES[scheme]} the optimal learning rate is larger at the lowest density than"
        " dense.",
        form="at_least",
        where=where,
        quantity=partial(optimum_shift, scheme=scheme),
        bound=0.0,
    )
    return by_two, at_all


def transfers(where: str, *, x: str = "log2_lr") -> Claim:
    """Return the claim that SmuPar loses nothing with the dense model's best value."""
    return Claim(
        id="supar_transfer",
        statement=f"At the lowest density, SμPar at the dense model's best {SWEPT[x]} is within 1 %"
        " of its own best loss.",
        where=where + OURS,
        form="at_most",
        grade="empirical",
        quantity=partial(transfer_loss, scheme="supar", x=x),
        threshold=0.01,
        threshold_from="theory",
        profiles=TRAINED,
        out_of_profile=TOO_SHORT,
        unit="relative loss",
    )


def transfer_is_dearer(scheme: str, where: str, *, x: str = "log2_lr") -> Claim:
    """Return the claim that the dense model's best value costs a scheme more than SmuPar."""
    return Claim(
        id=f"{scheme}_transfer_dearer",
        statement=f"At the lowest density, training at the dense model's best {SWEPT[x]} costs more"
        f" under {NAMES[scheme]} than under SμPar.",
        where=where + OURS,
        form="ordering",
        grade="empirical",
        quantity=partial(transfer_losses, schemes=("supar", scheme), x=x),
        threshold=STRICTLY,
        threshold_from="theory",
        profiles=TRAINED,
        out_of_profile=TOO_SHORT,
        unit="relative loss",
    )
