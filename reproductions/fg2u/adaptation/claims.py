"""Scopes of the claims on online adaptation, and how each stream is scored."""

from __future__ import annotations

from harness.declare import CPU, PAPER, ours

NO_OTHER_GRID = "no grid of in-house models is declared there, and smoke trains for a few steps"
IN_HOUSE = ours("DEV-41", profiles=CPU, elsewhere=NO_OTHER_GRID)
IN_THE_PAPERS_SETTING = ours(
    "DEV-41",
    profiles=PAPER,
    elsewhere="the paper's bases are DistilGPT2 and GPT2, and no small one stands for a base of"
    " which more unrolling no longer helps",
)
NAMES = {"streamingqa": "StreamingQA", "squadseq": "SQuAD-Seq"}
HANDED_IN = ours(
    "DEV-41",
    profiles=PAPER,
    elsewhere="claims of their own speak of our models, and a GPU's grid has one seed",
)
"""Of the paper's own models."""
MODELS = {"small": "DistilGPT2", "large": "GPT2-Large", "largest": "GPT2-XL"}
"""Of the paper, that read a stream."""
READERS = {name: MODELS[name] for name in ("small", "large")}
"""Those that a model of ours stands for."""
SCORE = {"streamingqa": ("f1", "F1"), "squadseq": ("qa_loss_after", "nats")}
"""Column that decides and its unit. Small models answer no question on SQuAD's articles, so that
their F1 says nothing; the answers' loss does."""
WORDS = {"streamingqa": "F1", "squadseq": "the loss of the right answers"}


def on(dataset: str, eval_model: str) -> str:
    """Return the words with which a claim on one cell begins."""
    return f"On {NAMES[dataset]}, read by {MODELS[eval_model]},"
