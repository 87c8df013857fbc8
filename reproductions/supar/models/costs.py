"""What a GPT trial needs of the machine, and what it costs. No torch."""

from __future__ import annotations

from dataclasses import replace

from harness.declare import Estimate, Needs
from reproductions.supar.models.points import Net, Trained

CPU_FLOPS_PER_S = 80e9
"""Speed of one core in float32, measured over whole training steps (AVX2 and better)."""
HEAD_S = 3e-4
"""What each head of a block with ALiBi costs on a core in a step, whatever its size, since scores
are then kept (pilots' records)."""
GPU_FLOPS_PER_S = 30e12
"""Speed of one H200 in float32: assumed, half its peak."""
LAUNCHES_S = 2e-3
"""What a small step costs on a GPU whatever the size of its matrices: assumed."""
RATES_IN_A_STACK, STACK_LAUNCHES = 8, 3
"""Learning rates of a sweep, at least, which are one stack on a GPU; and how many times a single
net's launches that takes, as measured on a CPU with nets so small that it shows little else."""
VOCABULARY = {"characters": 65, "bytes": 256, "gpt2": 50257}
"""Tokens by tokenizer, for sizes only: characters as in tiny Shakespeare."""


def needs_of(net: Net) -> Needs:
    """Return data, device, GPU memory and what the tokenizer needs."""
    packages = ("transformers",) if net.tokenizer == "gpt2" else ()
    if net.device == "cpu":
        return Needs(data=(net.data,), packages=packages)
    room = memory_bytes(net)
    return Needs(data=(net.data,), device="cuda", gpu_bytes=room, packages=packages)


def estimate_of(net: Net, *, num_passes: float = 3.0) -> Estimate:
    """Return seconds from the dense operations of a step, and memory.

    num_passes: forward passes that a step costs; 3 for forward and backward.
    """
    tokens = net.batch_size * net.context
    num_matrix = num_matrix_params(net)
    per_token = num_passes * (2 * num_matrix + 4 * net.width * net.context)
    if net.device == "cuda":
        step_s = tokens * per_token / GPU_FLOPS_PER_S + LAUNCHES_S
        return Estimate(seconds=1.0 + net.steps * step_s)
    # Adam reads and writes a weight's state at the speed of memory.
    step_s = tokens * per_token / CPU_FLOPS_PER_S + 3e-9 * num_matrix
    heads = net.width // net.head_size if net.positions == "alibi" else 0
    step_s += 1e-3 + net.num_layers * HEAD_S * heads
    seconds = 0.03 + 1e-8 * num_matrix + net.steps * step_s
    return Estimate(seconds=seconds, memory_bytes=memory_bytes(net))


def estimate_together(net: Net) -> Estimate:
    """Return a net's own, and on a GPU its share of a stack: of the start, and of launches."""
    own = estimate_of(net)
    if net.device == "cpu":
        return own
    launched_s, shared_s = net.steps * LAUNCHES_S, 1.0 + STACK_LAUNCHES * net.steps * LAUNCHES_S
    return replace(own, seconds=own.seconds - 1.0 - launched_s + shared_s / RATES_IN_A_STACK)


def train_flops(point: Trained) -> float:
    """Return the operations of a training run if masked weights cost none.

    Six a weight and token for forward and backward, hidden weights times density; attention's
    two products, and the unembedding, are not sparse.
    """
    hidden = 12 * point.num_layers * point.width**2 * point.density
    attention = 2 * point.num_layers * point.width * point.context
    per_token = 6.0 * (hidden + attention + VOCABULARY[point.tokenizer] * point.width)
    return per_token * point.steps * point.batch_size * point.context


def num_matrix_params(net: Net) -> int:
    """Return the weights that multiply: 12 L D^2 hidden ones, and the unembedding."""
    return 12 * net.num_layers * net.width**2 + VOCABULARY[net.tokenizer] * net.width


def memory_bytes(net: Net) -> int:
    """Return about what a step holds; `--dry-run` counts it exactly.

    Weights, gradients and two moments; per token of a part of a batch some 34 values a layer
    and width, and three copies of the logits.
    """
    tokens = net.batch_size * net.context // net.micro_batches
    saved = 34 * net.num_layers * net.width + 3 * VOCABULARY[net.tokenizer]
    return 4 * (4 * num_matrix_params(net) + tokens * saved)
