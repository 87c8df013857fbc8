"""What every method returns, and what happens round each: checks, clock, counts, clear errors."""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from harness.errors import RunError
from harness.measure.live_bytes import peak_of
from reproductions.fg2u.method.explained import explained
from reproductions.fg2u.method.problem import Problem
from reproductions.fg2u.method.refusals import (
    Needs,
    check_influence,
    check_phi,
    check_problem,
    refuse_autocast,
    where_not_finite,
)
from reproductions.fg2u.method.trees import Tree, detached, is_finite, is_zero, tree_leaves

MAX_GROWTH = 1e3
"""Growth of a tangent over the unroll, from which on float32 has few digits of it left."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """What was taken of the inner problem."""

    inner_steps: int = 0
    hvps: int = 0
    """Hessians of the inner loss times a vector."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stats:
    """What one estimate cost, and what can be said of its noise."""

    seconds: float
    peak_bytes: int | None
    """Largest sum of live tensors beyond those that were there before; None if not asked for."""
    counts: Counts
    num_directions: int = 0
    """b; 0 for methods without directions."""
    gradient_norm: float | None = None
    """Estimate of the exact gradient's norm, from the directions; None without at least one."""
    noise_norm: float | None = None
    """Estimate of the root mean square error of `grad`; None where they do not tell, as
    those that are not independent."""
    growth: float | None = None
    """Largest growth of a tangent, |dtheta_T/dphi v| / |v|; None where there are no tangents."""
    diverged: bool = False
    """Whether a series that should converge (Neumann's) grew."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MetaGrad:
    """A hypergradient."""

    grad: Tree
    """In phi's shape."""
    outer_value: Tensor
    """h(phi), a scalar without history."""
    stats: Stats


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """What a method's own code returns."""

    grad: Tree
    value: Tensor
    counts: Counts
    facts: dict[str, Any] = field(default_factory=dict)
    """Fields of `Stats`."""


@dataclass(frozen=True, kw_only=True)
class Estimator(ABC):
    """A method: call it with a problem, phi, a batch and a generator."""

    name: ClassVar[str]
    is_biased: ClassVar[bool]
    needs: ClassVar[Needs] = "backward"

    measure_memory: bool = False
    """Whether to count live bytes; on a CPU each operation then takes some microseconds more."""

    def __call__(
        self,
        problem: Problem,
        phi: Tree,
        batch: Any = None,
        generator: torch.Generator | None = None,
    ) -> MetaGrad:
        """Estimate dh/dphi.

        phi: a tree of floating tensors; it is not changed and its history is not used.
        generator: of the directions; torch's own without one. Methods that draw nothing ignore it.
        A direction follows phi's leaves in their order: the same phi from a dictionary in another
        order, as safetensors loads one, has other directions.
        Raises SpecError for a problem that cannot be differentiated so, naming the operation, and
        RunError for a value that is not finite, naming the inner step. A caller's `no_grad` does
        not matter.
        """
        check_phi(phi)
        phi = detached(phi)
        device = tree_leaves(phi)[0].device
        # Attention has derivatives of every order in this form alone (pytorch#117629).
        with (
            torch.inference_mode(False), torch.enable_grad(),
            sdpa_kernel(SDPBackend.MATH), explained(self.name),
        ):  # fmt: skip
            refuse_autocast(device)
            check_problem(problem, phi, batch, self.needs)
            start = time.perf_counter()
            parts, peak_bytes = peak_of(
                lambda: self.parts(problem, phi, batch, generator),
                measured=self.measure_memory,
                device=device,
            )
            seconds = time.perf_counter() - start
            self._judge(problem, phi, batch, parts)
        self._warn(parts)
        stats = Stats(seconds=seconds, peak_bytes=peak_bytes, counts=parts.counts, **parts.facts)
        return MetaGrad(grad=detached(parts.grad), outer_value=parts.value.detach(), stats=stats)

    def peak_bytes(
        self, problem: Problem, phi: Tree, batch: Any = None,
        generator: torch.Generator | None = None,
    ) -> int:  # fmt: skip
        """Return the most live bytes that one estimate adds, counted."""
        peak = replace(self, measure_memory=True)(problem, phi, batch, generator).stats.peak_bytes
        assert peak is not None
        return peak

    def _judge(self, problem: Problem, phi: Tree, batch: Any, parts: Parts) -> None:
        """Raise for a gradient that is no number, or of a phi that nothing depends on."""
        diverged = parts.facts.get("diverged", False)
        if not is_finite(parts.value) or not (diverged or is_finite(parts.grad)):
            raise RunError(where_not_finite(problem, phi, batch))
        if self.needs != "values" and is_zero(parts.grad):
            check_influence(problem, phi, batch)

    def _warn(self, parts: Parts) -> None:
        if self.needs == "values" and is_zero(parts.grad):
            warnings.warn(
                "every difference of the outer loss is exactly 0: phi has no influence on it, or mu"
                " is too small for its precision",
                RuntimeWarning,
                stacklevel=3,
            )
        if parts.facts.get("diverged", False):
            warnings.warn(
                "the Neumann series grew where it should converge, and its gradient means nothing:"
                " lower alpha, or train the inner problem on until its Hessian is positive",
                RuntimeWarning,
                stacklevel=3,
            )
        growth = parts.facts.get("growth")
        single = parts.value.dtype is not torch.float64
        if growth is not None and growth > MAX_GROWTH and single:
            warnings.warn(
                f"a tangent grew {growth:.0f} times over the unroll: the inner steps are unstable,"
                " and a hypergradient in float32 has few digits; lower the inner step size",
                RuntimeWarning,
                stacklevel=3,
            )

    @abstractmethod
    def parts(
        self, problem: Problem, phi: Tree, batch: Any, generator: torch.Generator | None
    ) -> Parts:
        """Compute the gradient of an already checked problem."""
