"""What a client's training spends its time in, and whether stacking clients would save any."""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor
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
    from reproductions.nets.convnet import ConvNet

NUM_SHOWN, NUM_PAIRS = 4, 30
OF_A_BLOCK = ("conv.weight", "conv.bias", "norm.weight", "norm.bias")
Weights = dict[str, Tensor]


def shares_of_operators(train: Callable[[], object]) -> str:
    """Return the operators that training spends most of its own time in, with their shares."""
    train()  # the first call allocates
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        train()
    times = {each.key: each.self_cpu_time_total for each in profiled.key_averages()}
    total = sum(times.values())
    largest = sorted(times, key=lambda name: -times[name])[:NUM_SHOWN]
    return ", ".join(f"{name.removeprefix('aten::')} {times[name] / total:.0%}" for name in largest)


def together_over_single(
    nets: list[ConvNet], clients: list[ClientData], batch: int
) -> tuple[float, float]:
    """Return how long gradients of clients as one net take, as a multiple of one after another.

    Both by vmap and by convolutions in groups, a client a group. Each client has weights and a
    batch of its own; batch norms keep no running statistics, which vmap cannot update. Raises
    AssertionError where gradients differ by more than 1e-5.
    """
    nets = [replace_all_batch_norm_modules_(copy.deepcopy(net)) for net in nets]
    images = torch.stack([data.images_SCHW[:batch] for data in clients])
    labels = torch.stack([data.labels_S[:batch] for data in clients])
    params, buffers = stack_module_state(nets)

    def loss(weights: Weights, x: Tensor, y: Tensor) -> Tensor:
        return F.cross_entropy(functional_call(nets[0], (weights, buffers), (x,)), y)

    def by_vmap() -> Weights:
        return vmap(grad(loss))(params, images, labels)

    def by_groups() -> Weights:
        total = grouped_loss(nets[0], params, images, labels)
        return dict(zip(params, torch.autograd.grad(total, [*params.values()]), strict=True))

    def in_turn() -> Weights:
        found = [
            torch.autograd.grad(F.cross_entropy(net(x), y), list(net.parameters()))
            for net, x, y in zip(nets, images, labels, strict=True)
        ]
        return dict(zip(params, map(torch.stack, zip(*found, strict=True)), strict=True))

    right = in_turn()
    for together in (by_vmap(), by_groups()):
        for name, gradient in together.items():
            torch.testing.assert_close(gradient, right[name], rtol=1e-5, atol=1e-5)
    times = [[_seconds(each) for each in (by_vmap, by_groups, in_turn)] for _ in range(NUM_PAIRS)]
    vmapped, grouped = (statistics.median(t[i] / t[2] for t in times) for i in (0, 1))
    return vmapped, grouped


def grouped_loss(net: ConvNet, params: Weights, images: Tensor, labels: Tensor) -> Tensor:
    """Return the sum of clients' losses, their channels side by side in one net.

    params: stacked, a first axis of K clients. images: (K, B, C, H, W). labels: (K, B).
    """
    clients, batch = labels.shape
    x = images.transpose(0, 1).flatten(1, 2)
    for number, block in enumerate(net.blocks):
        own = {name: params[f"blocks.{number}.{name}"].flatten(0, 1) for name in OF_A_BLOCK}
        x = F.conv2d(x, own["conv.weight"], own["conv.bias"], padding=1, groups=clients)
        x = F.batch_norm(x, None, None, own["norm.weight"], own["norm.bias"], training=True)
        x = block.pool(F.relu(x))
    features = x.mean((2, 3)).view(batch, clients, -1).transpose(0, 1)
    weight, bias = params["classifier.weight"], params["classifier.bias"]
    logits = torch.baddbmm(bias.unsqueeze(1), features, weight.transpose(1, 2))
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum") / batch


def _seconds(call: Callable[[], object]) -> float:
    start_s = time.perf_counter()
    call()
    return time.perf_counter() - start_s
