"""What claims on MT-Bench share. Every one needs a real judge's ratings; nothing else stands in."""

from __future__ import annotations

from harness.declare import CPU, PAPER, ours

HANDED_IN = ours(
    "DEV-04", profiles=PAPER, elsewhere="the weights of the paper's models have to be handed in"
)
JUDGED = HANDED_IN.at(*CPU, *PAPER, elsewhere="it takes models that were fine-tuned, and a judge")
