"""Inner optimizers step as torch's own."""

from __future__ import annotations

import pytest
import torch

from harness.errors import SpecError
from reproductions.fg2u import Adam, Inner, Sgd
from tests.reproductions.fg2u.small import drawn


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_sgd_steps_as_torchs(momentum: float) -> None:
    ours, theirs = Sgd(lr=0.1, momentum=momentum), torch.nn.Parameter(drawn(5))
    state = Inner(drawn(5), ours.start(drawn(5)))
    peer = torch.optim.SGD([theirs], lr=0.1, momentum=momentum)
    for number in range(4):
        theirs.grad = theirs.detach().sin()
        state = ours.update(state.params.sin(), state, (), number)
        peer.step()
    assert torch.allclose(state.params, theirs, rtol=1e-14)


def test_adam_steps_as_torchs_but_for_its_epsilon() -> None:
    ours, theirs = Adam(lr=0.1, eps_root=1e-30), torch.nn.Parameter(drawn(5))
    state = Inner(drawn(5), ours.start(drawn(5)))
    peer = torch.optim.Adam([theirs], lr=0.1, eps=0.0)
    for number in range(4):
        theirs.grad = theirs.detach().sin()
        state = ours.update(state.params.sin(), state, (), number)
        peer.step()
    assert torch.allclose(state.params, theirs, rtol=1e-12)


def test_adam_has_a_derivative_where_the_gradient_is_zero() -> None:
    def after(gradient: torch.Tensor) -> torch.Tensor:
        state = Inner(torch.ones(2), Adam(lr=0.1).start(torch.ones(2)))
        return Adam(lr=0.1).update(gradient, state, (), 0).params.sum()

    assert torch.func.grad(after)(torch.zeros(2)).isfinite().all()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Sgd(lr=0.1, momentum=1.0),
        lambda: Adam(lr=0.1, beta1=1.0),
        lambda: Adam(lr=0.1, eps_root=0.0),
    ],
)
def test_settings_out_of_range_are_refused(make: object) -> None:
    with pytest.raises(SpecError, match="need"):
        make()  # type: ignore[operator]
