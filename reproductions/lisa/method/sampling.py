"""Which blocks a period trains: samplers with a generator of their own.

Each has a state that a checkpoint holds, so that a resumed run draws what an uninterrupted one
would. Letters in formulas: N_L blocks, gamma of them active, n periods.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol

import torch

from harness.errors import SpecError

SamplerKind = Literal["exact", "bernoulli"]


class Sampler(Protocol):
    """Draws the active blocks of one period after another."""

    def draw(self) -> tuple[int, ...]:
        """Return the numbers of the next period's blocks, ascending and each once."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """Return what the next draws depend on."""
        ...

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a stored state."""
        ...


class RandomSampler:
    """Uniform over blocks.

    `exact` draws gamma distinct blocks (arXiv 2403.17919, camera-ready section 3.2), which caps
    the memory. `bernoulli` draws each block on its own with probability gamma / N_L (pseudo-code
    of the early version): their number is then binomial, and may be 0.
    """

    def __init__(self, num_blocks: int, *, gamma: int, seed: int, kind: SamplerKind) -> None:
        """Start the generator. Raises SpecError for gamma outside 0 to num_blocks."""
        if not 0 <= gamma <= num_blocks:
            raise SpecError(f"gamma={gamma}: the model has {num_blocks} blocks, need 0 to that")
        if kind not in ("exact", "bernoulli"):
            raise SpecError(f"sampler={kind!r}: need 'exact' or 'bernoulli'")
        self._num_blocks, self._gamma, self._kind = num_blocks, gamma, kind
        self._generator = torch.Generator(device="cpu").manual_seed(seed)

    def draw(self) -> tuple[int, ...]:
        """Return the numbers of the next period's blocks, ascending and each once."""
        if self._kind == "exact":
            order = torch.randperm(self._num_blocks, generator=self._generator, device="cpu")
            return tuple(sorted(order[: self._gamma].tolist()))
        draws = torch.rand(
            self._num_blocks, generator=self._generator, dtype=torch.float64, device="cpu"
        )
        share = self._gamma / self._num_blocks
        return tuple(block for block, draw in enumerate(draws.tolist()) if draw < share)

    def state_dict(self) -> dict[str, Any]:
        """Return the generator's state."""
        return {"generator": self._generator.get_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a stored state."""
        # A trainer may have moved everything in its checkpoint to a GPU.
        self._generator.set_state(state["generator"].cpu())


class CyclicSampler:
    """One block after another, each once a cycle, in an order that every cycle draws anew.

    Source: BAdam, arXiv 2404.02827, random reshuffling. The last block of a cycle may be the first
    of the next.
    """

    def __init__(self, num_blocks: int, *, seed: int) -> None:
        """Start the generator; the first draw begins a cycle."""
        self._num_blocks = num_blocks
        self._left: list[int] = []
        self._generator = torch.Generator(device="cpu").manual_seed(seed)

    def draw(self) -> tuple[int, ...]:
        """Return the number of the next period's block."""
        if not self._left:
            order = torch.randperm(self._num_blocks, generator=self._generator, device="cpu")
            self._left = order.tolist()
        return (self._left.pop(),)

    def state_dict(self) -> dict[str, Any]:
        """Return the generator's state and the blocks left of this cycle, the next one last."""
        return {"generator": self._generator.get_state(), "left": list(self._left)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a stored state."""
        self._generator.set_state(state["generator"].cpu())
        self._left = list(state["left"])


def expected_coverage(num_blocks: int, *, gamma: int, periods: int) -> float:
    """Return how many distinct blocks `periods` exact draws touch on average.

    N_L (1 - (1 - gamma / N_L)^n), by linearity over blocks; the paper's setting touches half:

    >>> round(expected_coverage(32, gamma=2, periods=10), 1)
    15.2
    """
    return num_blocks * (1.0 - (1.0 - gamma / num_blocks) ** periods)
