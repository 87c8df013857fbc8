"""Forward methods: one pass carries the inner state and its tangents, and keeps no history.

`fgu` (eq. 4), `fg2u` (eqs. 8, 9) and `fg2u-zo` (eq. 16) of Shen et al., arXiv 2406.14095.
Letters: b directions, C of them in a chunk, N entries of phi.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import torch
from torch import Tensor
from torch.func import vmap

from harness.errors import SpecError
from reproductions.fg2u.method.directions import Directions, Kind, make_directions
from reproductions.fg2u.method.estimator import Counts, Estimator, Parts
from reproductions.fg2u.method.noise import expected_square
from reproductions.fg2u.method.problem import Problem, check_whole
from reproductions.fg2u.method.refusals import Needs
from reproductions.fg2u.method.reverse import end
from reproductions.fg2u.method.tangents import Slopes, carry, kernel_of
from reproductions.fg2u.method.trees import (
    ONCE,
    Tree,
    added,
    floating,
    inner,
    norm,
    num_entries,
    pushed,
    split,
    tree_leaves,
    tree_map,
)
from reproductions.fg2u.method.workers import ONE, Workers

Scheme = Literal["forward", "central"]
Differenced = Literal["loss", "result"]


@dataclass(frozen=True, kw_only=True)
class Directional(Estimator):
    """The mean of w v over directions v, w being the slope of h along v."""

    is_biased: ClassVar[bool] = False

    num_directions: int
    """b; `gauss-grid` has 12 to the power of N, whatever is written here."""
    chunk: int = 1
    """Directions that are carried at once: memory grows with it, time per direction falls."""
    directions: Kind = "rademacher"
    workers: Workers = ONE
    """The processes that share the directions; all give the same estimate."""

    def __post_init__(self) -> None:
        check_whole(num_directions=self.num_directions, chunk=self.chunk)

    def slopes(self, problem: Problem, phi: Tree, batch: Any, rows: Tree) -> Slopes:
        """Return the slopes of h along a chunk of directions, each leaf of shape (C, ...)."""
        raise NotImplementedError

    def counts(self, num_steps: int, num_directions: int) -> Counts:
        """Return what this many directions cost."""
        raise NotImplementedError

    def parts(
        self, problem: Problem, phi: Tree, batch: Any, generator: torch.Generator | None
    ) -> Parts:
        device = tree_leaves(phi)[0].device
        seed = self.workers.agreed(_drawn_seed(generator), device)
        drawn = make_directions(self.directions, self.num_directions, num_entries(phi), seed)
        total = tree_map(torch.zeros_like, phi)
        slopes = torch.zeros(drawn.count, dtype=torch.float64, device=device)
        growths, weights, value = [], [], None
        own = self.workers.own(drawn.count)
        with torch.no_grad():
            for numbers in _chunks(own, self.chunk):
                rows = split(drawn.rows(numbers, device), phi)
                value, slope_C, growth_C = self.slopes(problem, phi, batch, rows)
                weight_C = drawn.weights(numbers).to(slope_C) * slope_C
                if drawn.kind == "philox":
                    weights.append(weight_C)
                else:
                    total = added(total, _weighted(weight_C, rows))
                slopes[numbers.start : numbers.stop] = slope_C.double()
                growths.append(growth_C)
            if weights:
                total = drawn.combined(torch.cat(weights), own, phi)
        if value is None:
            value = problem.unroll(phi, batch)[0]
        self.workers.check_agreed(value)
        total, slopes = self.workers.summed(total), self.workers.summed(slopes)
        return Parts(
            grad=total,
            value=value,
            counts=self.counts(problem.num_steps, len(own)),
            facts={
                "num_directions": drawn.count,
                "growth": _largest(growths),
                **_noise(drawn, slopes),
            },
        )


def _weighted(weight_C: Tensor, rows: Tree) -> Tree:
    """Return the sum of rows, each times its weight."""
    return tree_map(lambda row: torch.tensordot(weight_C.to(row), row, dims=1), rows)


def _drawn_seed(generator: torch.Generator | None) -> int:
    """Draw the seed of the directions, on the generator's own device."""
    device = generator.device if generator is not None else "cpu"
    return int(torch.randint(2**62, (1,), generator=generator, device=device))


def _chunks(numbers: range, size: int) -> Iterator[range]:
    """Yield stretches of a range."""
    yield from (numbers[at : at + size] for at in range(0, len(numbers), size))


def _largest(growths: list[Tensor]) -> float | None:
    """Return the largest known growth."""
    known = torch.cat(growths) if growths else torch.empty(0)
    known = known[~known.isnan()]
    return float(known.max()) if len(known) else None


def _noise(drawn: Directions, slope_b: Tensor) -> dict[str, float | None]:
    """Return what slopes along random directions tell of the gradient and of the error.

    E w^2 = |g|^2 for independent directions with E vv^T = I, as coordinates are not.
    """
    share = expected_square(drawn.kind, drawn.num_entries, drawn.count)
    if share is None or drawn.kind == "coordinate":
        return {}
    square = float(slope_b.square().mean())
    return {"gradient_norm": square**0.5, "noise_norm": (share * square) ** 0.5}


@dataclass(frozen=True, kw_only=True)
class Fg2u(Directional):
    """Forward gradient unrolling: unbiased, its memory free of the inner steps and of N.

    Source: section 3.1, eqs. 8 and 9; the mean squared error is (N-1)/b |grad|^2 (Lemma 3.1).
    """

    name: ClassVar[str] = "fg2u"
    needs: ClassVar[Needs] = "forward"

    def slopes(self, problem: Problem, phi: Tree, batch: Any, rows: Tree) -> Slopes:
        kernel = kernel_of(problem, phi, batch)
        if kernel is not None:
            return carry(kernel, problem, phi, batch, rows)

        def along(v: Tree) -> tuple[Tensor, Tensor, Tensor]:
            (value, _), (w, y) = pushed(lambda p: problem.unroll(p, batch), (phi,), (v,))
            return value, w, norm(floating(y)) / norm(v)

        if len(tree_leaves(rows)[0]) == 1:
            value, w, growth = along(tree_map(lambda row: row[0], rows))
            return Slopes(value, w[None], growth[None])
        return Slopes(*vmap(along, out_dims=(ONCE, 0, 0))(rows))

    def counts(self, num_steps: int, num_directions: int) -> Counts:
        return Counts(inner_steps=num_steps * num_directions)


@dataclass(frozen=True, kw_only=True)
class Fg2uZo(Directional):
    """Differences of h in place of its derivative: for steps that nothing can differentiate.

    Source: eq. 16 (`forward`, an error of order mu) or the central form (of order mu squared).
    The released PDE code differences the solver's result in place of the loss, and multiplies by
    the loss's own gradient: `differences="result"`, which loses fewer digits near an optimum.
    """

    name: ClassVar[str] = "fg2u-zo"
    is_biased: ClassVar[bool] = True
    needs: ClassVar[Needs] = "values"

    mu: float = 1e-3
    scheme: Scheme = "central"
    differences: Differenced = "loss"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scheme not in get_args(Scheme):
            raise SpecError(f"scheme={self.scheme!r}: write one of {', '.join(get_args(Scheme))}")
        if self.differences not in get_args(Differenced):
            words = ", ".join(get_args(Differenced))
            raise SpecError(f"differences={self.differences!r}: write one of {words}")
        if not self.mu > 0.0:
            raise SpecError(f"mu={self.mu}: a difference needs mu > 0")

    def slopes(self, problem: Problem, phi: Tree, batch: Any, rows: Tree) -> Slopes:
        judged, value, along_phi = self._judged(problem, phi, batch)
        is_single = len(tree_leaves(rows)[0]) == 1

        def moved(factor: float) -> Tree:
            return tree_map(lambda p, row: p + factor * row, phi, rows)

        def values(points: Tree) -> Tensor:
            if is_single:
                # Nothing is batched, so that a step may leave torch.
                return judged(tree_map(lambda leaf: leaf[0], points))[None]
            return vmap(judged)(points)

        if self.scheme == "forward" and not is_single:
            # Batched kernels round in their own way: the base is one of the batch.
            points = tree_map(lambda p, near: torch.cat([p[None], near]), phi, moved(self.mu))
            found = values(points)
            here, slope_C = found[0], (found[1:] - found[0]) / self.mu
        elif self.scheme == "forward":
            here = judged(phi)
            slope_C = (values(moved(self.mu)) - here) / self.mu
        else:
            here = judged(phi) if value is None else value
            slope_C = (values(moved(self.mu)) - values(moved(-self.mu))) / (2 * self.mu)
        if along_phi is not None:
            slope_C = slope_C + vmap(lambda row: inner(along_phi, row))(rows)
        value = here if value is None else value
        return Slopes(value, slope_C, torch.full_like(slope_C, torch.nan))

    def _judged(
        self, problem: Problem, phi: Tree, batch: Any
    ) -> tuple[Callable[[Tree], Tensor], Tensor | None, Tree | None]:
        """Return what is differenced, a scalar of phi; h(phi), None where that is h itself; and
        what of the gradient needs no difference."""
        if self.differences == "loss":
            return lambda p: problem.unroll(p, batch)[0], None, None
        value, state = problem.unroll(phi, batch)
        with torch.enable_grad():
            _, by_state, by_phi = end(problem, state, phi, batch)
        return lambda p: inner(by_state, problem.unroll(p, batch)[1]), value, by_phi

    def counts(self, num_steps: int, num_directions: int) -> Counts:
        per_direction = 2 if self.scheme == "central" else 1
        # Each chunk has its own run at phi.
        runs = per_direction * num_directions + -(-num_directions // self.chunk)
        return Counts(inner_steps=num_steps * runs)


@dataclass(frozen=True, kw_only=True)
class Fgu(Estimator):
    """Forward unrolling: the whole Jacobian dtheta/dphi, M times N, is carried along (eq. 4)."""

    name: ClassVar[str] = "fgu"
    is_biased: ClassVar[bool] = False
    needs: ClassVar[Needs] = "forward"

    def parts(
        self, problem: Problem, phi: Tree, batch: Any, generator: torch.Generator | None
    ) -> Parts:
        count = num_entries(phi)
        every = torch.eye(count, dtype=tree_leaves(phi)[0].dtype)
        with torch.no_grad():
            value, slope_N = vmap(
                lambda v: pushed(lambda p: problem.unroll(p, batch)[0], (phi,), (v,)),
                out_dims=(ONCE, 0),
            )(split(every, phi))
        grad = tree_map(lambda leaf: leaf[0], split(slope_N[None], phi))
        steps = problem.num_steps * count
        return Parts(grad=grad, value=value, counts=Counts(inner_steps=steps))
