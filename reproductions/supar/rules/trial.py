"""Trials of the exact checks: small nets, built or trained for a few steps."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from harness.declare import Row, RunContext
from reproductions.nets.gpt import GPT, next_token_loss
from reproductions.supar.method.masks import linear_layers
from reproductions.supar.method.parameterization import (
    TABLE_3,
    BaseHyperparameters,
    Parameterization,
    param_groups,
)
from reproductions.supar.method.roles import infer_roles
from reproductions.supar.models.gpt_trial import gpt_config
from reproductions.supar.models.points import SMALL
from reproductions.supar.models.training import Seeds, build_gpt, generator_of
from reproductions.supar.rules import rules_of_model
from reproductions.supar.rules.experiment import MEASURED, Check

BASE_WIDTH = 32
NUM_STEPS = 6
VOCABULARY = 32
UNIT = BaseHyperparameters(init_std=1.0, lr=1.0, input_multiplier=1.0, output_multiplier=1.0)


def check_rules(params: Check, ctx: RunContext) -> list[Row]:
    """Return one row with what the trial's check measured."""
    checks = {"rules": _rules, "twin": _twin, "masked": _masked}
    found = checks[params.check](params, ctx)
    return [{name: found.get(name) for name in MEASURED}]


def _rules(params: Check, ctx: RunContext) -> dict[str, float]:
    table = _table(params)
    model = _model(params, table, ctx)
    plain = Parameterization(scheme="sp", width_multiplier=1.0, density=1.0, base=UNIT)
    draws = {n: p.detach() for n, p in _model(params, plain, ctx).named_parameters()}
    hidden = [name for name in draws if name.startswith("blocks.") and draws[name].ndim == 2]
    embeddings = ["tokens.weight", "positions.weight"]
    others = [name for name in draws if name not in hidden]
    optimizer = _optimizer(model, table)
    found = {
        "base_width": float(BASE_WIDTH),
        "head_size": float(model.config.head_size),
        "sigma_base": table.base.init_std,
        "eta_base": table.base.lr,
        "alpha_input": table.base.input_multiplier,
        "alpha_output": table.base.output_multiplier,
        "embedding_init_var": rules_of_model.init_variance(model, draws, embeddings),
        "embedding_lr": rules_of_model.learning_rate(model, optimizer, others),
        "hidden_init_var": rules_of_model.init_variance(model, draws, hidden),
        "hidden_lr_adam": rules_of_model.learning_rate(model, optimizer, hidden),
    }
    return found | rules_of_model.forward_factors(model, _tokens(ctx)[0, :, :-1])


def _twin(params: Check, ctx: RunContext) -> dict[str, float]:
    losses = []
    for twin in (params, replace(params, scheme="mup")):
        table = _table(twin)
        losses.append(_train(_model(twin, table, ctx), table, ctx))
    difference = float((losses[0] - losses[1]).abs().max())
    return {"num_steps": float(NUM_STEPS), "max_abs_loss_difference": difference}


def _masked(params: Check, ctx: RunContext) -> dict[str, float]:
    table = _table(params)
    model = _model(params, table, ctx)
    _train(model, table, ctx)
    largest = rules_of_model.max_abs_masked_weight(model)
    return {"num_steps": float(NUM_STEPS), "max_abs_masked_weight": largest}


def _table(params: Check) -> Parameterization:
    return Parameterization(
        scheme=params.scheme,
        width_multiplier=params.width / BASE_WIDTH,
        density=params.density,
        base=TABLE_3,
    )


def _model(params: Check, table: Parameterization, ctx: RunContext) -> GPT:
    shape = replace(SMALL, width=params.width, context=16, head_size=16)
    seeds = Seeds(init=ctx.seed("init"), masks=ctx.seed("masks"))
    config = gpt_config(shape, table, VOCABULARY)
    return build_gpt(config, table, seeds, mask_density=table.density)


def _optimizer(model: GPT, table: Parameterization) -> torch.optim.AdamW:
    roles = infer_roles(model, linear_layers(model, exclude=()))
    groups = param_groups(model, table, roles, weight_decay=0.1, decay="coupled")
    return torch.optim.AdamW(groups, betas=(0.9, 0.95))


def _train(model: GPT, table: Parameterization, ctx: RunContext) -> Tensor:
    """Train on random tokens and return the losses."""
    optimizer, losses = _optimizer(model, table), []
    for window_BT in _tokens(ctx):
        loss = next_token_loss(model(window_BT[:, :-1]), window_BT[:, 1:])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def _tokens(ctx: RunContext) -> Tensor:
    generator = generator_of(ctx.seed("batches"))
    return torch.randint(VOCABULARY, (NUM_STEPS, 4, 17), generator=generator)
