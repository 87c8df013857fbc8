"""The loss of SμPar's GPT: on CUDA by a kernel that never holds all logits."""

from __future__ import annotations

from torch import Tensor, nn

from reproductions.kernels.backend import choose, chosen, passed_over, why_not_past
from reproductions.kernels.linear_cross_entropy import plain
from reproductions.nets.gpt import GPT, next_token_loss
from reproductions.supar.method.stacked import Net, Stack

KERNEL = "linear_cross_entropy"
ALL_LOGITS = "torch's loss of all logits"
OF_MANY = "the weights of a stack are those of many nets"


def gpt_loss(model: nn.Module | Stack, tokens_BT: Tensor, targets_BT: Tensor) -> Tensor:
    """Return the mean cross-entropy in nats per token, as `next_token_loss` of a net's logits is.

    On CUDA from its features by a kernel; a net that no kernel can take has torch's, which is said.
    Of a stack of M on (M, B, T), the loss of each member.
    Raises EnvError on CUDA without Triton, as `choose` does.
    """
    if choose(tokens_BT.device) == "plain":
        return _of_all_logits(model, tokens_BT, targets_BT)
    why = why_not(model, targets_BT.numel())
    if why:
        passed_over(KERNEL, ALL_LOGITS, why)
        return _of_all_logits(model, tokens_BT, targets_BT)
    assert isinstance(model, GPT)
    loss: Tensor = chosen(KERNEL, tokens_BT.device).linear_cross_entropy(
        model.features(tokens_BT).flatten(0, 1), model.tokens.weight, targets_BT.flatten()
    )
    return loss


def _of_all_logits(model: Net | Stack, tokens_BT: Tensor, targets_BT: Tensor) -> Tensor:
    if isinstance(model, Stack):
        return model.losses(_of_all_logits, tokens_BT, targets_BT)
    return next_token_loss(model(tokens_BT), targets_BT)


def why_not(model: nn.Module | Stack, num_rows: int) -> str:
    """Say why the kernel does not do for a net and so many targets; nothing if it does."""
    if isinstance(model, Stack):
        return OF_MANY
    if type(model) is not GPT:
        return f"a {type(model).__name__} may make its logits otherwise"
    return why_not_past(model) or plain.why_not(num_rows, model.tokens.weight)
