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
RULES = {
    "embedding_init_var": ("embedding init. variance", "initial variance of the embedding"),
    "embedding_lr": ("embedding learning rate", "learning rate of the embedding"),
    "embedding_forward": ("embedding forward, factor", "factor on the embedding's output"),
    "hidden_init_var": (
        "hidden init. variance",
        "initial variance of hidden weights that are kept",
    ),
    "hidden_lr_adam": ("hidden learning rate (Adam)", "Adam learning rate of hidden weights"),
    "unembedding_forward": ("unembedding forward, factor", "factor on the logits"),
    "attention_logits": ("attention logits, factor", "factor on products of queries and keys"),
}
"""The head of each rule in Table 1, and what it is in a sentence."""
MEASURED = {
    "base_width": "Width of the proxy, d_base.",
    "head_size": "Size of an attention head.",
    "sigma_base": "Base standard deviation.",
    "eta_base": "Base learning rate.",
    "alpha_input": "Base input multiplier; SP has none.",
    "alpha_output": "Base output multiplier; SP has none.",
    **{name: f"As built: {phrase}." for name, (_, phrase) in RULES.items()},
    "num_steps": "Optimizer steps that were taken.",
    "max_abs_loss_difference": "Largest loss difference of the twins over the steps.",
    "max_abs_masked_weight": "Largest weight, stored or effective, under a zero mask.",
}
"""Columns of a row; those of other checks are empty."""


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


identities = Experiment(
    "supar/identities",
    version=2,
    params=Check,
    grid=grid,
    run="trial:check_rules",
    seed_from=(),
    estimate=lambda params: Estimate(seconds=0.02),
    address=("check", "scheme", "width", "density"),
)
