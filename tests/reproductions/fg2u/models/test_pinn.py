"""The physics-informed net: derivatives, residuals of known solutions, conditions at the walls."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.func import grad, vmap

from reproductions.fg2u.models.pinn import (
    Net,
    Points,
    net_derivatives,
    net_values,
    points_of,
    residual_loss,
)
from reproductions.fg2u.models.spectral import BURGERS, KDV, PDES, Pde

GENERATOR = torch.Generator


def weights(seed: int = 0) -> list[Tensor]:
    net = Net(num_layers=3, width=6)
    drawn = net.drawn(GENERATOR().manual_seed(seed))
    return [leaf.double() + 0.1 for leaf in drawn]


def points(pde: Pde, count: int = 9) -> Points:
    generator = GENERATOR().manual_seed(1)
    inside = torch.rand(count, 2, generator=generator, dtype=torch.float64)
    return points_of(pde, inside, torch.rand(4, generator=generator, dtype=torch.float64))


@pytest.mark.parametrize("order", [2, 3])
def test_derivatives_carried_forward_are_those_of_autograd(order: int) -> None:
    own, at = weights(), points(BURGERS).inside[:, :2]

    def net(t: Tensor, x: Tensor) -> Tensor:
        return net_values(own, torch.stack([t, x])[None])[0]

    expected = [net, grad(net, 0), grad(net, 1), grad(grad(net, 1), 1)]
    if order == 3:
        expected.append(grad(expected[-1], 1))
    found = net_derivatives(own, at, order)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert torch.allclose(ours, vmap(theirs)(*at.T), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("pde", PDES.values(), ids=list(PDES))
def test_the_residual_is_the_equations(pde: Pde) -> None:
    own, at, nu = weights(), points(pde), torch.tensor(0.07, dtype=torch.float64)

    def u(t: Tensor, x: Tensor) -> Tensor:
        net = net_values(own, torch.stack([t, x])[None])[0]
        return -torch.expm1(-t) * net + pde.initial(x)

    u_x, u_t = grad(u, 1), grad(u, 0)
    u_xx = grad(u_x, 1)
    equations = {
        "burgers": lambda t, x: u_t(t, x) + u(t, x) * u_x(t, x) - nu * u_xx(t, x),
        "allen_cahn": lambda t, x: u_t(t, x) - nu * u_xx(t, x) - 5 * (u(t, x) - u(t, x) ** 3),
        "kdv": lambda t, x: u_t(t, x) + u(t, x) * u_x(t, x) + nu * grad(u_xx, 1)(t, x),
    }
    inside = vmap(equations[pde.name])(*at.inside[:, :2].T).square().mean()
    t = at.walls[:4, 0]
    left, right = (torch.full_like(t, side) for side in (-1.0, 1.0))
    if pde is KDV:
        # u_0 is periodic, and what the net adds must be.
        gaps = [vmap(f)(t, right) - vmap(f)(t, left) for f in (u, u_x)]
        walls = torch.stack(gaps).square().mean()
    else:
        held = {"burgers": 0.0, "allen_cahn": -1.0}[pde.name]
        walls = (torch.cat([vmap(u)(t, left), vmap(u)(t, right)]) - held).square().mean()
    assert float(residual_loss(pde, own, nu, at)) == pytest.approx(float(inside + walls), rel=1e-9)
