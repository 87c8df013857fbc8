"""DoLa: greedy decoding by what the last block adds to an earlier one.

Source: arXiv 2309.03883v2, section 2. Differences from its authors' code: every exit goes through
the model's final norm (theirs does so after the last block alone), the divergence is the paper's
(theirs has the arguments of both Kullback-Leibler terms exchanged), and each prompt of a batch
chooses its own exit. The paper's repetition penalty of 1.2 is left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from harness.errors import SpecError
from reproductions.lisa.method.blocks import find_blocks
from reproductions.lisa.models.generation import greedy, last_logits
from reproductions.lisa.models.language_model import LanguageModel

ALPHA = 0.1
"""The paper's, in all its experiments."""
FINAL_NORMS = ("norm", "ln_f")
"""What transformers calls them in LLaMA's family and in GPT-2."""


def quarter_exits(num_blocks: int) -> tuple[int, ...]:
    """Return no block, a quarter of them, half, and all, as Table 13's {0, 8, 16, 32} of 32.

    >>> quarter_exits(32), quarter_exits(5)
    ((0, 8, 16, 32), (0, 1, 2, 5))
    """
    return tuple(sorted({0, num_blocks // 4, num_blocks // 2, num_blocks}))


def dola(
    language_model: LanguageModel,
    prompts: Sequence[Sequence[int]],
    *,
    max_new_tokens: int,
    exits: Sequence[int],
    alpha: float = ALPHA,
) -> list[list[int]]:
    """Return for each prompt the tokens that DoLa takes; prompts and ends are those of `greedy`.

    exits: numbers of blocks after which the model may be left, 0 for the embedding. The last one
    is the whole model (the paper's mature layer) and no candidate: contrasted with itself it says
    nothing. Where it is the only one this is greedy decoding. The authors' commands read such a
    list in the same way.
    alpha: least probability of a token, as a share of the most probable one's.
    Raises SpecError for other exits, an alpha outside (0, 1], or a model of another family.
    """
    model = language_model.model
    _refuse(exits, alpha, num_blocks=len(find_blocks(model)))

    def scores(found: Any) -> Tensor:
        if len(exits) == 1:
            return last_logits(found)
        hidden_EBD = torch.stack([found.hidden_states[number][:, -1] for number in exits[:-1]])
        return contrast(last_logits(found), exit_logits(model, hidden_EBD), alpha=alpha)

    return greedy(
        language_model, prompts, max_new_tokens=max_new_tokens, scores=scores,
        output_hidden_states=True,
    )  # fmt: skip


def contrast(last_BV: Tensor, exits_EBV: Tensor, *, alpha: float) -> Tensor:
    """Contrast the last block's logits with those of the exit that is farthest from them.

    Returns log q_last - log q_exit where a token is plausible, else -inf, shape (B, V).

    Farthest is the largest Jensen-Shannon divergence of the two distributions of the next token;
    of equal ones the first exit is taken.
    Source: arXiv 2309.03883v2, sections 2.2 (the exit) and 2.3 (the contrast, among plausible
    tokens).
    """
    log_last_BV, log_exits_EBV = last_BV.log_softmax(-1), exits_EBV.log_softmax(-1)
    chosen_B = divergence(log_last_BV, log_exits_EBV).argmax(0)
    rows_B = torch.arange(len(chosen_B), device=chosen_B.device)
    difference_BV = log_last_BV - log_exits_EBV[chosen_B, rows_B]
    least_B1 = log_last_BV.amax(-1, keepdim=True) + math.log(alpha)
    return difference_BV.masked_fill(log_last_BV < least_B1, -math.inf)


def divergence(log_p: Tensor, log_q: Tensor) -> Tensor:
    """Return the Jensen-Shannon divergence over the last axis, in nats: 0 to log 2.

    log_p, log_q: log-probabilities, of shapes that broadcast.
    """
    log_mean = torch.logaddexp(log_p, log_q) - math.log(2)
    to_p = (log_p.exp() * (log_p - log_mean)).sum(-1)
    to_q = (log_q.exp() * (log_q - log_mean)).sum(-1)
    return (to_p + to_q) / 2


def exit_logits(model: PreTrainedModel, hidden: Tensor) -> Tensor:
    """Return the logits of leaving the model with hidden states that no norm has seen.

    hidden: shape (..., D). Raises SpecError for a model whose final norm is not found.
    """
    found = [getattr(model.base_model, name, None) for name in FINAL_NORMS]
    norms = [module for module in found if isinstance(module, nn.Module)]
    head = model.get_output_embeddings()
    if len(norms) != 1 or head is None:
        raise SpecError(
            f"{type(model).__name__} has no head after a final norm called"
            f" {' or '.join(FINAL_NORMS)}: DoLa knows LLaMA's family and GPT-2"
        )
    logits: Tensor = head(norms[0](hidden))
    return logits


def _refuse(exits: Sequence[int], alpha: float, *, num_blocks: int) -> None:
    rising = list(exits) == sorted(set(exits))
    if not exits or not rising or exits[0] < 0 or exits[-1] != num_blocks:
        raise SpecError(
            f"exits={list(exits)}: need rising numbers from 0 on, the last one {num_blocks}"
        )
    if not 0.0 < alpha <= 1.0:
        raise SpecError(f"alpha={alpha}: need 0 < alpha <= 1")
