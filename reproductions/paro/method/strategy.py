"""How parameters, gradients and optimizer states are split over GPUs: three letters, 27 strategies.

N: every GPU holds all of it. I: it is split over the GPUs of a group, each group holds all of it.
G: it is split over all GPUs. Source: Zhang et al., NeurIPS 2024, section 3.1.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, get_args

from harness.errors import SpecError, nearest

Granularity = Literal["N", "I", "G"]
GRANULARITIES: tuple[Granularity, ...] = get_args(Granularity)
"""From coarse to fine."""


def is_coarser(one: Granularity, other: Granularity) -> bool:
    """Return whether one splits less than another."""
    return GRANULARITIES.index(one) < GRANULARITIES.index(other)


@dataclass(frozen=True, kw_only=True, slots=True)
class Strategy:
    """A granularity for each of the three states of training."""

    params: Granularity
    grads: Granularity
    states: Granularity
    """Those of the optimizer."""
    between: Granularity | None = None
    """Where parameters rest between forward and backward pass, if coarser than otherwise: ZeRO++'s
    secondary copy (I), or FSDP that does not reshard after the forward pass (N)."""

    def __post_init__(self) -> None:
        if self.between is not None and not is_coarser(self.between, self.params):
            raise SpecError(
                f"between={self.between!r} beside params={self.params!r}: leave it out, or name a"
                " coarser granularity"
            )

    def __str__(self) -> str:
        return self.letters + (f" ({self.between} between passes)" if self.between else "")

    @property
    def letters(self) -> str:
        """Parameters, gradients, optimizer states."""
        return self.params + self.grads + self.states

    @property
    def backward_params(self) -> Granularity:
        """Granularity from which the backward pass gathers parameters."""
        return self.between or self.params

    @property
    def is_effective(self) -> bool:
        """Whether the paper keeps it: optimizer states are split no coarser than the others."""
        return not self.coarser_states

    @property
    def coarser_states(self) -> tuple[str, ...]:
        """What is split finer than the optimizer states are, in words."""
        beside = {"parameters": self.params, "gradients": self.grads}
        return tuple(name for name, split in beside.items() if is_coarser(self.states, split))

    @property
    def reason(self) -> str:
        """Why the paper keeps it or leaves it out."""
        if self.is_effective:
            return "optimizer states are split at least as fine as parameters and gradients"
        return f"optimizer states are split coarser than {' and '.join(self.coarser_states)}"

    @property
    def kept(self) -> Strategy:
        """The effective strategy that the paper would have instead: itself, or with finer states.

        Its reason: coarser states take memory, and save no communication.
        """
        finest = max(self.params, self.grads, self.states, key=GRANULARITIES.index)
        return replace(self, states=finest)


ALL = tuple(Strategy(params=p, grads=g, states=o) for p, g, o in product(GRANULARITIES, repeat=3))
EFFECTIVE = tuple(strategy for strategy in ALL if strategy.is_effective)
"""The 14 that section 3.1.1 keeps."""
BY_LETTERS = {strategy.letters: strategy for strategy in ALL}


def strategy_of(letters: str) -> Strategy:
    """Return any of the 27 by its letters. Raises SpecError for what is none."""
    if letters not in BY_LETTERS:
        raise SpecError(
            f"no strategy {letters!r}: three of the letters N, I, G, for parameters, gradients and"
            f" optimizer states{nearest(letters.upper(), BY_LETTERS)}"
        )
    return BY_LETTERS[letters]


def effective_of(letters: str) -> Strategy:
    """Return one of the 14. Raises SpecError that names the rule for one of the other 13."""
    found = strategy_of(letters)
    if not found.is_effective:
        raise SpecError(
            f"strategy {letters} is none of the 14: its {found.reason}, which the paper says costs"
            " memory and saves no communication (section 3.1.1; with one ring NGI and GNI do save"
            f" some); take {found.kept}"
        )
    return found
