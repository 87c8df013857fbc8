"""A GPT's loss from its features, beside that of its logits.

There is no GPU here: `choose` is told to answer as on one, and what the kernel would be given goes
to its plain torch. `tests/reproductions/test_dispatch.py` has Triton's.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from harness.choices import chose, noted
from reproductions.kernels.linear_cross_entropy import plain
from reproductions.nets.gpt import GPT, next_token_loss
from reproductions.supar.models import loss as losses
from reproductions.supar.models.loss import gpt_loss
from tests.reproductions.supar.small import batches, gpt, table


def plain_said(kernel: str, device: torch.device) -> Any:
    chose(f"kernels/{kernel}", "plain torch")
    return SimpleNamespace(linear_cross_entropy=plain.linear_cross_entropy)


@pytest.fixture
def on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(losses, "choose", lambda device: "triton")
    monkeypatch.setattr(losses, "chosen", plain_said)


def both(net: nn.Module) -> tuple[list[Tensor], list[Tensor], dict[str, str]]:
    """Return loss and gradients from logits and by choice, and what was chosen."""
    (batch,) = batches(1)
    found = []
    ways = (lambda *given: next_token_loss(net(given[0]), given[1]), lambda *g: gpt_loss(net, *g))
    for way in ways:
        net.zero_grad(set_to_none=True)
        with noted() as choices:
            loss = way(batch.tokens_BT, batch.targets_BT)
        loss.backward()
        found.append([loss.detach(), *[p.grad for p in net.parameters() if p.grad is not None]])
    return found[0], found[1], choices


@pytest.mark.usefixtures("on_a_gpu")
def test_a_net_learns_the_same_from_what_the_kernel_is_given() -> None:
    theirs, ours, choices = both(gpt(table()))
    assert choices == {"kernels/linear_cross_entropy": "plain torch"}
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-7)


class Louder(GPT):
    def forward(self, tokens_BT: Tensor) -> Tensor:
        return 2.0 * super().forward(tokens_BT)


def louder(net: nn.Module) -> nn.Module:
    net.__class__ = Louder
    return net


def hooked(net: nn.Module) -> nn.Module:
    net.register_forward_hook(lambda module, given, logits: 2.0 * logits)
    return net


def compiled(net: nn.Module) -> nn.Module:
    net.compile(backend="eager")
    return net


@pytest.mark.usefixtures("on_a_gpu")
@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (louder, "a Louder may make its logits otherwise"),
        (hooked, "hooks on a GPT, which it would not call"),
        (compiled, "a GPT that was compiled, or whose forward pass was replaced"),
        (nn.Module.double, "float64"),
    ],
    ids=["class", "hook", "compile", "float64"],
)
def test_what_no_kernel_takes_is_torchs_and_said(
    changed: Callable[[nn.Module], nn.Module], why: str
) -> None:
    theirs, ours, choices = both(changed(gpt(table())))
    said = f"torch's loss of all logits ({why})"
    assert choices == {"kernels/linear_cross_entropy": said}
    assert all(torch.equal(one, other) for one, other in zip(ours, theirs, strict=True))
