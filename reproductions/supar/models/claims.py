"""Claims on where an optimum lies and what its transfer costs, which many figures make."""

from __future__ import annotations

from functools import partial

from harness.declare.claims import Claim, Form, Quantity
from harness.declare.old import flat_claim
from harness.declare.profiles import Profile
from reproductions.supar.coordinates.quantities import STRICTLY
from reproductions.supar.models.optima import (
    largest_dense_difference,
    optimum_distance,
    optimum_shift,
    transfer_loss,
    transfer_losses,
)

TRAINED: tuple[Profile, ...] = ("cpu", "gpu", "paper")
ON_A_CPU: tuple[Profile, ...] = ("smoke", "cpu")
TOO_SHORT = "20 steps and two densities show the structure, not where an optimum lies"
PAPER_ONLY = "the number belongs to the paper's own model, data and densities"
OURS = "; threshold: ours, see DEV-17"
NAMES = {
    "sp": "standard parameterization",
    "mup": "μP",
    "supar": "SμPar",
    "mup_init_only": "μP with SμPar's initial variance alone",
    "mup_lr_only": "μP with SμPar's learning rate alone",
}
SWEPT = {"log2_lr": "learning rate", "log2_sigma": "initial standard deviation"}


def ours(
    id: str,
    statement: str,
    *,
    form: Form,
    where: str,
    quantity: Quantity,
    bound: float,
    unit: str = "octaves",
) -> Claim:
    """Return an empirical claim of trained nets whose bound is ours."""
    return flat_claim(
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
        unit=unit,
    )


def dense_is_identical(at: str, **swept: str) -> Claim:
    """Return the claim that SmuPar is muP at density 1.

    at: what the compared runs share; swept: the x of `largest_dense_difference`, where it is not
    the learning rate's logarithm.
    """
    return flat_claim(
        id="dense_identical",
        statement=f"Dense, SμPar and μP are one model: equal losses at every {at}.",
        where="Table 1 with m_rho = 1",
        form="equal",
        grade="exact",
        quantity=partial(largest_dense_difference, schemes=("supar", "mup"), **swept),
        threshold=0.0,
        threshold_from="theory",
        profiles=ON_A_CPU,
        out_of_profile="CUDA kernels add in no fixed order, so equality is not promised there",
        deterministic=True,
        unit="nats",
    )


def stays(where: str, *, x: str = "log2_lr") -> Claim:
    """Return the claim that SmuPar's optimum stays within one step of the grid."""
    return ours(
        "supar_stays",
        f"Under SμPar the optimal {SWEPT[x]} moves by at most one factor-2 step from dense to the"
        " lowest density.",
        form="at_most",
        where=where,
        quantity=partial(optimum_distance, scheme="supar", x=x),
        bound=1.0,
    )


def moves(scheme: str, where: str) -> tuple[Claim, ...]:
    """Return the claims that a scheme's optimal rate rises: by two steps, and at all."""
    degrees = (
        ("moves", "rises by at least two factor-2 steps from dense to the lowest density", 2.0),
        ("rises", "is larger at the lowest density than dense", 0.0),
    )
    return tuple(
        ours(
            f"{scheme}_{id}",
            f"Under {NAMES[scheme]} the optimal learning rate {phrase}.",
            form="at_least",
            where=where,
            quantity=partial(optimum_shift, scheme=scheme),
            bound=bound,
        )
        for id, phrase, bound in degrees
    )


def transfers(where: str, *, x: str = "log2_lr") -> Claim:
    """Return the claim that SmuPar loses nothing with the dense model's best value."""
    return ours(
        "supar_transfer",
        f"At the lowest density, SμPar at the dense model's best {SWEPT[x]} is within 1 % of its"
        " own best loss.",
        form="at_most",
        where=where,
        quantity=partial(transfer_loss, scheme="supar", x=x),
        bound=0.01,
        unit="relative loss",
    )


def transfer_is_dearer(scheme: str, where: str, *, x: str = "log2_lr") -> Claim:
    """Return the claim that the dense model's best value costs a scheme more than SmuPar."""
    return ours(
        f"{scheme}_transfer_dearer",
        f"At the lowest density, training at the dense model's best {SWEPT[x]} costs more under"
        f" {NAMES[scheme]} than under SμPar.",
        form="ordering",
        where=where,
        quantity=partial(transfer_losses, schemes=("supar", scheme), x=x),
        bound=STRICTLY,
        unit="relative loss",
    )
