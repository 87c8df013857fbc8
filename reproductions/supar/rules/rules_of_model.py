"""Read off a built model which rules it really got, without trusting what configured it.

Standard deviations come from the weights against the standard normal draws behind them, learning
rates from the optimizer's groups, factors from what a forward pass in float64 does. So a rule
that was configured and not applied, as in the authors' code for SP, shows here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from harness.errors import SpecError
from reproductions.nets.gpt import GPT
from reproductions.supar.method.masked_layer import MASK
from reproductions.supar.method.masks import mask_of, masked_layers


def init_variance(model: nn.Module, draws: Mapping[str, Tensor], names: Iterable[str]) -> float:
    """Return the mean over parameters of the squared factor on their draws.

    draws: by name, the standard normal numbers from which `model` was made; masked weights do
    not count. A weight that did not come from its draw has a factor near 0.
    """
    parameters = dict(model.named_parameters())
    variances = []
    for name in names:
        weight, draw = parameters[name].detach().double(), draws[name].double()
        mask = mask_of(model, name)
        if mask is not None:
            weight, draw = weight[mask], draw[mask]
        variances.append(_factor(weight, draw) ** 2)
    return sum(variances) / len(variances)


def learning_rate(
    model: nn.Module, optimizer: torch.optim.Optimizer, names: Iterable[str]
) -> float:
    """Return the mean over parameters of the learning rate that the optimizer has for them."""
    parameters = dict(model.named_parameters())
    lrs = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    found = [lrs[id(parameters[name])] for name in names]
    return float(sum(found) / len(found))


def forward_factors(model: GPT, tokens_BT: Tensor) -> dict[str, float]:
    """Return the factors of a forward pass, after Table 1's rows; turns `model` to float64."""
    model.double()
    seen: dict[str, Tensor] = {}
    handles = [
        model.blocks[0].register_forward_pre_hook(lambda _, x: seen.update(embedded=x[0])),
        model.final_norm.register_forward_hook(lambda _, x, y: seen.update(features=y)),
    ]
    try:
        with torch.no_grad(), _AttentionScales() as attention:
            logits_BTV = model(tokens_BT)
    finally:
        for handle in handles:
            handle.remove()
    plain_BTD = model.tokens.weight[tokens_BT]
    if model.positions is not None:
        plain_BTD = plain_BTD + model.positions.weight[: tokens_BT.shape[1]]
    if len(attention.scales) != 1:
        raise SpecError(f"attention scales {sorted(attention.scales)}: need one for all layers")
    return {
        "embedding_forward": _factor(seen["embedded"], plain_BTD),
        "unembedding_forward": _factor(logits_BTV, F.linear(seen["features"], model.tokens.weight)),
        "attention_logits": attention.scales.pop(),
    }


@torch.no_grad()
def max_abs_masked_weight(model: nn.Module) -> float:
    """Return the largest magnitude under a zero mask, of stored weights and of effective ones.

    Effective: what the layer does to unit inputs.
    """
    largest = 0.0
    for module in masked_layers(model).values():
        dropped = ~getattr(module, MASK)
        units = torch.eye(module.in_features, device=module.weight.device)
        effective = module(units).T
        if module.bias is not None:
            effective = effective - module.bias[:, None]
        for weight in (module.weight, effective):
            largest = max(largest, float(weight[dropped].abs().max()))
    return largest


class _AttentionScales(TorchFunctionMode):
    """Notes the `scale` of every attention that torch computes."""

    def __init__(self) -> None:
        super().__init__()
        self.scales: set[float] = set()

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is F.scaled_dot_product_attention:
            self.scales.add(float((kwargs or {})["scale"]))
        return func(*args, **(kwargs or {}))


def _factor(values: Tensor, plain: Tensor) -> float:
    """Return the least-squares factor c in values = c * plain."""
    plain = plain.detach().flatten()
    return float(values.detach().flatten() @ plain / (plain @ plain))
