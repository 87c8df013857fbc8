"""Training a causal language model, the same for every method: batches in, losses out.

On CUDA AdamW and the loss are kernels. Letters in tensor names: B sequences, T positions, D
features.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer

from harness.errors import DataError, SpecError
from reproductions.kernels.adamw.optimizer import adamw_for
from reproductions.kernels.backend import choose, chosen, passed_over
from reproductions.kernels.linear_cross_entropy import plain
from reproductions.lisa.method.methods import MakeOptimizer
from reproductions.lisa.models.language_model import LanguageModel

IGNORED = -100
"""Label of a position without a loss, as torch and transformers have it."""
KERNEL = "linear_cross_entropy"

LossOf = Callable[..., Tensor]
"""From a model, its inputs by name and `labels`, to a scalar."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """How a model is trained: everything but the method and the data."""

    lr: float
    """At its highest."""
    num_steps: int
    """Optimizer steps T."""
    warmup_steps: int
    """Over which the rate rises from 0; then it falls along a cosine."""
    last_lr_share: float
    """Share of `lr` at the last step."""
    weight_decay: float
    betas: tuple[float, float]
    clip_norm: float
    """Global norm of what trains, to which gradients are clipped."""

    def __post_init__(self) -> None:
        if not 0 <= self.warmup_steps < self.num_steps:
            raise SpecError(f"{self}: need 0 <= warmup_steps < num_steps")

    def share_at(self, step: int) -> float:
        """Return the part of `lr` that a step uses; steps count from 0, over all switches.

        >>> recipe = Recipe(lr=1.0, num_steps=9, warmup_steps=4, last_lr_share=0.0,
        ...                 weight_decay=0.0, betas=(0.9, 0.999), clip_norm=1.0)
        >>> [round(recipe.share_at(step), 2) for step in (0, 3, 4, 6, 8)]
        [0.25, 1.0, 1.0, 0.5, 0.0]
        """
        if step < self.warmup_steps:
            return (step + 1) / self.warmup_steps
        done = (step - self.warmup_steps) / max(1, self.num_steps - 1 - self.warmup_steps)
        fall = 0.5 * (1.0 + math.cos(math.pi * min(1.0, done)))
        return self.last_lr_share + (1.0 - self.last_lr_share) * fall

    @property
    def optimizer(self) -> MakeOptimizer:
        """Return what makes AdamW over given parameters, by a kernel on CUDA."""
        return lambda parameters: adamw_for(
            parameters, lr=self.lr, betas=self.betas, weight_decay=self.weight_decay
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class TextBatch:
    """Token ids and labels, both of shape (B, T); the shift by one place is the model's."""

    ids_BT: Tensor
    labels_BT: Tensor
    """The ids where a loss is taken, else IGNORED; padding comes last, where no token sees it."""


def whole(ids_BT: Tensor) -> TextBatch:
    """Return a batch whose loss is taken on all tokens."""
    return TextBatch(ids_BT=ids_BT, labels_BT=ids_BT)


def windows(
    lm: LanguageModel, texts: Iterable[str], *, num_tokens: int, most: int = sys.maxsize
) -> Tensor:
    """Return running text as windows of the start token and what comes next, shape (N, T).

    num_tokens: T; most: N at most, of texts that have no end. Texts end with the end token.
    Raises DataError for texts that do not fill one window.
    """
    stream: list[int] = []
    body = num_tokens - 1
    for text in texts:
        stream += [*lm.encode(text), lm.eos]
        if len(stream) >= most * body:
            break
    count = min(most, len(stream) // body)
    if count == 0:
        raise DataError(f"{len(stream)} tokens do not fill one window of {body}: take more text")
    rows_NT = torch.tensor(stream[: count * body]).view(count, body)
    return torch.cat([torch.full((count, 1), lm.bos), rows_NT], dim=1)


def pad(examples: Sequence[tuple[Sequence[int], int]], *, padding: int) -> TextBatch:
    """Return examples as one batch: of each its tokens, and how many at its start are no target."""
    longest = max(len(tokens) for tokens, _ in examples)
    ids_BT = torch.full((len(examples), longest), padding, dtype=torch.long)
    labels_BT = torch.full((len(examples), longest), IGNORED, dtype=torch.long)
    for row, (tokens, num_given) in enumerate(examples):
        ids_BT[row, : len(tokens)] = torch.tensor(tokens)
        labels_BT[row, num_given : len(tokens)] = ids_BT[row, num_given : len(tokens)]
    return TextBatch(ids_BT=ids_BT, labels_BT=labels_BT)


def shuffled(
    count: int, *, batch_size: int, num_steps: int, generator: torch.Generator
) -> Iterator[Tensor]:
    """Yield numbers of examples, a batch each, in a random order, epoch after epoch."""
    needed = num_steps * batch_size
    epochs = range(-(-needed // count))
    order = torch.cat([torch.randperm(count, generator=generator) for _ in epochs])
    yield from order[:needed].split(batch_size)


def own_loss(model: nn.Module, **inputs: Tensor) -> Tensor:
    """Return the mean loss in nats per target, as the model computes it itself."""
    loss: Tensor = model(**inputs, use_cache=False).loss
    return loss


def causal_lm_loss(model: nn.Module, *, labels: Tensor, **inputs: Tensor) -> Tensor:
    """Return what `own_loss` does: on a CPU as it does, on CUDA from features by a kernel.

    model: LLaMA, Mistral or GPT-2 of transformers, whose logits are the head's product, or one of
    them with adapters of LoRA. labels: shape (B, T), -100 where there is no target; each is held
    against the position before. A head that no kernel can take has the model's own loss, which is
    said. Raises EnvError on CUDA without Triton, as `choose` does.
    """
    if choose(labels.device) == "plain":
        return own_loss(model, labels=labels, **inputs)
    whole: Any = model
    if hasattr(type(model), "get_base_model"):
        whole = whole.get_base_model()
    head = whole.get_output_embeddings()
    why = plain.why_not(labels[:, 1:].numel(), head.weight)
    if type(head) is not nn.Linear:
        why = "a head with adapters"
    if why:
        passed_over(KERNEL, "the model's own loss", why)
        return own_loss(model, labels=labels, **inputs)
    features_BTD = whole.get_decoder()(**inputs, use_cache=False).last_hidden_state
    loss: Tensor = chosen(KERNEL, labels.device).linear_cross_entropy(
        features_BTD[:, :-1].flatten(0, 1), head.weight, labels[:, 1:].flatten()
    )
    return loss


def train(
    model: nn.Module,
    optimizer: Optimizer,
    batches: Iterable[TextBatch],
    recipe: Recipe,
    *,
    first_step: int = 0,
    after_step: Callable[[int, float], None] = lambda step, loss: None,
) -> list[float]:
    """Take one optimizer step per batch; return each batch's loss before its step.

    All groups of the optimizer follow one rate. first_step: of a resumed run, counted from 0.
    after_step: called with the number of steps done and the batch's loss. A loss that is not
    finite ends the run: the list then ends with it.
    """
    losses: list[float] = []
    model.train()
    for step, batch in enumerate(batches, start=first_step):
        for group in optimizer.param_groups:
            group["lr"] = recipe.lr * recipe.share_at(step)
        loss = causal_lm_loss(model, input_ids=batch.ids_BT, labels=batch.labels_BT)
        losses.append(float(loss.detach()))
        if not math.isfinite(losses[-1]):
            break
        loss.backward()
        clip_grad_norm_([p for p in model.parameters() if p.grad is not None], recipe.clip_norm)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        after_step(step + 1, losses[-1])
    return losses


@torch.no_grad()
def answer_nats(model: nn.Module, batch: TextBatch) -> tuple[Tensor, Tensor]:
    """Return each sequence's summed loss in nats, and its number of targets; both shape (B,)."""
    model.eval()
    logits_BTV = model(input_ids=batch.ids_BT, use_cache=False).logits[:, :-1]
    targets_BT = batch.labels_BT[:, 1:]
    nats_BT = F.cross_entropy(
        logits_BTV.transpose(1, 2).float(), targets_BT, ignore_index=IGNORED, reduction="none"
    )
    return nats_BT.sum(1), (targets_BT != IGNORED).sum(1)


def mean_loss(model: nn.Module, batches: Iterable[TextBatch]) -> float:
    """Return the loss in nats a target token over all batches, each token weighing the same."""
    parts = [answer_nats(model, batch) for batch in batches]
    nats = sum(float(one.double().sum()) for one, _ in parts)
    return nats / sum(int(count.sum()) for _, count in parts)
