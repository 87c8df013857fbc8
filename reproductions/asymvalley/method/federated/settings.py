"""Settings of a federated run, apart from its algorithm."""

from __future__ import annotations

from dataclasses import dataclass

from harness.errors import SpecError


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalSettings:
    """A client's training in one round: SGD with momentum that starts anew each round."""

    epochs: int
    """E; one pass over the client's data each."""
    batch_size: int
    """B; an epoch's last batch holds what is left, and never one sample if it can be helped."""
    min_steps: int
    """A client with fewer steps in E epochs makes this many; 0 asks for none."""
    lr: float
    momentum: float
    weight_decay: float
    clip_norm: float
    """Largest norm of a step's whole gradient, the method's term included."""

    def __post_init__(self) -> None:
        if min(self.epochs, self.batch_size) < 1 or self.min_steps < 0:
            raise SpecError(f"{self}: need epochs and batch_size of at least 1, min_steps >= 0")
        if not (self.lr > 0.0 and self.clip_norm > 0.0):
            raise SpecError(f"{self}: lr and clip_norm must be positive")
        if not (0.0 <= self.momentum < 1.0 and self.weight_decay >= 0.0):
            raise SpecError(f"{self}: need 0 <= momentum < 1 and weight_decay >= 0")


@dataclass(frozen=True, kw_only=True, slots=True)
class RoundSettings:
    """How rounds are made of clients."""

    rounds: int
    """T."""
    participation: float
    """Q: share of clients in a round; at least one takes part."""
    local: LocalSettings

    def __post_init__(self) -> None:
        if self.rounds < 1 or not 0.0 < self.participation <= 1.0:
            raise SpecError(
                f"rounds={self.rounds}, participation={self.participation}: need at least one"
                " round and 0 < participation <= 1"
            )
