"""Moments that wait in the host's memory: where they are, and what cannot be moved."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from harness.errors import SpecError
from reproductions.lisa import Lisa
from reproductions.lisa.method.paging import HostStates
from tests.reproductions.lisa.small import (
    adamw,
    assert_same,
    batches,
    llama,
    moment_bytes,
    train,
    trainable,
)


def test_paged_moments_wait_in_the_host_and_go_back_where_lisa_lets_go() -> None:
    kept, paged = llama(), llama()
    whole = Lisa(kept, gamma=1, period=2, seed=0, policy="keep_all").attach(adamw(kept))
    lisa = Lisa(paged, gamma=1, period=2, seed=0, policy="page_refrozen")
    optimizer = lisa.attach(adamw(paged))
    for model, each in ((kept, whole), (paged, optimizer)):
        train(model, each, batches(9))
    assert lisa._host._kept
    assert moment_bytes(optimizer) == 2 * 4 * trainable(paged) < moment_bytes(whole)
    lisa.detach()
    assert not lisa._host._kept
    assert moment_bytes(optimizer) == moment_bytes(whole)


@pytest.mark.parametrize("make", [torch.optim.Adafactor, torch.optim.ASGD])
def test_optimizers_with_other_states_are_as_if_all_were_kept(make: Any) -> None:
    kept, paged = llama(), llama()
    whole = Lisa(kept, gamma=1, period=2, seed=0, policy="keep_all")
    lisa = Lisa(paged, gamma=1, period=2, seed=0, policy="page_refrozen")
    for each in (whole, lisa):
        train(each.model, each.attach(make(each.model.parameters(), lr=1e-2)), batches(9))
    assert_same(kept, paged)


@pytest.mark.parametrize("option", ["fused", "capturable", "foreach"])
def test_moments_go_where_the_weight_is_and_counters_where_torch_wants_them(option: str) -> None:
    """By the options of the weight's own group; the meta device stands for another one."""
    moved, stays = (nn.Parameter(torch.empty(3, 2, device="meta")) for _ in range(2))
    groups = [{"params": [moved], option: True}, {"params": [stays]}]
    optimizer = torch.optim.SGD(groups, lr=0.1)
    host = HostStates()
    state = {"exp_avg": torch.ones(3, 2), "step": torch.tensor(4.0), "name": "a", "count": 3}
    host.load_state_dict({0: state, 1: state}, [moved, stays])
    host.give_back(optimizer, [moved, stays])
    assert not host._kept
    for parameter, counter in ((moved, "cpu" if option == "foreach" else "meta"), (stays, "cpu")):
        found = optimizer.state[parameter]
        assert (found["exp_avg"].device.type, found["step"].device.type) == ("meta", counter)
        assert (found["name"], found["count"]) == ("a", 3)


class Remembering(torch.optim.SGD):
    """Keeps its last gradients in a list, as some optimizers do."""

    def step(self, closure: Any = None) -> Any:
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self.state[parameter].setdefault("last", []).append(parameter.grad)
        return super().step(closure)


def test_a_state_whose_tensors_would_stay_behind_is_refused() -> None:
    model = llama()
    lisa = Lisa(model, gamma=1, period=1, seed=0, policy="page_refrozen")
    optimizer = lisa.attach(Remembering(model.parameters(), lr=0.1))
    with pytest.raises(SpecError, match="'last' of Remembering is a list: take another policy"):
        train(model, optimizer, batches(9))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("fused", [False, True])
def test_on_a_gpu_moments_of_frozen_blocks_leave_the_card(fused: bool) -> None:
    kept, paged = llama().cuda(), llama().cuda()
    optimizers = []
    for model, policy in ((kept, "keep_all"), (paged, "page_refrozen")):
        lisa = Lisa(model, gamma=1, period=2, seed=0, policy=policy)  # type: ignore[arg-type]
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, fused=fused)
        optimizers.append(lisa.attach(optimizer))
        train(model, optimizer, (ids.cuda() for ids in batches(9)))
    assert_same(kept, paged)
    waiting = [v for state in lisa._host._kept.values() for v in state.values() if v.dim()]
    assert waiting and all(tensor.is_pinned() for tensor in waiting)
    lisa.detach()
    for ours, theirs in zip(paged.parameters(), kept.parameters(), strict=True):
        for name, value in optimizers[1].state[ours].items():
            assert value.device == optimizers[0].state[theirs][name].device, name
