"""A physics-informed network: a tanh net whose residual in a PDE is the loss that trains it.

Source: Shen et al., arXiv 2406.14095, Appendices E.3 and F.3: u = (1 - e^-t) net(t, x) + u_0(x), so
that the initial state is met exactly. Derivatives in t and x are carried forward through the
layers, so that a gradient by the weights is one pass back. Letters: P points, n units; K what is
carried: net, its t, x, xx and xxx derivatives.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.func import grad, vmap

from harness.errors import SpecError
from reproductions.fg2u.models.spectral import Pde

Weights = list[Tensor]
"""Matrix and bias of each layer in turn, matrices of shape (inputs, units)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Net:
    """How large the net is."""

    num_layers: int
    """Hidden layers."""
    width: int

    def __post_init__(self) -> None:
        if self.num_layers < 1 or self.width < 1:
            raise SpecError(f"a net of {self.num_layers} layers of {self.width}: need one of each")

    def drawn(self, generator: torch.Generator) -> Weights:
        """Return initial weights by Glorot's rule, and biases of zero."""
        sizes = (2, *(self.width for _ in range(self.num_layers)), 1)
        weights = []
        for a, b in itertools.pairwise(sizes):
            weights += [torch.randn(a, b, generator=generator) * (2 / (a + b)) ** 0.5]
            weights += [torch.zeros(b)]
        return weights


def layers(weights: Weights) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield matrix and bias of each layer."""
    yield from zip(weights[::2], weights[1::2], strict=True)


def net_values(weights: Weights, points_P2: Tensor) -> Tensor:
    """Return the net at points (t, x), shape (P,)."""
    h = points_P2
    for matrix, bias in layers(weights[:-2]):
        h = torch.tanh(h @ matrix + bias)
    return (h @ weights[-2] + weights[-1])[:, 0]


def net_derivatives(weights: Weights, points_P2: Tensor, order: int) -> tuple[Tensor, ...]:
    """Return the net and its derivatives by t and by x, x twice ... up to an order of 2 or 3."""
    first, bias = weights[:2]
    value = points_P2 @ first + bias
    along = torch.cat([first, (first[:1] - first[:1]).expand(order - 1, -1)])
    h = _through_tanh(value, along[:, None].expand(-1, *value.shape))
    for matrix, bias in layers(weights[2:-2]):
        value, along = (h @ matrix).split((1, order + 1))
        h = _through_tanh(value[0] + bias, along)
    value, *slopes = (h @ weights[-2])[..., 0].unbind()
    return (value + weights[-1], *slopes)


def _through_tanh(value: Tensor, along: Tensor) -> Tensor:
    """Return tanh and its derivatives by the chain rule, shape (K, P, n).

    along: derivatives of the value by t, x, xx and, at order 3, xxx. Factors of 2 and more are
    taken by `alpha`: a plain number times a tensor with a tangent is worked out in Python.
    """
    a = torch.tanh(value)
    _, x, xx, *_ = along.unbind()
    d_t, d_x, d_xx, *rest = ((1 - a * a) * along).unbind()
    bent = a * d_x * x
    parts = [a, d_t, d_x, torch.sub(d_xx, bent, alpha=2)]
    for d_xxx in rest:
        third = torch.sub(d_xxx, a * d_x * xx, alpha=6)
        third = torch.add(third, bent * (a * x), alpha=4)
        parts.append(torch.sub(third, d_x * d_x * x, alpha=2))
    return torch.stack(parts)


@dataclass(frozen=True, slots=True)
class Points:
    """Where a residual is taken, with what no weight changes; first axes may be batched."""

    inside: Tensor
    """Shape (..., P, 8): t, x, 1 - e^-t, e^-t, u_0 and its first three derivatives."""
    walls: Tensor
    """Shape (..., W, 3): t, x, 1 - e^-t at x = -1 and then, at the same times, at x = 1."""

    def at(self, number: int) -> Points:
        """Return those of a step."""
        return Points(self.inside[number], self.walls[number])

    def to(self, device: torch.device) -> Points:
        """Return the same on a device."""
        return Points(self.inside.to(device), self.walls.to(device))


torch.utils._pytree.register_dataclass(Points)


def points_of(pde: Pde, points_P2: Tensor, wall_times: Tensor) -> Points:
    """Return points inside, shape (..., P, 2), and times at the walls, shape (..., W)."""
    t, x = points_P2.double().unbind(-1)
    states = []
    derivative: Callable[[Tensor], Tensor] = pde.initial
    for _ in range(4):
        states.append(vmap(derivative)(x.flatten()).reshape(x.shape))
        derivative = grad(derivative)
    inside = torch.stack([t, x, -torch.expm1(-t), torch.exp(-t), *states], -1)
    times = torch.cat([wall_times, wall_times], -1).double()
    sides = torch.cat([-torch.ones_like(wall_times), torch.ones_like(wall_times)], -1).double()
    walls = torch.stack([times, sides, -torch.expm1(-times)], -1)
    return Points(inside.to(points_P2), walls.to(points_P2))


def drawn_points(
    pde: Pde, shape: Sequence[int], num_walls: int, generator: torch.Generator
) -> Points:
    """Draw points evenly, t in [0, 1] and x in [-1, 1]; `shape` ends in their number."""
    inside = torch.rand(*shape, 2, generator=generator)
    inside = inside * torch.tensor([1.0, 2.0]) - torch.tensor([0.0, 1.0])
    return points_of(pde, inside, torch.rand(*shape[:-1], num_walls, generator=generator))


def residual_loss(pde: Pde, weights: Weights, nu: Tensor, points: Points) -> Tensor:
    """Return the mean square residual, and that of the conditions at the walls."""
    # One sum each gives all that is constant a tangent where nu has one (see `spectral`).
    zero = (nu - nu).to(points.inside)
    inside, walls = points.inside + zero, points.walls + zero
    count, order = len(inside), 3 if pde.name == "kdv" else 2
    both = torch.cat([inside[:, :2], walls[:, :2]])
    net, *along = net_derivatives(weights, both, order)
    grown, left = inside[:, 2], inside[:, 3]
    u = grown * net[:count] + inside[:, 4]
    u_t = left * net[:count] + grown * along[0][:count]
    u_x = grown * along[1][:count] + inside[:, 5]
    u_xx = grown * along[2][:count] + inside[:, 6]
    if pde.name == "burgers":
        residual = u_t + u * u_x - nu * u_xx
    elif pde.name == "allen_cahn":
        residual = torch.sub(u_t - nu * u_xx, u - u * u * u, alpha=5)
    else:
        u_xxx = grown * along[3][:count] + inside[:, 7]
        residual = u_t + u * u_x + nu * u_xxx
    at_walls = walls[:, 2] * net[count:]
    if pde.name == "kdv":
        # Periodic: value and slope agree.
        slopes = walls[:, 2] * along[1][count:]
        pairs = torch.stack([at_walls, slopes]).unflatten(1, (2, -1))
        at_walls = pairs[:, 1] - pairs[:, 0]
    return residual.square().mean() + at_walls.square().mean()


def solution(pde: Pde, weights: Weights, times: Sequence[float], places: Tensor) -> Tensor:
    """Return u at times and places, shape (T, X)."""
    t = torch.tensor(times).to(weights[0])
    x = places.to(weights[0])
    points = torch.cartesian_prod(t, x)
    net = net_values(weights, points).reshape(len(t), len(x))
    return -torch.expm1(-t)[:, None] * net + pde.initial(x)


def num_params(net: Net) -> int:
    """Return the weights of a net in closed form."""
    n, hidden = net.width, net.num_layers - 1
    return 3 * n + hidden * (n + 1) * n + n + 1
