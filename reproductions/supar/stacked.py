"""Train GPTs of one shape as one stacked net: a sweep of small nets in a few large operations.

Masks, weights, batches, learning rates and multipliers differ by member; the configuration's
sizes, the settings and the number of steps do not. A small net leaves a GPU idle between the
launches of its operations; here each operation does the work of all members. Members touch each
other nowhere, so one that diverges leaves the others as they are.

The forward pass is written out, not `torch.vmap` over `GPT`: vmap has no batching rule for the
fused attention of the CPU and runs it member by member, and by hand a member may have its own
attention scale. Attention runs on the same fused kernel as in `GPT`, as a larger batch.

Letters in tensor names: S members, P parameters of a member, N tokens of a batch (B T), O and I
outputs and inputs of a linear layer; the others as in `reproductions.nets.gpt`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from harness.declare.experiment import Outcome, RawParams, RunContext
from harness.errors import SpecError
from reproductions.nets.gpt import GPT, GPTConfig
from reproductions.supar.gpt_trial import finish, prepare
from reproductions.supar.masks import linear_layers, mask_of
from reproductions.supar.parameterization import Parameterization, infer_roles, param_groups
from reproductions.supar.text import Batch
from reproductions.supar.training import (
    CHECK_EVERY,
    Settings,
    TrainLog,
    lr_factor,
    summarize,
)

STACKED_RTOL = 2e-5
"""Relative difference allowed between losses of a stack and of one-by-one training, in float32.

Both do the same arithmetic in another order, so they differ as two runs do whose starts differ in
the last digit. Measured at width 32 over 200 steps, at learning rates up to twice the best: at most
3e-6 stacked, 1e-5 from such a start. At eight times the best, training is chaotic, and 1 to 4 % lie
between either pair of runs: no order of summation is the right one there. In float64 all agree.
"""


def train_gpt_stack(params: Sequence[RawParams], contexts: Sequence[RunContext]) -> list[Outcome]:
    """Return what `gpt_trial.train_gpt` returns for each trial, trained as one stack.

    Trials may differ in scheme, density, base hyperparameters and seed, in nothing else.
    """
    members = [
        prepare(point, ctx, mask_density=float(point["density"]))
        for point, ctx in zip(params, contexts, strict=True)
    ]
    settings = members[0].settings
    if any(member.settings != settings for member in members):
        raise SpecError("trials of one stack have different settings: batch by all of them")
    logs = train_stack(
        [member.model for member in members],
        [member.parameterization for member in members],
        [member.batches for member in members],
        settings,
    )
    return [finish(member, log) for member, log in zip(members, logs, strict=True)]


def train_stack(
    models: Sequence[GPT],
    tables: Sequence[Parameterization],
    batches: Sequence[Iterable[Batch]],
    settings: Settings,
) -> list[TrainLog]:
    """Train models in place, together, and return what `train` returns for each.

    tables: each member's parameterization, for its learning rates and weight decays.
    batches: each member's batches, one a step, all of one shape, on the CPU.
    A member whose loss is no longer finite is trained on for nothing; its log says what `train`
    would have said, its weights mean nothing. Masks are static, and there is no checkpoint:
    where stacking pays, runs are short.
    Raises SpecError where members differ in shape, or for micro-batches.
    """
    if not len(models) == len(tables) == len(batches):
        raise SpecError(
            f"{len(models)} models, {len(tables)} parameterizations, {len(batches)} streams of "
            "batches: need one of each per member"
        )
    if settings.num_micro_batches != 1:
        raise SpecError(f"num_micro_batches={settings.num_micro_batches}: a stack takes 1")
    stack = StackedGPT(models)
    optimizer = _StackedAdamW(stack, models, tables, settings)
    shape = (len(models), settings.num_steps)
    losses_S1 = torch.full(shape, math.nan, device=stack.values_SP.device)
    norms_S1 = torch.zeros(shape, device=stack.values_SP.device)
    step = -1
    for step, members in enumerate(zip(*batches, strict=False)):
        losses_S = stack.losses(
            _to_device([batch.tokens_BT for batch in members], stack.values_SP.device),
            _to_device([batch.targets_BT for batch in members], stack.values_SP.device),
        )
        losses_S1[:, step] = losses_S.detach()
        norms_S1[:, step] = optimizer.step(losses_S, lr_factor(step, settings))
    if step + 1 != settings.num_steps:
        raise SpecError(f"{step + 1} batches for num_steps={settings.num_steps}: need one a step")
    stack.write_back(models)
    rows = zip(losses_S1.cpu(), norms_S1.cpu(), strict=True)
    return [_log(losses, norms, settings) for losses, norms in rows]


class StackedGPT:
    """The weights of GPTs of one shape, and the forward pass of all of them at once."""

    def __init__(self, models: Sequence[GPT]) -> None:
        first = models[0]
        self.config = _common_config(models)
        self.names = [name for name, _ in first.named_parameters()]
        self.values_SP = torch.stack(
            [torch.cat([p.detach().flatten() for p in model.parameters()]) for model in models]
        )
        """All weights, a row per member; `weights` are views of it."""
        sizes = [parameter.numel() for parameter in first.parameters()]
        pieces = zip(self.values_SP.split(sizes, dim=1), first.named_parameters(), strict=True)
        self.weights = {
            name: piece.unflatten(1, parameter.shape).detach().requires_grad_()
            for piece, (name, parameter) in pieces
        }
        bias_HTT: Any = first.bias_HTT
        self.bias_HTT: Tensor | None = bias_HTT
        scales = [
            (m.config.embedding_multiplier, m.config.logit_multiplier, m.config.attention_scale)
            for m in models
        ]
        scales_3S = self.values_SP.new_tensor(scales).T
        self.embedding_multiplier_S, self.logit_multiplier_S, self.attention_scale_S = scales_3S

    def losses(self, tokens_SBT: Tensor, targets_SBT: Tensor) -> Tensor:
        """Return each member's mean cross-entropy in nats per token, shape (S,)."""
        num_members, _, num_positions = tokens_SBT.shape
        x_SND = self._embed(tokens_SBT) * self.embedding_multiplier_S[:, None, None]
        for layer in range(self.config.num_layers):
            prefix = f"blocks.{layer}."
            normed_SND = self._norm(x_SND, prefix + "attention_norm")
            x_SND = x_SND + self._attention(normed_SND, prefix + "attention.", num_positions)
            normed_SND = self._norm(x_SND, prefix + "feed_forward_norm")
            x_SND = x_SND + self._feed_forward(normed_SND, prefix + "feed_forward.")
        x_SND = self._norm(x_SND, "final_norm") * self.logit_multiplier_S[:, None, None]
        logits_SNV = torch.bmm(x_SND, self.weights["tokens.weight"].mT)
        losses = F.cross_entropy(logits_SNV.flatten(0, 1), targets_SBT.flatten(), reduction="none")
        return losses.view(num_members, -1).mean(dim=1)

    @torch.no_grad()
    def write_back(self, models: Sequence[GPT]) -> None:
        """Copy each member's weights into its model."""
        for member, model in enumerate(models):
            for name, parameter in model.named_parameters():
                parameter.copy_(self.weights[name][member])

    def _embed(self, tokens_SBT: Tensor) -> Tensor:
        table_SVD = self.weights["tokens.weight"]
        num_members, num_tokens, _ = table_SVD.shape
        # One table of S V rows: a member's tokens start at its own first row.
        first_row_S = torch.arange(0, num_members * num_tokens, num_tokens, device=table_SVD.device)
        rows_SBT = tokens_SBT + first_row_S[:, None, None]
        x_SBTD = F.embedding(rows_SBT, table_SVD.flatten(0, 1))
        if self.config.positions == "learned":
            x_SBTD = x_SBTD + self.weights["positions.weight"][:, None, : tokens_SBT.shape[2]]
        return x_SBTD.flatten(1, 2)

    def _norm(self, x_SND: Tensor, name: str) -> Tensor:
        x_SND = F.layer_norm(x_SND, x_SND.shape[-1:]) * self.weights[f"{name}.weight"][:, None]
        bias_SD = self.weights.get(f"{name}.bias")
        return x_SND if bias_SD is None else x_SND + bias_SD[:, None]

    def _linear(self, x_SNI: Tensor, name: str) -> Tensor:
        weight_SOI, bias_SO = self.weights[f"{name}.weight"], self.weights.get(f"{name}.bias")
        if bias_SO is None:
            return torch.bmm(x_SNI, weight_SOI.mT)
        return torch.baddbmm(bias_SO[:, None], x_SNI, weight_SOI.mT)

    def _attention(self, x_SND: Tensor, prefix: str, num_positions: int) -> Tensor:
        shape = (-1, num_positions, 3, self.config.num_heads, self.config.head_size)
        qkv = self._linear(x_SND, prefix + "qkv").view(shape)
        q_BHTK, k_BHTK, v_BHTK = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        # The fused kernel takes one scale for all: each member's own goes into its queries.
        q_SBHTK = q_BHTK.unflatten(0, (len(x_SND), -1))
        q_BHTK = (q_SBHTK * self.attention_scale_S.view(-1, 1, 1, 1, 1)).flatten(0, 1)
        bias_HTT = self.bias_HTT
        if bias_HTT is not None:
            bias_HTT = bias_HTT[:, :num_positions, :num_positions]
        y_BHTK = F.scaled_dot_product_attention(
            q_BHTK, k_BHTK, v_BHTK, attn_mask=bias_HTT, is_causal=bias_HTT is None, scale=1.0
        )
        return self._linear(y_BHTK.transpose(1, 2).reshape(x_SND.shape), prefix + "out")

    def _feed_forward(self, x_SND: Tensor, prefix: str) -> Tensor:
        up_SNF = self._linear(x_SND, prefix + "up")
        if self.config.feed_forward == "gelu":
            return self._linear(F.gelu(up_SNF), prefix + "down")
        gate_SNF = F.silu(self._linear(x_SND, prefix + "gate"))
        return self._linear(gate_SNF * up_SNF, prefix + "down")


class _StackedAdamW:
    """Masked gradients, clipped per member, and AdamW with a learning rate per weight.

    torch's fused AdamW takes one learning rate. It moves a zero by a step of size 1, without
    decay; that move, times each weight's learning rate, is the step of AdamW.
    """

    def __init__(
        self,
        stack: StackedGPT,
        models: Sequence[GPT],
        tables: Sequence[Parameterization],
        settings: Settings,
    ) -> None:
        self.stack, self.clip_norm = stack, settings.clip_norm
        rates = [_rates(m, table, settings) for m, table in zip(models, tables, strict=True)]
        self.lr_SP = torch.stack([lr_P for lr_P, _ in rates])
        shrink_SP = self.lr_SP * torch.stack([decay_P for _, decay_P in rates])
        self.decay_SP = shrink_SP if settings.weight_decay else None
        self.mask_SP = torch.stack([_flat_mask(model) for model in models])
        self.gradient_SP = torch.empty_like(stack.values_SP)
        self.move_SP = torch.nn.Parameter(torch.zeros_like(stack.values_SP))
        self.move_SP.grad = self.gradient_SP
        self.adam = torch.optim.AdamW(
            [self.move_SP],
            lr=1.0,
            betas=settings.betas,
            eps=settings.eps,
            weight_decay=0.0,
            fused=True,
        )

    def step(self, losses_S: Tensor, factor: float) -> Tensor:
        """Update all members at `factor` times their peak rates; return their gradient norms."""
        gradients = torch.autograd.grad(losses_S.sum(), list(self.stack.weights.values()))
        with torch.no_grad():
            torch.cat([g.flatten(1) for g in gradients], dim=1, out=self.gradient_SP)
            self.gradient_SP.mul_(self.mask_SP)
            norms_S = torch.linalg.vector_norm(self.gradient_SP, dim=1)
            # As torch.nn.utils.clip_grad_norm_, which each member would see alone.
            shrink_S = (self.clip_norm / (norms_S + 1e-6)).clamp(max=1.0)
            self.gradient_SP.mul_(shrink_S[:, None])
            self.adam.step()
            values_SP = self.stack.values_SP
            if self.decay_SP is not None:
                values_SP.addcmul_(values_SP, self.decay_SP, value=-factor)
            values_SP.addcmul_(self.move_SP, self.lr_SP, value=factor)
            self.move_SP.zero_()
        return norms_S


def _to_device(parts: Sequence[Tensor], device: torch.device) -> Tensor:
    """Stack tensors that lie on the CPU and send them without waiting for the device."""
    stacked = torch.stack(list(parts))
    if device.type == "cuda":
        # From pageable memory the copy would wait until all earlier steps are done.
        stacked = stacked.pin_memory()
    return stacked.to(device, non_blocking=True)


def _common_config(models: Sequence[GPT]) -> GPTConfig:
    """Return the configuration of all members, their scales set to 1."""
    configs = [
        replace(m.config, embedding_multiplier=1.0, logit_multiplier=1.0, attention_scale=1.0)
        for m in models
    ]
    for config in configs[1:]:
        if config != configs[0]:
            raise SpecError(f"members of shapes {configs[0]} and {config}: stack one shape only")
    return configs[0]


def _rates(model: GPT, table: Parameterization, settings: Settings) -> tuple[Tensor, Tensor]:
    """Return the peak learning rate and the weight decay of every weight, shape (P,) each."""
    groups = param_groups(
        model,
        table,
        infer_roles(model, linear_layers(model, exclude=())),
        weight_decay=settings.weight_decay,
        decay=settings.decay,
    )
    group_of = {id(p): group for group in groups for p in group["params"]}
    lr_P, decay_P = (
        torch.cat([torch.full_like(p, group_of[id(p)][key]).flatten() for p in model.parameters()])
        for key in ("lr", "weight_decay")
    )
    return lr_P.detach(), decay_P.detach()


def _flat_mask(model: GPT) -> Tensor:
    """Return 1 where a weight is kept and 0 where it is masked, shape (P,), in its dtype."""
    parts = []
    for name, parameter in model.named_parameters():
        mask = mask_of(model, name)
        parts.append(torch.ones_like(parameter) if mask is None else mask.to(parameter.dtype))
    return torch.cat([part.detach().flatten() for part in parts])


def _log(losses: Tensor, norms: Tensor, settings: Settings) -> TrainLog:
    """Return the log of one member as `train` writes it, which stops where it sees a divergence."""
    num_steps = settings.num_steps
    if len(bad := torch.isfinite(losses).logical_not().nonzero()):
        seen = -(-int(bad[0]) // CHECK_EVERY) * CHECK_EVERY
        num_steps = min(seen + 1, num_steps)
    losses[num_steps:] = math.nan
    return summarize(losses, norms, num_steps, settings)
