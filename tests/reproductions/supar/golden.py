"""Golden trials of SuPar: three steps of small nets, with every update of a mask."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.golden_trials import Golden, Short, golden
from tests.patches import Mutation, Patch, around

STEPS = {"steps": 3, "warmup_steps": 1}
SPARSE = {"scheme": "supar", "density": 1 / 4}
RIGL = {"steps": 4, "warmup_steps": 1, "update_interval": 2, "last_update": 3}
"""Masks change at the third step, which is then none of the optimizer's: three are left."""
GMP = {**STEPS, "update_interval": 1, "last_update": 2}
"""Weights are pruned at the second step and, to the final density, at the third."""
TABLE_1 = "reproductions.supar.method.parameterization:Parameterization"

NO_RATE = Mutation(
    where=f"{TABLE_1}.rule",
    instead=around(lambda rule, self, *role: replace(rule(self, *role), lr=self.base.lr)),
    breaks="The learning rate of hidden matrices does not follow width and density.",
)
NO_START = Mutation(
    where=f"{TABLE_1}.rule",
    instead=around(
        lambda rule, self, *role: replace(rule(self, *role), init_std=self.base.init_std)
    ),
    breaks="The start of hidden matrices does not follow width and density.",
)
FREE_GRADIENTS = Mutation(
    where="reproductions.supar.method.masked_layer:MaskedLinear.factor_of",
    instead=around(lambda factor, layer, values: factor(layer, values).fill_(1)),
    breaks="Gradients of masked weights reach the optimizer, and the weights leave zero.",
)
BETAS_EXCHANGED = Mutation(
    where="reproductions.supar.models.training:BETAS",
    instead=lambda betas: betas[::-1],
    breaks="The two betas of AdamW are exchanged.",
)
NO_DECAY = Mutation(
    where="reproductions.supar.models.training:lr_factor",
    instead=around(lambda factor, step, settings: 1.0),
    breaks="The learning rate neither warms up nor decays.",
)
LAST_TOKEN = Mutation(
    where="reproductions.supar.downstream.continuations:_windows",
    instead=around(
        lambda windows, *given: (replace(window, num_scored=1) for window in windows(*given))
    ),
    breaks="The last token of a continuation alone is scored.",
)


def trained(name: str, mutation: Mutation, *ofs: dict[str, Any]) -> Golden:
    """Return golden trials of an experiment that trains with static masks."""
    points = tuple(Short(of=of, to=STEPS) for of in ofs)
    return golden(f"supar/{name}", mutation, *points)


GOLDEN = (
    trained("lr_sweep", NO_RATE, SPARSE, {"scheme": "sp"}, {"scheme": "mup", "density": 1 / 4}),
    trained("sigma_sweep", NO_START, SPARSE, {"scheme": "mup_lr_only"}),
    trained("lr_ablation", FREE_GRADIENTS, {"scheme": "mup_init_only"}, {"scheme": "mup_lr_only"}),
    trained("pilot_curves", BETAS_EXCHANGED, {}),
    trained("pilot_search", BETAS_EXCHANGED, {}),
    trained("pilot_trials", NO_DECAY, {}),
    trained(
        "iso_parameter",
        Mutation(
            where=f"{TABLE_1}.embedding_multiplier",
            instead=lambda multiplier: property(lambda self: 1.0),
            breaks="Embeddings are not multiplied.",
        ),
        {"scheme": "supar", "density": 1 / 2},
    ),
    trained(
        "iso_neuron",
        Mutation(
            where="reproductions.supar.models.training:clip_grad_norm_",
            instead=around(lambda clip, parameters, norm, **named: clip(parameters, 1e9, **named)),
            breaks="Gradients are not clipped.",
        ),
        {"density": 1.0},
        {"density": 1 / 2},
    ),
    trained(
        "fixed_hyperparameters",
        Mutation(
            where=f"{TABLE_1}.logit_multiplier",
            instead=lambda multiplier: property(lambda self: self.base.output_multiplier),
            breaks="Logits are not divided by the width multiplier.",
        ),
        {"scheme": "supar", "density": 1 / 2},
    ),
    trained("transfer", NO_DECAY, SPARSE, {"scheme": "sp", "density": 1.0}),
    trained("coordinate_check", NO_RATE, SPARSE, {"scheme": "sp"}),
    golden(
        "supar/dynamic_sweep",
        Mutation(
            where="reproductions.supar.method.dynamic:_replace_mask",
            instead=around(lambda replaced, *given, **named: None),
            breaks="New masks are chosen and never put in place.",
        ),
        Short(of={"method": "rigl", "scheme": "supar"}, to=RIGL),
        Short(of={"method": "gmp", "scheme": "supar"}, to=GMP),
    ),
    golden(
        "supar/identities",
        FREE_GRADIENTS,
        Short(of={"check": "rules", "scheme": "supar", "width": 64, "density": 1 / 16}),
        Short(of={"check": "masked", "scheme": "supar"}),
        Short(of={"check": "twin", "scheme": "supar"}),
        patches=(
            Patch(where="reproductions.supar.rules.trial:NUM_STEPS", instead=lambda steps: 3),
        ),
    ),
    golden(
        "supar/configuration",
        Mutation(
            where="reproductions.supar.settings.trial:lr_factor",
            instead=around(lambda factor, step, settings: 1.0),
            breaks="The learning rate of the paper's grids does not decay.",
        ),
        Short(of={"item": "tab03"}),
        Short(of={"item": "fig12"}),
    ),
    # The first step, two that are timed, and one whose bytes are counted.
    golden("supar/sweep_step", FREE_GRADIENTS, max_steps=4, double=False),
    golden("supar/continuation", LAST_TOKEN, Short(of=SPARSE, to={**STEPS, "num_items": 128})),
    golden(
        "supar/downstream",
        Mutation(
            where="torch.nn:Module.load_state_dict",
            instead=around(lambda load, net, tensors: None),
            breaks="The net that is scored is not the one that was trained.",
        ),
        Short(of=SPARSE, to={**STEPS, "max_documents": 24}),
    ),
    golden("supar/downstream_given", LAST_TOKEN),
)
