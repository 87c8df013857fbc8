"""The byte counter against torch's profiler, which records every allocation on its own."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile
from torch.utils.checkpoint import checkpoint

from harness.measure.memory import count_bytes, gpu_peak, saved_tensors, storage_bytes

LOSS_BYTES = 4
"""The scalar loss: alive after the forward pass, but not saved for the backward pass."""


class Mlp(nn.Module):
    """Odd widths, so that no two tensors have one size by accident."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(17, 31), nn.GELU(), nn.Linear(31, 5))

    def forward(self) -> Tensor:
        inputs = torch.randn(7, 17)
        return self.layers(inputs).pow(2).mean()


class ConvNet(nn.Module):
    """Has buffers (batch norm), integer indices (max pooling) and a residual sum."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 6, 3, padding=1)
        self.norm = nn.BatchNorm2d(6)
        self.second = nn.Conv2d(6, 6, 3, padding=1, bias=False)
        self.head = nn.Linear(6 * 16, 10)

    def forward(self) -> Tensor:
        images = torch.randn(5, 3, 8, 8)
        hidden = F.relu(self.norm(self.first(images)))
        hidden = F.max_pool2d(hidden + self.second(hidden), 2)
        return F.cross_entropy(self.head(hidden.flatten(1)), torch.arange(5))


class Transformer(nn.Module):
    """Tied embedding, one attention block with fused q, k, v that are views of one storage."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(29, 24)
        self.norm1, self.norm2 = nn.LayerNorm(24), nn.LayerNorm(24)
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.up, self.down = nn.Linear(24, 96), nn.Linear(96, 24)
        self.head = nn.Linear(24, 29, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self) -> Tensor:
        tokens = torch.randint(29, (3, 11))
        hidden = self.embedding(tokens)
        q, k, v = (
            part.view(3, 11, 4, 6).transpose(1, 2)
            for part in self.qkv(self.norm1(hidden)).chunk(3, dim=-1)
        )
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        hidden = hidden + self.out(mixed.transpose(1, 2).reshape(3, 11, 24))
        hidden = hidden + self.down(F.gelu(self.up(self.norm2(hidden))))
        logits = self.head(hidden)
        return F.cross_entropy(logits.view(-1, 29), tokens.view(-1))


NETS = [Mlp, ConvNet, Transformer]


@pytest.fixture(autouse=True)
def one_seed() -> Iterator[None]:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def held_after(work: Callable[[], object]) -> tuple[int, object]:
    """Return what the profiler saw allocated and not freed by `work`, and its result."""
    gc.collect()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        result = work()
    return sum(event.self_cpu_memory_usage for event in profiler.key_averages()), result


@pytest.mark.parametrize("net", NETS)
def test_counter_agrees_with_the_profiler_to_the_byte(net: type[nn.Module]) -> None:
    state_bytes, model = held_after(net)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    forward_bytes, loss = held_after(model)
    loss.backward()  # a first pass may fill caches of oneDNN, which stay
    model.zero_grad(set_to_none=True)
    del loss

    forward_bytes, loss = held_after(model)
    backward_bytes, _ = held_after(loss.backward)
    step_bytes, _ = held_after(optimizer.step)

    counted = count_bytes(model, torch.optim.AdamW(model.parameters(), lr=1e-3), model)
    assert counted.parameters + counted.buffers == state_bytes
    assert counted.saved == forward_bytes - LOSS_BYTES
    # The backward pass frees the graph; the loss stays, as `loss` still names it.
    assert counted.gradients == backward_bytes + counted.saved
    assert counted.optimizer == step_bytes


def test_a_frozen_parameter_has_no_gradient_and_no_state() -> None:
    model = Mlp()
    model.layers[0].weight.requires_grad_(False)
    trained = [p for p in model.parameters() if p.requires_grad]
    counted = count_bytes(model, torch.optim.AdamW(trained), model)
    assert counted.parameters - counted.gradients == 4 * 17 * 31
    # Two moments like the parameter and one float32 counter for each of three tensors.
    assert counted.optimizer == 2 * counted.gradients + 4 * 3


def test_views_share_a_storage_and_count_once() -> None:
    base = torch.zeros(10, 3)
    assert storage_bytes([base, base[2:], base.t()]) == 120
    assert storage_bytes([base[2:]]) == 120  # a view keeps its whole storage alive
    assert storage_bytes([base, torch.zeros(2)], excluding=[base[0]]) == 8


def test_a_dropped_branch_is_not_counted() -> None:
    inputs = torch.ones(8, requires_grad=True)
    with saved_tensors() as saved:
        kept = inputs.exp()
        inputs.exp().exp()
        assert saved.num_bytes() == 32
    del kept
    assert saved.num_bytes() == 0


def test_watching_changes_no_gradient_also_of_second_order() -> None:
    inputs = torch.linspace(-1.0, 1.0, 8, dtype=torch.float64, requires_grad=True)

    def second(x: Tensor) -> Tensor:
        (first,) = torch.autograd.grad(x.exp().mul(x).sum(), x, create_graph=True)
        return torch.autograd.grad(first.sum(), x)[0]

    with saved_tensors():
        watched = second(inputs)
    assert torch.equal(watched, second(inputs))
    torch.testing.assert_close(watched, (inputs.detach() + 2) * inputs.detach().exp())


def test_checkpointing_saves_only_the_input_of_the_segment() -> None:
    layers = nn.Sequential(*[nn.Sequential(nn.Linear(8, 8), nn.Tanh()) for _ in range(4)])
    inputs = torch.ones(3, 8, requires_grad=True)
    parameters = list(layers.parameters())
    with saved_tensors() as plain:
        out = layers(inputs)
        # The input and four outputs of tanh; a linear layer saves its input, which is one.
        assert plain.num_bytes(excluding=parameters) == 5 * 96
    with saved_tensors() as segment:
        out = checkpoint(layers, inputs, use_reentrant=False)
        assert segment.num_bytes(excluding=parameters) == 96
    out.sum().backward()


def allocate_and_free(num_bytes: int) -> None:
    tensor = torch.empty(num_bytes, dtype=torch.uint8, device="cuda")
    del tensor
    torch.empty(num_bytes // 2, dtype=torch.uint8, device="cuda")


@pytest.mark.gpu
def test_gpu_peak_is_that_of_the_call_alone() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    here = torch.empty(2**28, dtype=torch.uint8, device="cuda")
    peak = gpu_peak(allocate_and_free, {"num_bytes": 2**26})
    assert peak.allocated_bytes == 2**26
    assert peak.allocated_bytes <= peak.reserved_bytes < here.numel()
