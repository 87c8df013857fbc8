"""Training loops that give the same losses: by one process, by our engine, by DDP, by FSDP2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn.parallel import DistributedDataParallel

from reproductions.nets.gpt import GPT, GPTConfig, next_token_loss
from reproductions.paro.convergence.experiment import ALONE, PYTORCH, Training, methods_of
from reproductions.paro.method.blocks import padded_length
from reproductions.paro.method.engine import Paro, Precision, mesh_of_groups
from reproductions.paro.method.engine.units import parts_of
from reproductions.paro.models.ways import Way

HEAD_SIZE = 7
Line = list[float]
"""Of a step: the mean loss, and the norm of the gradient before it is clipped."""


def net_of(training: Training, vocabulary: int, init: int) -> GPT:
    """Return a GPT in the type of its masters; no number of its units divides by four."""
    config = GPTConfig(
        vocab_size=vocabulary, width=training.width, num_layers=training.num_layers,
        head_size=HEAD_SIZE, context=training.context, feed_forward="gelu",
        feed_forward_width=4 * training.width, positions="learned", bias=False,
        embedding_multiplier=1.0, logit_multiplier=1.0, attention_scale=HEAD_SIZE**-0.5,
    )  # fmt: skip
    net = GPT(config, generator=torch.Generator().manual_seed(init))
    return net.double() if training.precision == "float64" else net


def padding(net: nn.Module, num_ranks: int) -> int:
    """Return by how many entries the unit with least padding is longer than its parameters."""
    counts = [sum(p.numel() for p in part.params.values()) for part in parts_of(net)]
    return min(padded_length(count, num_ranks) - count for count in counts)


def optimizer_of(training: Training, params: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """Return AdamW, as all have it."""
    return torch.optim.AdamW(params, lr=training.lr)


def by_one(training: Training, net: nn.Module) -> Way:
    """Train by one process; in bfloat16 on a copy of what is stepped in float32."""
    params = list(net.parameters())
    masters = params
    if training.precision == "bfloat16":
        masters = [nn.Parameter(param.detach().clone()) for param in params]
        net.to(torch.bfloat16)
    optimizer = optimizer_of(training, masters)

    def step() -> float:
        for master, param in zip(masters, params, strict=True):
            assert param.grad is not None
            master.grad = param.grad.to(master.dtype)
        norm = stepped(training, optimizer, masters)
        for master, param in zip(masters, params, strict=True):
            param.data.copy_(master.data)
            param.grad = None
        return norm

    return Way(net, step)


def by_engine(training: Training, net: nn.Module, mesh: DeviceMesh, letters: str) -> Way:
    """Train by one of the 14 strategies."""
    low = training.precision == "bfloat16"
    engine = Paro(
        net, mesh, letters, optimizer=partial(optimizer_of, training), max_norm=training.max_norm,
        precision=Precision(param_dtype=torch.bfloat16) if low else Precision(),
    )  # fmt: skip
    return Way(net, engine.step)


def by_ddp(training: Training, net: nn.Module) -> Way:
    """Train by DDP."""
    wrapped = DistributedDataParallel(net)
    params = list(net.parameters())
    optimizer = optimizer_of(training, params)
    return Way(wrapped, partial(stepped, training, optimizer, params), wrapped.no_sync)


def by_fsdp2(training: Training, net: GPT) -> Way:
    """Train by FSDP2, all split over all."""
    mesh = init_device_mesh("cpu", (training.num_ranks,))
    low = torch.bfloat16 if training.precision == "bfloat16" else None
    for unit in (*net.blocks, net):
        fully_shard(unit, mesh=mesh, mp_policy=MixedPrecisionPolicy(param_dtype=low))
    params = list(net.parameters())
    return Way(net, partial(stepped, training, optimizer_of(training, params), params))


def stepped(
    training: Training, optimizer: torch.optim.Optimizer, params: list[nn.Parameter]
) -> float:
    """Clip by torch's function, step, and forget gradients; return the norm."""
    norm: Any = nn.utils.clip_grad_norm_(params, training.max_norm)
    optimizer.step()
    optimizer.zero_grad()
    return float(norm.full_tensor() if hasattr(norm, "full_tensor") else norm)


def train(way: Way, batches: Tensor) -> Iterator[Line]:
    """Yield each step's line. batches: tokens, (steps, micro-batches, sequences, T + 1)."""

    def loss_of(tokens_BT: Tensor) -> Tensor:
        logits = way.net(tokens_BT[:, :-1])
        # Sums over the vocabulary in bfloat16 would hide whatever else differs.
        logits = logits.float() if logits.dtype == torch.bfloat16 else logits
        return next_token_loss(logits, tokens_BT[:, 1:])

    for batch in batches:
        yield [way.passes(list(batch), loss_of), way.step()]


def train_alone(training: Training, windows: Tensor, vocabulary: int, init: int) -> list[Line]:
    """Train by one process on whole batches. windows: tokens, (steps, sequences, T + 1)."""
    with one_thread():
        way = by_one(training, net_of(training, vocabulary, init))
        return list(train(way, windows[:, None]))


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute as ranks do."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def train_on_rank(
    point: dict[str, Any], windows: list[Any], vocabulary: int, init: int
) -> dict[str, list[Line]]:
    """Return this rank's lines of every method but one process."""
    training = Training.from_json(point)
    mesh = mesh_of_groups(training.group_size)
    n, s, rank = training.num_ranks, training.micro_steps, dist.get_rank()
    steps, _, length = (whole := torch.tensor(windows)).shape
    mine = whole.view(steps, s, n, -1, length)[:, :, rank]
    found = {}
    for name in methods_of(training):
        if name == ALONE:
            continue
        net = net_of(training, vocabulary, init)
        if name not in PYTORCH:
            way = by_engine(training, net, mesh, name)
        else:
            way = by_ddp(training, net) if name == "DDP" else by_fsdp2(training, net)
        found[name] = list(train(way, mine))
    return found
