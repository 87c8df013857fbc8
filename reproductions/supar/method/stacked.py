"""Nets of one shape trained side by side as one stack: a sweep over rates and seeds in one pass.

Small nets leave most of a GPU idle, and a sweep has many of them that differ in nothing but
learning rate and seed. Stacked, M small products are one large one, and one launch of AdamW steps
all members, each at its own rate. A member's numbers are those of the net trained alone, but for
rounding; one that diverges spoils no other.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel

from harness.errors import SpecError
from reproductions.kernels.adamw.optimizer import KernelAdamW
from reproductions.nets.borrowed import run_without, tensors_of
from reproductions.supar.method.masked_layer import MASK

Net = Callable[..., Any]
"""A member as a function of what its forward pass is given."""
Loss = Callable[..., Tensor]
"""From a member and its part of a batch to a scalar."""


class Stack:
    """Nets of one shape, their weights stacked along a first axis of M members.

        stack = Stack(models)
        optimizer = stack.adamw([param_groups(model, ...) for model in models], betas=(0.9, 0.95))
        for tokens_MBT, targets_MBT in batches:
            losses_M = stack.losses(loss, tokens_MBT, targets_MBT)
            losses_M.sum().backward()
            stack.clip_grad_norm_(1.0)
            optimizer.step()
            optimizer.zero_grad()
        stack.write_back()

    Masks of `sparsify` hold, each member's own; they stay as they are. What a forward pass draws,
    as dropout does, torch's vmap refuses.
    """

    weights: dict[str, Tensor]
    """By name, (M, ...): leaves that have gradients, in the place of the nets' own."""
    buffers: dict[str, Tensor]
    """By name, (M, ...), masks among them."""

    def __init__(self, models: Sequence[nn.Module]) -> None:
        """Copy the weights of nets that are alike; the nets are kept for `write_back`.

        Raises SpecError for nets that are not of one class, mode and shape.
        """
        self._models = list(models)
        try:
            self.weights, self.buffers = stack_module_state(self._models)
        except (RuntimeError, KeyError) as error:
            raise SpecError(
                f"nets of a stack are alike in class, mode and shape: {error}"
            ) from error
        # It lends its code alone: all that it holds is replaced whenever it is called.
        self._skeleton = copy.deepcopy(self._models[0]).to("meta")
        self._looked_at = False

    def __len__(self) -> int:
        """Return the number of members, M."""
        return len(self._models)

    def losses(self, loss: Loss, *batch: Tensor) -> Tensor:
        """Return each member's loss, shape (M,); the gradient of their sum is each member's own.

        loss: called as loss(net, *part), net being a member as a function. batch: tensors with a
        first axis of M; one batch for all is `batch.expand(len(stack), *batch.shape)`.
        Raises SpecError for nets that compute with what functions inside them hold on to.
        """

        def of_member(
            weights: dict[str, Tensor], buffers: dict[str, Tensor], *part: Tensor
        ) -> Tensor:
            def net(*given: Any, **named: Any) -> Any:
                return functional_call(self._skeleton, (weights, buffers), given, named)

            return loss(net, *part)

        def of_all() -> Tensor:
            found_M: Tensor = vmap(of_member)(self.weights, self.buffers, *batch)
            return found_M

        with _attention_in_batches(next(iter(self.weights.values())).device):
            if self._looked_at:
                return of_all()
            losses_M: Tensor = run_without(tensors_of(self._models[0]), of_all)
        self._looked_at = True
        return losses_M

    def adamw(
        self, groups_of_members: Sequence[Iterable[Mapping[str, Any]]], *,
        betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
    ) -> KernelAdamW:  # fmt: skip
        """Return AdamW over the stack, a rate per member: one launch on a GPU.

        groups_of_members: of each member its groups, as `param_groups` gives them; `lr` of the
        groups that are returned is of shape (M,), on the CPU, for a schedule to multiply.
        Raises SpecError where members differ in anything but their rates, or groups lack a weight.
        """
        names = [{id(p): n for n, p in model.named_parameters()} for model in self._models]
        given = [list(groups) for groups in groups_of_members]
        if len(given) != len(self) or len({len(groups) for groups in given}) > 1:
            raise SpecError(f"a stack of {len(self)} needs as many lists of groups, equally long")
        merged = [_merged(several, names, self.weights) for several in zip(*given, strict=True)]
        self._refuse_left_out(merged)
        masks = {
            self.weights[f"{layer}.weight"]: mask
            for (layer, _, leaf), mask in ((n.rpartition("."), b) for n, b in self.buffers.items())
            if leaf == MASK
        }
        return KernelAdamW(merged, betas=betas, eps=eps, mask_of=masks.get)

    def _refuse_left_out(self, groups: Iterable[Mapping[str, Any]]) -> None:
        """Raise SpecError for a weight in no group: its gradient would grow from step to step."""
        held = {id(weight) for group in groups for weight in group["params"]}
        for name, weight in self.weights.items():
            if weight.requires_grad and id(weight) not in held:
                raise SpecError(
                    f"no group holds {name}, which is to train: name it in one, or freeze it in"
                    " every net before they are stacked"
                )

    @torch.no_grad()
    def clip_grad_norm_(self, max_norm: float) -> Tensor:
        """Clip the gradients of each member to a global norm; return the norms before, (M,)."""
        grads = [weight.grad for weight in self.weights.values() if weight.grad is not None]
        each_M = [grad.reshape(len(self), -1).norm(dim=1) for grad in grads]
        norms_M: Tensor = torch.stack(each_M).norm(dim=0)
        # As torch.nn.utils.clip_grad_norm_ has it.
        factors_M = (max_norm / (norms_M + 1e-6)).clamp(max=1.0)
        for grad in grads:
            grad.mul_(factors_M.view(-1, *[1] * (grad.ndim - 1)))
        return norms_M

    @torch.no_grad()
    def write_back(self) -> None:
        """Copy the members' weights and buffers into the nets that were stacked."""
        for number, model in enumerate(self._models):
            for name, parameter in model.named_parameters():
                parameter.copy_(self.weights[name][number])
            for name, buffer in model.named_buffers():
                buffer.copy_(self.buffers[name][number])


def _attention_in_batches(device: torch.device) -> AbstractContextManager[None]:
    """Have attention computed by what vmap batches: not by a CPU's fused one, which it repeats."""
    return sdpa_kernel(SDPBackend.MATH) if device.type == "cpu" else nullcontext()


def _merged(
    several: Sequence[Mapping[str, Any]],
    names: Sequence[Mapping[int, str]],
    weights: Mapping[str, Tensor],
) -> dict[str, Any]:
    """Return one group of a stack from that of each member."""
    held, *others = (
        [of_model.get(id(p), "") for p in group["params"]]
        for of_model, group in zip(names, several, strict=True)
    )
    decay = several[0]["weight_decay"]
    alike = all(math.isclose(group["weight_decay"], decay) for group in several)
    if not alike or "" in held or any(other != held for other in others):
        raise SpecError("groups of a stack's members are over the same weights, of the same decay")
    rates_M = torch.tensor([float(group["lr"]) for group in several], dtype=torch.float64)
    return {"params": [weights[name] for name in held], "lr": rates_M, "weight_decay": decay}
