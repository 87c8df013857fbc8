"""Claims on layerwise norms, shared by Figures 2 and 12."""

from __future__ import annotations

from functools import partial

from harness.declare.claims import Claim, Form, Quantity
from harness.declare.old import flat_claim
from harness.declare.profiles import Profile
from reproductions.lisa.claims import CPU_UP, exact
from reproductions.lisa.norms.quantities import drawn_embedding_ratio, drawn_error, start_error

SMALL = "in a model as narrow as smoke's the draw itself scatters by more"
RATIO, SPREAD, DRAW, MOVE = 5.0, 2.0, 0.03, 0.1
"""Thresholds, written down before any run."""


def empirical(
    id: str,
    statement: str,
    *,
    where: str,
    form: Form,
    quantity: Quantity,
    bound: float,
    unit: str,
    profiles: tuple[Profile, ...] = CPU_UP,
    out_of_profile: str = SMALL,
) -> Claim:
    """Return an empirical claim over seeds, with a bound of ours."""
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
        unit=unit,
    )


def of_drawn(models: tuple[str, ...], names: str, *, where: str) -> tuple[Claim, ...]:
    """Return the claims on adapters as they are drawn at the paper's widths."""
    return (
        exact(
            "nothing_changed_at_start",
            "Before any step the update is zero and merging adapters leaves every layer's norm as"
            " it is (largest change, or relative difference of norms): what adapters measure then"
            " is the draw alone.",
            where=where,
            form="at_most",
            quantity=start_error,
            # Norms in the table have nine digits.
            bound=1e-8,
            unit="share",
        ),
        empirical(
            "drawn_by_closed_form",
            f"Adapters of rank 128 on {names}, as peft draws them, have in every layer the norm"
            " sqrt(n r / 3) of a block with n linear layers, sqrt(r / 3) of a head, sqrt(d r) of"
            " an embedding, within 3 % (largest difference).",
            where=where,
            form="at_most",
            quantity=partial(drawn_error, models=models),
            bound=DRAW,
            unit="share",
        ),
        empirical(
            "embedding_above_blocks_untrained",
            "The skew that is shown under LoRA is there before any step: the embedding's adapters"
            f" have at least five times the norm of the median block's ({names}, least ratio).",
            where=where,
            form="at_least",
            quantity=partial(drawn_embedding_ratio, models=models),
            bound=RATIO,
            unit="ratio",
        ),
    )
