"""Exact checks of Table 1: small nets, deterministic, the same at every profile.

`rules` reads the rules off a built net; `twin` trains a dense scheme beside muP; `masked` trains
a sparse net with weight decay and momentum and looks under its masks. One wide row a trial.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.declare.experiment import Estimate, Experiment, RawParams, Row, RunContext
from harness.declare.params import Scalar
from harness.declare.profiles import PROFILES
from harness.errors import SpecError
from reproductions.supar.method.base_hyperparameters import TABLE_3
from reproductions.supar.models.points import ABLATIONS, SCHEMES, base_params, gpt_shape

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from reproductions.nets.gpt import GPT
    from reproductions.supar.method.parameterization import Parameterization

BASE_WIDTH = 32
WIDTHS = (32, 64, 128)
TRAINED_WIDTH = 64
DENSITIES = (1.0, 1 / 4, 1 / 16)
NUM_STEPS = 6
VOCABULARY = 32
VALUES = (
    *("base_width", "head_size", "sigma_base", "eta_base", "alpha_input", "alpha_output"),
    *("embedding_init_var", "embedding_lr", "embedding_forward"),
    *("hidden_init_var", "hidden_lr_adam", "unembedding_forward", "attention_logits"),
    *("num_steps", "max_abs_loss_difference", "max_abs_masked_weight"),
)
"""Columns of a row; those of other checks are None."""


def run(params: RawParams, ctx: RunContext) -> list[Row]:
    """Return one row with what the trial's check measured."""
    checks = {"rules": _rules, "twin": _twin, "masked": _masked}
    if params["check"] not in checks:
        raise SpecError(f"check={params['check']!r}: need 'rules', 'twin' or 'masked'")
    found = checks[str(params["check"])](params, ctx)
    return [{name: found.get(name) for name in VALUES}]


def _rules(params: RawParams, ctx: RunContext) -> dict[str, float]:
    import reproductions.supar.rules.rules_of_model as as_built
    from reproductions.supar.method.parameterization import BaseHyperparameters, Parameterization

    table = _table(params)
    model = _model(params, table, ctx)
    unit = BaseHyperparameters(init_std=1.0, lr=1.0, input_multiplier=1.0, output_multiplier=1.0)
    plain = Parameterization(scheme="sp", width_multiplier=1.0, density=1.0, base=unit)
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
        "embedding_init_var": as_built.init_variance(model, draws, embeddings),
        "embedding_lr": as_built.learning_rate(model, optimizer, others),
        "hidden_init_var": as_built.init_variance(model, draws, hidden),
        "hidden_lr_adam": as_built.learning_rate(model, optimizer, hidden),
    }
    return found | as_built.forward_factors(model, _tokens(ctx)[0, :, :-1])


def _twin(params: RawParams, ctx: RunContext) -> dict[str, float]:
    losses = []
    for scheme in (str(params["scheme"]), "mup"):
        table = _table({**params, "scheme": scheme})
        losses.append(_train(_model(params, table, ctx), table, ctx))
    difference = float((losses[0] - losses[1]).abs().max())
    return {"num_steps": float(NUM_STEPS), "max_abs_loss_difference": difference}


def _masked(params: RawParams, ctx: RunContext) -> dict[str, float]:
    from reproductions.supar.rules.rules_of_model import max_abs_masked_weight

    table = _table(params)
    model = _model(params, table, ctx)
    _train(model, table, ctx)
    return {"num_steps": float(NUM_STEPS), "max_abs_masked_weight": max_abs_masked_weight(model)}


def _table(params: RawParams) -> Parameterization:
    from reproductions.supar.models.gpt_trial import parameterization_of

    start = base_params("sp", sp_init_std=TABLE_3.init_std, base=TABLE_3) | {"lr": TABLE_3.lr}
    return parameterization_of({**params, **start, "base_width": BASE_WIDTH})


def _model(params: RawParams, table: Parameterization, ctx: RunContext) -> GPT:
    from reproductions.supar.models.gpt_trial import gpt_config
    from reproductions.supar.models.training import Seeds, build_gpt

    shape = gpt_shape(
        data="",
        width=int(params["width"]),
        base_width=BASE_WIDTH,
        context=16,
        batch_size=4,
        head_size=16,
    )
    seeds = Seeds(init=ctx.seed("init"), masks=ctx.seed("masks"))
    config = gpt_config(shape, table, VOCABULARY)
    return build_gpt(config, table, seeds, mask_density=table.density)


def _optimizer(model: GPT, table: Parameterization) -> torch.optim.AdamW:
    from torch.optim import AdamW

    from reproductions.supar.method.masks import linear_layers
    from reproductions.supar.method.parameterization import infer_roles, param_groups

    roles = infer_roles(model, linear_layers(model, exclude=()))
    groups = param_groups(model, table, roles, weight_decay=0.1, decay="coupled")
    return AdamW(groups, betas=(0.9, 0.95))


def _train(model: GPT, table: Parameterization, ctx: RunContext) -> Tensor:
    """Train on random tokens and return the losses."""
    import torch

    from reproductions.nets.gpt import next_token_loss

    optimizer, losses = _optimizer(model, table), []
    for window_BT in _tokens(ctx):
        loss = next_token_loss(model(window_BT[:, :-1]), window_BT[:, 1:])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def _tokens(ctx: RunContext) -> Tensor:
    import torch

    from reproductions.supar.models.training import generator_of

    generator = generator_of(ctx.seed("batches"))
    return torch.randint(VOCABULARY, (NUM_STEPS, 4, 17), generator=generator)


def grid() -> Iterator[RawParams]:
    """Yield every rule, masks at every sparse density, and dense twins."""
    for scheme in SCHEMES:
        for density in DENSITIES:
            for width in WIDTHS:
                yield _point("rules", scheme, width, density)
            if density < 1.0:
                yield _point("masked", scheme, TRAINED_WIDTH, density)
    for scheme in ("supar", *ABLATIONS):
        yield _point("twin", scheme, TRAINED_WIDTH, 1.0)


def _point(check: str, scheme: str, width: int, density: float) -> dict[str, Scalar]:
    return {"check": check, "scheme": scheme, "width": width, "density": density}


def estimate(params: RawParams) -> Estimate:
    """Return the measured cost: small nets, a few steps."""
    return Estimate(seconds=0.02)


experiment = Experiment(
    id="supar/identities",
    version=2,
    run=run,
    grid=dict.fromkeys(PROFILES, grid),
    seed_from=(),
    estimate=estimate,
    address=("check", "scheme", "width", "density"),
)
