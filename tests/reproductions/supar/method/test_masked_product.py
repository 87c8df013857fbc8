"""When a masked layer's product is a kernel's, that it is the same, and that another is said.

There is no GPU here: `choose` is told to answer as on one, and what the kernel would be given goes
to its plain torch. `tests/reproductions/test_dispatch.py` has Triton's.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional as F

from harness.choices import chose, noted
from reproductions.kernels.masked_linear import plain
from reproductions.supar.method import masked_product
from reproductions.supar.method.masked_layer import MaskedLinear, attach_mask, dense_gradients

BY_KERNEL = {"kernels/masked_linear": "plain torch"}


class Spy:
    """The kernel's place, taken by its plain torch."""

    def __init__(self) -> None:
        self.num_calls = 0

    def masked_linear(self, x_BK: Tensor, weight: Tensor, mask: Tensor) -> Tensor:
        self.num_calls += 1
        return plain.masked_linear(x_BK, weight, mask)


@pytest.fixture
def spy(monkeypatch: pytest.MonkeyPatch) -> Spy:
    found = Spy()

    def chosen(kernel: str, device: torch.device) -> Spy:
        chose(f"kernels/{kernel}", "plain torch")
        return found

    monkeypatch.setattr(masked_product, "choose", lambda device: "triton")
    monkeypatch.setattr(masked_product, "chosen", chosen)
    return found


def by_blocks(*kept: tuple[int, int]) -> Tensor:
    """A mask of 3 x 2 blocks, some of which keep about half of their weights."""
    mask = torch.zeros(150, 128, dtype=torch.bool)
    drawn = torch.rand(150, 128, generator=torch.Generator().manual_seed(1)) < 0.5
    for row, column in kept:
        block = slice(64 * row, 64 * (row + 1)), slice(64 * column, 64 * (column + 1))
        mask[block] = drawn[block]
    return mask


SPARSE = by_blocks((1, 1))


def masked(mask: Tensor = SPARSE, *, bias: bool = True) -> Any:
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(128, 150, bias=bias), nn.Tanh())
    attach_mask(net, "0", mask)
    return net


def outcome(net: nn.Module, x: Tensor) -> list[Tensor]:
    x = x.clone().requires_grad_()
    net.zero_grad()
    y = net(x)
    y.square().sum().backward()
    grads = [weight.grad for weight in net.parameters()]
    return [y.detach(), x.grad, *[grad.clone() for grad in grads if grad is not None]]  # type: ignore[list-item]


@pytest.mark.parametrize(("shape", "bias"), [((2, 3, 128), True), ((0, 128), False)], ids=str)
def test_outputs_and_gradients_are_those_of_the_dense_product(
    spy: Spy, shape: tuple[int, ...], bias: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    net, x = masked(bias=bias), torch.randn(*shape, generator=torch.Generator().manual_seed(2))
    with noted() as choices:
        ours = outcome(net, x)
    assert choices == BY_KERNEL and spy.num_calls == 1
    monkeypatch.undo()
    for one, other in zip(ours, outcome(net, x), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


def test_a_mask_that_changes_is_followed_even_where_no_version_counts_it(spy: Spy) -> None:
    net, x, other = masked(), torch.randn(4, 128), by_blocks((0, 0), (2, 1))
    net(x)
    version = net[0].weight_mask._version
    # As DistributedDataParallel's broadcast does.
    net[0].weight_mask.data.copy_(other)
    nn.init.ones_(net[0].weight)
    found = net(x)
    assert (net[0].weight_mask._version, spy.num_calls) == (version, 2)
    torch.testing.assert_close(found, (F.linear(x, other.float(), net[0].bias)).tanh())
    assert torch.equal(copy.deepcopy(net)(x), found)


def with_dense_gradients(net: Any, x: Tensor) -> Tensor:
    with dense_gradients([net[0]]):
        return net(x)  # type: ignore[no-any-return]


FULL = by_blocks((0, 0), (1, 1))


@pytest.mark.parametrize(
    ("mask", "call", "why"),
    [
        (SPARSE, lambda net, x: net.double()(x.double()), "float64 times float64"),
        (SPARSE, with_dense_gradients, "gradients of masked weights are asked for"),
        (SPARSE, lambda net, x: net(x[0]), "an input of one axis"),
        (FULL, lambda net, x: net(x), "over 25% of the blocks of a mask keep a weight"),
    ],
    ids=["float64", "dense", "vector", "full"],
)
def test_what_no_kernel_takes_is_torchs_and_said(
    spy: Spy, mask: Tensor, call: Callable[[nn.Module, Tensor], Tensor], why: str
) -> None:
    with noted() as choices:
        call(masked(mask), torch.randn(4, 128))
    assert choices == {"kernels/masked_linear": f"torch's dense product ({why})"}
    assert spy.num_calls == 0


class Twice(nn.Linear):
    def forward(self, input: Tensor) -> Tensor:
        return 2 * super().forward(input)


def test_who_computes_otherwise_is_not_passed_over(
    spy: Spy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A layer's own forward pass, other weights in the place of its own, and transforms."""
    x = torch.randn(4, 128)
    net = nn.Sequential(Twice(128, 150))
    attach_mask(net, "0", SPARSE)
    layer = net[0]
    assert isinstance(layer, MaskedLinear)
    weights = {name: 2 * weight.detach() for name, weight in net.named_parameters()}
    calls: list[Callable[[], Tensor]] = [
        lambda: net(x),
        lambda: functional_call(masked(), weights, (x,)),
        lambda: torch.vmap(masked())(x),
    ]
    with noted() as choices:
        found = [call() for call in calls]
    assert choices == {} and spy.num_calls == 0
    monkeypatch.undo()
    for one, call in zip(found, calls, strict=True):
        assert torch.equal(one, call())
