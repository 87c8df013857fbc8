"""The loss of a causal language model: on CUDA by a kernel that never holds all logits.

Letters in tensor names: B sequences, T positions, D features.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from reproductions.kernels.backend import choose, chosen, passed_over
from reproductions.kernels.products import why_no_product

KERNEL = "linear_cross_entropy"
FAMILIES = ("gpt2", "llama", "mistral")
"""Types of transformers' models whose logits are the head's product and nothing else."""

LossOf = Callable[..., Tensor]
"""From a model, its inputs by name and `labels`, to a scalar."""


def own_loss(model: nn.Module, **inputs: Tensor) -> Tensor:
    """Return the mean loss in nats per target, as the model computes it itself."""
    loss: Tensor = model(**inputs, use_cache=False).loss
    return loss


def causal_lm_loss(model: nn.Module, *, labels: Tensor, **inputs: Tensor) -> Tensor:
    """Return what `own_loss` does: on a CPU as it does, on CUDA from features by a kernel.

    labels: shape (B, T), -100 where there is no target; each is held against the position before.
    A model that no kernel can take has its own loss, which is said. Raises EnvError on CUDA without
    Triton, as `choose` does.
    """
    if choose(labels.device) == "plain":
        return own_loss(model, labels=labels, **inputs)
    # Of peft's models too, which hand on what they have not.
    whole: Any = model
    why = why_not(whole)
    if why:
        passed_over(KERNEL, "the model's own loss", why)
        return own_loss(model, labels=labels, **inputs)
    features_BTD = whole.get_decoder()(**inputs, use_cache=False).last_hidden_state
    loss: Tensor = chosen(KERNEL, labels.device).linear_cross_entropy(
        features_BTD[:, :-1].flatten(0, 1),
        whole.get_output_embeddings().weight,
        labels[:, 1:].flatten(),
    )
    return loss


def why_not(model: Any) -> str:
    """Say why the kernel does not do for a model of transformers; nothing if it does."""
    if not hasattr(model, "get_decoder"):
        return f"a {type(model).__name__} is no model of transformers"
    family = model.config.model_type
    if family not in FAMILIES:
        return f"logits of a model of type {family} may be more than its head's product"
    head = model.get_output_embeddings()
    if type(head) is not nn.Linear or head.bias is not None:
        return f"a head that is a {type(head).__name__}, or has a bias"
    if head._forward_hooks or head._forward_pre_hooks:
        return "hooks on the head, which it would not call"
    return why_no_product(head.weight)
