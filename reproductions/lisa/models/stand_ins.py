"""What small models and their texts stand in for, by the parameters of a trial. No torch."""

from __future__ import annotations

from typing import Any

from reproductions.lisa.models.names import QUALITY, SMALLEST, TITLES
from reproductions.lisa.models.shapes import shape_of

STAGED_WEIGHTS = {"stories260k": "0.3M", "babyllama_tok105": "0.9M"}
FIGURE_6 = {
    "stories260k": TITLES["gpt2-small"],
    "babyllama_tok105": TITLES["tinyllama"],
    QUALITY: TITLES["mistral-7b"],
}
"""Our nets, and for which of Figure 6's models each stands: in the order of their sizes."""


def net(model: str) -> str:
    """Return a small model in words.

    >>> net("tiny-quality"), net("stories260k")
    ('a LLaMA of 2.1M weights', 'a LLaMA of 0.3M weights')
    """
    weights = STAGED_WEIGHTS.get(model) or f"{shape_of(model).num_params / 1e6:.1f}M"
    return f"a LLaMA of {weights} weights"


def tuned(params: Any) -> dict[str, str]:
    """Return what fine-tuning a model on instructions stands in for, on LLaMA-2-7B."""
    texts = "made-up sentences" if params.model == SMALLEST else "short answers of Alpaca"
    return {TITLES["llama-2-7b"]: net(params.model), "Alpaca-GPT4": texts}
