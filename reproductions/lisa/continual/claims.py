"""Builders of claims on continual pre-training, where word problems of our own stand for GSM8K."""

from __future__ import annotations

from harness.declare.claims import Claim, Form, Quantity, Threshold
from harness.declare.old import flat_claim
from harness.declare.profiles import Profile
from reproductions.lisa.continual.quantities import on_gsm8k

CPU: tuple[Profile, ...] = ("cpu",)
PAPER: tuple[Profile, ...] = ("paper",)
ELSEWHERE = (
    "smoke takes a few steps at one seed; the paper's models need their weights, which are not at"
    " hand"
)


def on_word_problems(
    id: str, statement: str, *, where: str, form: Form, quantity: Quantity, bound: Threshold,
    unit: str,
) -> Claim:  # fmt: skip
    """Return an empirical claim on in-house problems, over three seeds."""
    return flat_claim(
        id=id,
        statement=statement,
        where=f"{where}; on word problems of ours, not on GSM8K; threshold: ours, see DEV-04",
        form=form,
        grade="empirical",
        quantity=quantity,
        threshold=bound,
        threshold_from="theory",
        profiles=CPU,
        out_of_profile=ELSEWHERE,
        unit=unit,
    )


def on_gsm8k_itself(id: str, statement: str, *, where: str) -> Claim:
    """Return a claim that only the paper's own setting could decide."""
    return flat_claim(
        id=id,
        statement=statement,
        where=where,
        form="at_least",
        grade="empirical",
        quantity=on_gsm8k,
        threshold=-1.0,
        threshold_from="theory",
        profiles=PAPER,
        out_of_profile="models of this size solve nothing of GSM8K",
        unit="standard errors",
    )
