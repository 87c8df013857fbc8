"""What every training on instructions is told. No torch."""

from __future__ import annotations

from harness.declare import Params, doc, seed

RECORDS = "alpaca_cleaned"
"""Instructions with answers."""


class Tuning(Params):
    """Some steps on instructions from a model that was pre-trained."""

    model: str = doc("What is fine-tuned.")
    lr: float = doc("Highest learning rate.")
    seed: int = seed("One fine-tuning: batches and adapters.", default=0)
    num_steps: int = doc("Optimizer steps.")
    batch_size: int = doc("Examples per step.")
    max_tokens: int = doc("Tokens of an example at most, its prompt included.", default=64)
