"""What small models and their tasks stand in for, by the parameters of a trial. No torch.

params: of any experiment whose trials name a `model`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reproductions.lisa.models.names import (
    IN_HOUSE,
    LARGEST,
    QUALITY,
    SMALLEST,
    THREE,
    TITLES,
)
from reproductions.lisa.models.shapes import shape_of

STAGED_WEIGHTS = {"stories260k": "0.3M", "babyllama_tok105": "0.9M"}
FIGURE_6 = {
    "stories260k": TITLES["gpt2-small"],
    "babyllama_tok105": TITLES["tinyllama"],
    QUALITY: TITLES["mistral-7b"],
}
"""Our nets, and for which of Figure 6's models each stands: in the order of their sizes."""
ADAPTED = ("gpt2-small", "llama-2-7b", "mistral-7b")
"""The paper's models of Figures 2 and 12."""
UNTRAINED = "untrained adapters on {}"


def net(model: str) -> str:
    """Return a small model in words.

    >>> net("tiny-quality"), net("stories260k")
    ('a LLaMA of 2.1M weights', 'a LLaMA of 0.3M weights')
    """
    weights = STAGED_WEIGHTS.get(model) or f"{shape_of(model).num_params / 1e6:.1f}M"
    return f"a LLaMA of {weights} weights"


def texts(params: Any) -> str:
    """Return what a model is fine-tuned on."""
    return "made-up sentences" if params.model == SMALLEST else "short answers of Alpaca"


def tuned(params: Any) -> Mapping[str, str]:
    """Return what fine-tuning on instructions stands in for."""
    in_figure_6 = FIGURE_6.get(params.model, FIGURE_6[QUALITY])
    others = (TITLES["llama-2-7b"],) if params.model in IN_HOUSE else ()
    return {
        **dict.fromkeys((*others, in_figure_6), net(params.model)),
        "Alpaca-GPT4": texts(params),
    }


def drawn(params: Any) -> Mapping[str, str]:
    """Return what adapters that were drawn and never trained stand in for, at any profile."""
    if params.model not in ADAPTED:
        return dict.fromkeys((TITLES[name] for name in ADAPTED), UNTRAINED.format("a small net"))
    part = "one of " if params.num_blocks == 1 else ""
    blocks = f"{part}its {shape_of(params.model).num_blocks} blocks"
    return {TITLES[params.model]: UNTRAINED.format(blocks)}


def adapted(params: Any) -> Mapping[str, str]:
    """Return what a training with norms stands in for, beside untrained adapters at true size."""
    return {TITLES["llama-2-7b"]: net(params.model), "Alpaca-GPT4": texts(params)}


def scored(params: Any) -> Mapping[str, str]:
    """Return what a small model stands in for where it is scored; nothing where it is handed in."""
    if params.model not in IN_HOUSE:
        return {}
    models = (TITLES[name] for name in (*THREE, LARGEST))
    return dict.fromkeys(models, net(params.model))


def taught(params: Any) -> Mapping[str, str]:
    """Return what continual pre-training and its problems stand in for.

    The paper's models are there by arithmetic, under their own names.
    """
    return {"GSM8K": f"word problems of ours, by {net(params.model)}"}
