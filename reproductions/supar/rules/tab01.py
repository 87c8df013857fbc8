"""Table 1: the rules of SP, muP and SmuPar, as our models are really built."""

from __future__ import annotations

from functools import partial

from harness.declare.claims import Claim, Quantity
from harness.declare.old import flat_claim, old_task
from harness.declare.profiles import PROFILES
from harness.declare.table import Column, Table
from reproductions.supar.coordinates.quantities import largest_check, rule_error
from reproductions.supar.models.tables import DENSITY, SCHEME, WIDTH
from reproductions.supar.rules.experiment import experiment

RULES = {
    "embedding_init_var": "initial variance of the embedding",
    "embedding_lr": "learning rate of the embedding",
    "embedding_forward": "factor on the embedding's output",
    "hidden_init_var": "initial variance of hidden weights that are kept",
    "hidden_lr_adam": "Adam learning rate of hidden weights",
    "unembedding_forward": "factor on the logits",
    "attention_logits": "factor on products of queries and keys",
}
INPUTS = {
    "base_width": "Width of the proxy, d_base.",
    "head_size": "Size of an attention head.",
    "sigma_base": "Base standard deviation.",
    "eta_base": "Base learning rate.",
    "alpha_input": "Base input multiplier; SP has none.",
    "alpha_output": "Base output multiplier; SP has none.",
}
ROUNDING = 2.5e-7
"""Relative. Weights are float32: a factor on them is off by up to 2^-24, its square by 2^-23, and
each rounding of a product by as much again. A wrong rule is off by a power of two."""


def _value(name: str, doc: str) -> Column:
    return Column(name=name, type="float", role="value", doc=doc, nullable=True)


COLUMNS = Table(
    (
        Column(
            name="check",
            type="str",
            role="param",
            doc="rules: Table 1 read from a built model; twin: a dense scheme trained beside μP;"
            " masked: masked weights after training.",
        ),
        SCHEME,
        WIDTH,
        DENSITY,
        *(_value(name, doc) for name, doc in INPUTS.items()),
        *(_value(name, f"As built: {phrase}.") for name, phrase in RULES.items()),
        _value("num_steps", "Optimizer steps that were taken."),
        _value("max_abs_loss_difference", "Largest loss difference of the twins over the steps."),
        _value("max_abs_masked_weight", "Largest weight, stored or effective, under a zero mask."),
    )
)


def _exact(*, id: str, statement: str, quantity: Quantity, where: str, tolerance: float) -> Claim:
    return flat_claim(
        id=id,
        statement=statement,
        where=where,
        form="equal",
        grade="exact",
        quantity=quantity,
        threshold=0.0,
        threshold_from="theory",
        profiles=PROFILES,
        tolerance=tolerance,
        deterministic=True,
    )


CLAIMS = (
    *(
        _exact(
            id=name,
            statement=f"The {phrase} is what Table 1 demands, for SP, μP and SμPar at every width"
            " and density (largest relative difference).",
            quantity=partial(rule_error, rule=name),
            where="Table 1",
            tolerance=ROUNDING,
        )
        for name, phrase in RULES.items()
    ),
    _exact(
        id="dense_twins",
        statement="Dense SμPar, its two half-way ablations and μP give bit-identical losses, step"
        " by step.",
        quantity=partial(largest_check, check="twin", value="max_abs_loss_difference"),
        where="Table 1 with m_rho = 1",
        tolerance=0.0,
    ),
    _exact(
        id="masked_stay_zero",
        statement="Masked weights are exactly zero after training steps, stored and effective.",
        quantity=partial(largest_check, check="masked", value="max_abs_masked_weight"),
        where="section 3, Y = X (W * M); Figure 4",
        tolerance=0.0,
    ),
)

task = old_task(
    id="supar/tab01",
    title="The parameterization rules of SP, μP and SμPar",
    reads=(experiment,),
    columns=COLUMNS,
    claims=CLAIMS,
)
