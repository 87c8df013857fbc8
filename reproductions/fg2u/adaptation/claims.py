"""What the claims on online adaptation share: scopes, scores, and the names of their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from harness.declare import CPU, PAPER, Criterion, more_than, ours
from reproductions.fg2u.adaptation import quantities as q

IN_HOUSE = ours("DEV-41", profiles=CPU, elsewhere="only `cpu` trains models of several seeds")
PAPERS_MODELS = ours(
    "DEV-41", profiles=PAPER, elsewhere="the paper's own models run in its own setting alone"
)
NAMES = {"streamingqa": "StreamingQA", "squadseq": "SQuAD-Seq"}
MODELS = {"small": "DistilGPT2", "large": "GPT2-Large", "largest": "GPT2-XL"}
"""Of the paper, that read a stream."""
READERS = {name: MODELS[name] for name in ("small", "large")}
"""Those that a model of ours stands for."""
SCORE = {"streamingqa": ("f1", "F1"), "squadseq": ("qa_loss_after", "nats")}
"""Column that decides and its unit. Small models answer no question on SQuAD's articles, so that
their F1 says nothing; the answers' loss does."""


def named(
    datasets: Sequence[str], models: Sequence[str], steps: Sequence[str] = ("",)
) -> list[str]:
    """Return the names of the numbers of `quantities.gains`, in their order."""
    streams = [NAMES[each] if len(datasets) > 1 else "" for each in datasets]
    return [
        ", ".join(filter(None, (stream, MODELS[model], step)))
        for stream in streams
        for model in models
        for step in steps
    ]


def gains_on(dataset: str, pairs: Sequence[q.Pair], steps: Sequence[str] = ("",)) -> Criterion:
    """Ask that a score of a stream rises from the first to the second of each pair of rows."""
    column, unit = SCORE[dataset]
    quantity = partial(
        q.gains, column=column, datasets=(dataset,), eval_models=tuple(READERS), pairs=pairs
    )
    return more_than(quantity, 0, unit).naming(*named((dataset,), tuple(READERS), steps))
