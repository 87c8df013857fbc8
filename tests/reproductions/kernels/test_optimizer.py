"""The kernels' AdamW as an optimizer: torch's own, state for state, and masked where asked."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from harness.choices import noted
from harness.errors import SpecError
from reproductions.kernels.adamw import launch
from reproductions.kernels.adamw import optimizer as of_adamw
from reproductions.kernels.adamw.launch import Launch
from reproductions.kernels.adamw.optimizer import KernelAdamW, adamw_for
from reproductions.kernels.backend import Backend

KERNEL = "adamw"
ON_GPU: list[Any] = [pytest.param("triton", marks=pytest.mark.kernels), "cuda"]
SHAPES = [(3, 5), (7,), (2, 3, 4)]
SETTINGS: dict[str, Any] = {"lr": 0.1, "betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.3}


def weights(dtype: torch.dtype = torch.float64) -> list[nn.Parameter]:
    generator = torch.Generator().manual_seed(0)
    drawn = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in SHAPES]
    return [nn.Parameter(each.to(dtype)) for each in drawn]


def give_gradients(params: Sequence[nn.Parameter], step: int, rested: Sequence[int] = ()) -> None:
    """Give each weight the gradient of a step, none to those that rest."""
    for number, param in enumerate(params):
        generator = torch.Generator().manual_seed(100 * step + number)
        drawn = torch.randn(param.shape, generator=generator, dtype=torch.float64)
        param.grad = None if number in rested else drawn.to(param.dtype)


def groups_of(params: Sequence[nn.Parameter]) -> list[dict[str, Any]]:
    return [
        {"params": params[:1], "lr": 0.01, "weight_decay": 0.0},
        {"params": params[1:]},
    ]


def assert_close(ours: Sequence[Tensor], theirs: Sequence[Tensor], rtol: float = 1e-12) -> None:
    for a, b in zip(ours, theirs, strict=True):
        assert torch.allclose(a.double(), b.double(), rtol=rtol, atol=rtol)


def copy_to(theirs: Sequence[Tensor], ours: Sequence[Tensor]) -> None:
    with torch.no_grad():
        for a, b in zip(theirs, ours, strict=True):
            a.copy_(b)


def test_steps_are_torchs_in_groups_and_where_weights_rest(backend: Backend) -> None:
    """A weight that rests counts its own steps, as one whose block is frozen does."""
    exact = backend == "plain"
    mine, theirs = weights(torch.float64 if exact else torch.float32), weights()
    ours = KernelAdamW(groups_of(mine), backend=backend, **SETTINGS)
    pair = [(mine, ours), (theirs, torch.optim.AdamW(groups_of(theirs), **SETTINGS))]
    with noted() as choices:
        for step in range(5):
            for params, optimizer in pair:
                give_gradients(params, step, rested=[1] if step < 2 else [])
                optimizer.step()
    assert_close(mine, theirs, rtol=1e-12 if exact else 1e-5)
    assert [int(ours.state[param]["step"]) for param in mine] == [5, 3, 5]
    assert choices == ({} if exact else {"kernels/adamw": backend})


def test_states_go_over_to_torchs_and_back() -> None:
    params, others = weights(), weights()
    mine, theirs = KernelAdamW(params, **SETTINGS), torch.optim.AdamW(others, **SETTINGS)
    for step in range(2):
        give_gradients(others, step)
        theirs.step()
    copy_to(params, others)
    mine.load_state_dict(theirs.state_dict())
    give_gradients(params, 2)
    mine.step()
    # Torch would share the states.
    theirs.load_state_dict(deepcopy(mine.state_dict()))
    copy_to(others, params)
    for optimizer, held in ((mine, params), (theirs, others)):
        give_gradients(held, 3)
        optimizer.step()
    assert_close(params, others)


def test_gradients_in_another_order_of_memory_are_taken(backend: Backend) -> None:
    param, same = (nn.Parameter(torch.ones(2, 3)) for _ in range(2))
    param.grad = torch.arange(6.0).view(3, 2).T
    same.grad = param.grad.contiguous()
    for each in (param, same):
        KernelAdamW([each], backend=backend, **SETTINGS).step()
    assert torch.equal(param, same) and bool((param[0, 1:] < param[0, 0]).all())


def launches_of(by: Backend, monkeypatch: pytest.MonkeyPatch) -> list[Launch]:
    """Return a list to which each launch from now on is added."""
    found: list[Launch] = []
    made = launch.launch_of

    def noted_launch(*given: Any) -> Launch:
        found.append(made(*given))
        return found[-1]

    monkeypatch.setattr(launch, "launch_of", noted_launch)
    return found


@pytest.mark.parametrize("by", ON_GPU)
def test_where_tensors_lie_is_written_down_anew_when_one_has_moved_alone(
    by: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    launches = launches_of(by, monkeypatch)
    params, same = weights(torch.float32), weights(torch.float32)
    optimizer = KernelAdamW(params, backend=by, **SETTINGS)
    theirs = torch.optim.AdamW(same, **SETTINGS)
    give_gradients(params, 0)
    kept = [param.grad for param in params]
    for step in range(4):
        give_gradients(same, step)
        give_gradients(params, step)
        for param, grad in zip(params, kept, strict=True):
            assert grad is not None and param.grad is not None
            param.grad = grad.copy_(param.grad)
        if step == 2:
            left = params[1].data
            before = left.clone()
            params[1].data = before.clone()
        optimizer.step()
        theirs.step()
    tables = [each.table for each in launches]
    assert tables[0] is tables[1] and tables[2] is tables[3] and tables[1] is not tables[2]
    assert torch.equal(left, before)
    assert_close(params, same, rtol=1e-5)


@pytest.mark.parametrize("by", ["plain", *ON_GPU])
def test_members_of_a_stack_step_at_rates_of_their_own(by: Backend) -> None:
    rates = torch.tensor([0.1, 0.02], dtype=torch.float64)
    drawn = [torch.randn(2, 3, 5), torch.randn(2, 7)]
    stacked = [nn.Parameter(each.clone()) for each in drawn]
    members = [[nn.Parameter(each[i].clone()) for each in drawn] for i in range(2)]
    ours = KernelAdamW(stacked, backend=by, **{**SETTINGS, "lr": rates})
    theirs = [
        torch.optim.AdamW(params, **{**SETTINGS, "lr": float(lr)})
        for params, lr in zip(members, rates, strict=True)
    ]
    for step in range(3):
        give_gradients(stacked, step)
        for number, params in enumerate(members):
            for param, stack in zip(params, stacked, strict=True):
                assert stack.grad is not None
                param.grad = stack.grad[number].clone()
        # As a schedule does.
        ours.param_groups[0]["lr"] = rates * 0.5**step
        for optimizer, lr in zip(theirs, rates.tolist(), strict=True):
            optimizer.param_groups[0]["lr"] = lr * 0.5**step
        for optimizer in (ours, *theirs):
            optimizer.step()
    for number, params in enumerate(members):
        assert_close([each[number] for each in stacked], params, rtol=1e-5)


def test_what_no_kernel_steps_is_refused_before_anything_is_stepped() -> None:
    theirs = torch.optim.AdamW(weights(), amsgrad=True)
    with pytest.raises(SpecError, match="amsgrad=True"):
        KernelAdamW(weights()).load_state_dict(theirs.state_dict())
    param = nn.Parameter(torch.ones(3, 2))
    param.grad = torch.ones(3, 2)
    with pytest.raises(SpecError, match=r"lr of shape \(2,\) for a parameter of shape \(3, 2\)"):
        KernelAdamW([param], lr=torch.ones(2)).step()
    embedding = nn.Embedding(4, 3, sparse=True)
    embedding(torch.tensor([1])).sum().backward()
    with pytest.raises(SpecError, match=r"shape \(4, 3\) is sparse: kernels step dense ones"):
        KernelAdamW([param, embedding.weight], **SETTINGS).step()
    assert torch.equal(param, torch.ones(3, 2))


def test_on_a_cpu_it_is_torchs_and_nothing_is_chosen() -> None:
    with noted() as choices:
        optimizer = adamw_for(groups_of(weights()), **SETTINGS, fused=True)
        assert type(optimizer) is torch.optim.AdamW
        assert [group["lr"] for group in optimizer.param_groups] == [0.01, 0.1]
        assert type(adamw_for(iter(weights()), **SETTINGS)) is torch.optim.AdamW
        params = weights()
        plain = KernelAdamW(iter(params), **SETTINGS)
        give_gradients(params, 0)
        plain.step()
    assert choices == {}


def test_what_no_kernel_takes_is_torchs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_adamw, "choose", lambda device: "triton")
    dense = nn.Parameter(torch.ones(2, 3, 4, 5))
    assert type(adamw_for([dense])) is KernelAdamW
    last = nn.Parameter(torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last))
    double = nn.Parameter(torch.ones(2, dtype=torch.float64))
    for other, why in ((double, "float64"), (last, "weights in another order of memory")):
        with noted() as choices:
            assert type(adamw_for([dense, other])) is torch.optim.AdamW
        assert choices == {"kernels/adamw": f"torch.optim.AdamW ({why})"}
