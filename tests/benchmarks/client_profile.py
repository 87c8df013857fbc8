"""What a client's training spends its time in, and whether stacking clients would save any."""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import (
    functional_call,
    grad,
    replace_all_batch_norm_modules_,
    stack_module_state,
    vmap,
)
from torch.profiler import ProfilerActivity, profile

if TYPE_CHECKING:
    from reproductions.asymvalley.method.federated.client import ClientData

NUM_SHOWN, NUM_PAIRS = 4, 30


def shares_of_operators(train: Callable[[], object]) -> str:
    """Return the operators that training spends most of its own time in, with their shares."""
    train()  # the first call allocates
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        train()
    times = {each.key: each.self_cpu_time_total for each in profiled.key_averages()}
    total = sum(times.values())
    largest = sorted(times, key=lambda name: -times[name])[:NUM_SHOWN]
    return ", ".join(f"{name.removeprefix('aten::')} {times[name] / total:.0%}" for name in largest)


def stacked_over_single(nets: list[nn.Module], clients: list[ClientData], batch: int) -> float:
    """Return how long gradients of stacked clients take, as a multiple of one after another.

    Each client has weights and a batch of its own; batch norms keep no running statistics, which
    stacked ones could not. Raises AssertionError where gradients differ by more than 1e-5.
    """
    nets = [replace_all_batch_norm_modules_(copy.deepcopy(net)) for net in nets]
    images = [data.images_SCHW[:batch] for data in clients]
    labels = [data.labels_S[:batch] for data in clients]
    params, buffers = stack_module_state(nets)  # type: ignore[arg-type]
    stack_images, stack_labels = torch.stack(images), torch.stack(labels)

    def loss(weights: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        return F.cross_entropy(functional_call(nets[0], (weights, buffers), (x,)), y)

    def stacked() -> list[Tensor]:
        return list(vmap(grad(loss))(params, stack_images, stack_labels).values())

    def in_turn() -> list[Tensor]:
        found = []
        for net, x, y in zip(nets, images, labels, strict=True):
            found.append(torch.autograd.grad(F.cross_entropy(net(x), y), list(net.parameters())))
        return [torch.stack(each) for each in zip(*found, strict=True)]

    for one, other in zip(stacked(), in_turn(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)
    pairs = [(_seconds(stacked), _seconds(in_turn)) for _ in range(NUM_PAIRS)]
    return statistics.median(a / b for a, b in pairs)


def _seconds(call: Callable[[], object]) -> float:
    start_s = time.perf_counter()
    call()
    return time.perf_counter() - start_s
