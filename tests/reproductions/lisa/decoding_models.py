"""Small models with random weights that have something to say, for tests of decoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch

from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.stories import tokenizer_of
from tests.reproductions.lisa.small import VOCAB, gpt2, llama

Family = Literal["llama", "gpt2"]
CONTEXT = 32
LETTERS = "abcdefghijklmnopqrstuvwxyz .,0123456789"
PIECES = [(text, 0.0) for text in ("<unk>", "<s>", "</s>", *LETTERS)]


def speaker(family: Family) -> LanguageModel:
    """Return a model in float64, whose greedy texts differ and sometimes end."""
    model = (llama if family == "llama" else gpt2)()
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in model.parameters():
            spread = 0.8 if parameter.dim() > 1 else 0.2
            parameter += spread * torch.randn(parameter.shape, generator=generator)
        # A head tied to the embedding would say each token again.
        head = 0.4 * torch.randn(model.lm_head.weight.shape, generator=generator)
        model.lm_head.weight = torch.nn.Parameter(head)
        # The third of what is said most often becomes the end of a text.
        said = model.eval()(torch.arange(3, VOCAB)[:, None]).logits[:, -1].argmax(-1).tolist()
        often = sorted(set(said), key=said.count)[-3]
        head[[2, often]] = head[[often, 2]]
    model.config.max_position_embeddings = CONTEXT
    return LanguageModel(model=model.double(), tokenizer=tokenizer_of(PIECES))  # type: ignore[arg-type]


def prompts(count: int, *, longest: int = 9) -> list[list[int]]:
    """Return prompts of 1 to `longest` tokens."""
    generator = torch.Generator().manual_seed(5)
    lengths = torch.randint(1, longest + 1, (count,), generator=generator).tolist()
    return [torch.randint(3, VOCAB, (n,), generator=generator).tolist() for n in lengths]


def plain_greedy(lm: LanguageModel, prompt: Sequence[int], *, most: int) -> list[int]:
    """Return up to so many of the most probable tokens, computed anew at each step."""
    ids = list(prompt)
    with torch.inference_mode():
        while len(ids) < min(lm.context, len(prompt) + most):
            token = int(lm.model(torch.tensor([ids]), use_cache=False).logits[0, -1].argmax())
            if token == lm.eos:
                break
            ids.append(token)
    return ids[len(prompt) :]
