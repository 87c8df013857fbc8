"""A stack trains each of its members as it would be trained alone."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from harness.errors import SpecError
from reproductions.nets.gpt import GPT, next_token_loss
from reproductions.supar import Parameterization, masked_layers, max_abs_masked
from reproductions.supar.method.stacked import Stack
from reproductions.supar.models.training import BETAS, build_adamw, groups_of
from tests.reproductions.nets.closures import Closed, seeded
from tests.reproductions.supar import small

RATES = (2.0**-7, 2.0**-5, 2.0**-3)
EPS = 1e-3
"""With a small eps a step has the gradient's sign, and where that is rounding alone two right
implementations part."""
NUM_STEPS = 4


def rules(*rates: float) -> list[Parameterization]:
    """Return a parameterization per rate."""
    table = small.table()
    return [replace(table, base=replace(table.base, lr=lr)) for lr in rates or RATES]


def nets() -> list[GPT]:
    return [small.gpt(small.table(), seed=number) for number in range(len(RATES))]


def batches() -> list[tuple[Tensor, Tensor]]:
    """Return tokens and targets by step, each member's its own."""
    streams = [small.batches(NUM_STEPS, seed=10 + number) for number in range(len(RATES))]
    return [
        (torch.stack([b.tokens_BT for b in several]), torch.stack([b.targets_BT for b in several]))
        for several in zip(*streams, strict=True)
    ]


def loss_of(net: Any, tokens_BT: Tensor, targets_BT: Tensor) -> Tensor:
    return next_token_loss(net(tokens_BT), targets_BT)


def trained_in_a_stack(
    models: Sequence[GPT], tables: Sequence[Parameterization], max_norm: float
) -> tuple[list[Tensor], list[Tensor]]:
    """Train nets in a stack and write them back; return losses and norms of gradients by step."""
    stack = Stack(models)
    groups = [groups_of(model, rule) for model, rule in zip(models, tables, strict=True)]
    optimizer = stack.adamw(groups, betas=BETAS, eps=EPS)
    losses, norms = [], []
    for tokens_MBT, targets_MBT in batches():
        losses_M = stack.losses(loss_of, tokens_MBT, targets_MBT)
        losses_M.sum().backward()
        norms.append(stack.clip_grad_norm_(max_norm))
        optimizer.step()
        optimizer.zero_grad()
        losses.append(losses_M.detach())
    stack.write_back()
    return losses, norms


def trained_alone(
    models: Sequence[GPT], tables: Sequence[Parameterization], max_norm: float
) -> tuple[list[Tensor], list[Tensor]]:
    """Train the same nets one by one."""
    pairs = zip(models, tables, strict=True)
    optimizers = [build_adamw(model, rule, eps=EPS) for model, rule in pairs]
    losses, norms = [], []
    for step in batches():
        of_step = []
        for model, optimizer, tokens, targets in zip(models, optimizers, *step, strict=True):
            loss = loss_of(model, tokens, targets)
            loss.backward()
            of_step.append((loss.detach(), clip_grad_norm_(model.parameters(), max_norm)))
            optimizer.step()
            optimizer.zero_grad()
        losses.append(torch.stack([loss for loss, _ in of_step]))
        norms.append(torch.stack([norm for _, norm in of_step]))
    return losses, norms


@pytest.mark.parametrize("max_norm", [0.5, 1e9])
def test_members_end_where_they_would_alone(max_norm: float) -> None:
    together, alone = nets(), nets()
    starts = nets()
    masks = [[layer.weight_mask for layer in masked_layers(m).values()] for m in starts]
    assert not torch.equal(masks[0][0], masks[1][0])
    found = trained_in_a_stack(together, rules(), max_norm)
    wanted = trained_alone(alone, rules(), max_norm)
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6)
    assert float(found[1][0].min()) > 0.5, "a clipping that binds"
    for ours, theirs, start in zip(together, alone, starts, strict=True):
        assert max_abs_masked(ours) == 0.0
        for (name, a), b, c in zip(
            ours.named_parameters(), theirs.parameters(), start.parameters(), strict=True
        ):
            assert torch.allclose(a, b, rtol=1e-5, atol=1e-5), name
            assert not torch.equal(a, c), name


def test_a_member_that_diverges_spoils_no_other() -> None:
    together, alone = nets(), nets()
    wild = rules(RATES[0], 1e30, RATES[2])
    losses, _ = trained_in_a_stack(together, wild, 1.0)
    trained_alone(alone, wild, 1.0)
    assert torch.isfinite(losses[-1]).tolist() == [True, False, True]
    for number in (0, 2):
        pairs = zip(together[number].parameters(), alone[number].parameters(), strict=True)
        assert all(torch.allclose(a, b, rtol=1e-5, atol=1e-5) for a, b in pairs)


def test_what_is_no_stack_is_refused() -> None:
    models = nets()
    other = small.gpt(small.table(width=32), width=32)
    for unlike in ([models[0], other], [models[0], nn.Linear(2, 2)]):
        with pytest.raises(SpecError, match="alike in class, mode and shape"):
            Stack(unlike)
    groups = [groups_of(model, rule) for model, rule in zip(models, rules(), strict=True)]
    decayed = [[{**group, "weight_decay": 0.7} for group in groups[1]]]
    for words, given in {
        "as many lists of groups": groups[:2],
        "over the same weights": [groups[0], groups[0], groups[2]],
        "of the same decay": [groups[0], *decayed, groups[2]],
        r"no group holds .*\.weight": [held[:1] for held in groups],
    }.items():
        with pytest.raises(SpecError, match=words):
            Stack(models).adamw(given)


def loss_of_squares(net: Any, x: Tensor) -> Tensor:
    return net(x).square().mean()


def test_nets_that_compute_with_what_they_closed_over_are_no_stack() -> None:
    """All members would be the first one."""
    stack = Stack([seeded(Closed), seeded(Closed)])
    with pytest.raises(SpecError, match="that a function inside it holds on to"):
        stack.losses(loss_of_squares, torch.ones(2, 6, 4))


def test_running_statistics_of_a_stack_are_those_of_its_nets() -> None:
    x = torch.linspace(-1.0, 1.0, 48).view(2, 6, 4)
    nets = [nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5)) for _ in range(2)]
    alone = copy.deepcopy(nets)
    stack = Stack(nets)
    stack.losses(loss_of_squares, x)
    stack.write_back()
    for net, other, own in zip(nets, alone, x, strict=True):
        loss_of_squares(other, own)
        for name, buffer in other.named_buffers():
            torch.testing.assert_close(net.get_buffer(name), buffer)
