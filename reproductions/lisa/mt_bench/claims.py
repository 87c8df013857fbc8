"""What claims on MT-Bench share. Every one needs a real judge's ratings; nothing else stands in."""

from __future__ import annotations

from harness.declare import CPU, PAPER, Claim, Criterion, Scope, claims, ours
from reproductions.lisa.models.names import QUALITY, TITLES

IN_HOUSE = ours(
    "DEV-04", profiles=CPU, elsewhere="it is about the in-house model, which is fine-tuned at cpu"
)
HANDED_IN = ours(
    "DEV-04",
    profiles=PAPER,
    elsewhere="it is about the paper's models, whose weights have to be handed in",
)


def judged(
    where: str,
    model: str,
    id: str,
    criterion: Criterion,
    statement: str,
    *,
    scope: Scope = HANDED_IN,
) -> tuple[Claim, ...]:
    """Return the claim on one model's ratings, over training seeds.

    scope: of a claim on a model of the paper.
    """
    own = model == QUALITY
    name = TITLES["llama-2-7b" if own else model]
    named = f"{id}_{model.replace('-', '_')}"
    return claims(
        f"{where}; in-house stand-in, see DEV-07" if own else where,
        (named, IN_HOUSE if own else scope, criterion, f"{statement} on {name}."),
    )
