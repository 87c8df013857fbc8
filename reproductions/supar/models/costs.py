"""What a GPT trial needs of the machine, and what it costs. No torch."""

from __future__ import annotations

from harness.declare.experiment import Estimate, Needs, RawParams
from harness.errors import SpecError

CPU_FLOPS_PER_S = 80e9
"""Of one core in float32, measured over whole training steps (AVX2 and better)."""
GPU_FLOPS_PER_S = 30e12
"""Of one H200 in float32: assumed, half its peak."""
VOCABULARY = {"characters": 65, "bytes": 256, "gpt2": 50257}
"""Tokens by tokenizer, for sizes only: characters as in tiny Shakespeare."""


def needs_of(params: RawParams) -> Needs:
    """Return data, device, GPU memory and what the tokenizer needs."""
    data = (str(params["data"]),)
    packages = ("transformers",) if params["tokenizer"] == "gpt2" else ()
    if params["device"] == "cpu":
        return Needs(data=data, packages=packages)
    return Needs(data=data, device="cuda", gpu_bytes=memory_bytes(params), packages=packages)


def estimate_of(params: RawParams, *, num_passes: float) -> Estimate:
    """Return seconds from the dense operations of a step, and memory.

    num_passes: forward passes that a step costs; 3 for forward and backward.
    """
    width, context = int(params["width"]), int(params["context"])
    tokens = int(params["batch_size"]) * context
    num_matrix = num_matrix_params(params)
    per_token = num_passes * (2 * num_matrix + 4 * width * context)
    if params["device"] == "cuda":
        # A small step costs its launches, whatever the size of its matrices.
        step_s = tokens * per_token / GPU_FLOPS_PER_S + 2e-3
        return Estimate(seconds=1.0 + int(params["steps"]) * step_s)
    # Adam reads and writes a weight's state at the speed of memory.
    step_s = tokens * per_token / CPU_FLOPS_PER_S + 3e-9 * num_matrix + 1e-3
    seconds = 0.03 + 1e-8 * num_matrix + int(params["steps"]) * step_s
    return Estimate(seconds=seconds, memory_bytes=memory_bytes(params))


def train_flops(params: RawParams) -> float:
    """Return the operations of a training run if masked weights cost none.

    Six a weight and token for forward and backward, hidden weights times density; attention's
    two products, and the unembedding, are not sparse.
    """
    width, context = int(params["width"]), int(params["context"])
    hidden = 12 * int(params["num_layers"]) * width**2 * float(params["density"])
    attention = 2 * int(params["num_layers"]) * width * context
    per_token = 6.0 * (hidden + attention + vocabulary(params) * width)
    return per_token * int(params["steps"]) * int(params["batch_size"]) * context


def num_matrix_params(params: RawParams) -> int:
    """Return the weights that multiply: 12 L D^2 hidden ones, and the unembedding."""
    width = int(params["width"])
    return 12 * int(params["num_layers"]) * width**2 + vocabulary(params) * width


def memory_bytes(params: RawParams) -> int:
    """Return about what a step holds; `--dry-run` counts it exactly.

    Weights, gradients and two moments; per token of a part of a batch some 34 values a layer
    and width, and three copies of the logits.
    """
    tokens = int(params["batch_size"]) * int(params["context"]) // int(params["micro_batches"])
    saved = 34 * int(params["num_layers"]) * int(params["width"]) + 3 * vocabulary(params)
    return 4 * (4 * num_matrix_params(params) + tokens * saved)


def vocabulary(params: RawParams) -> int:
    """Return the number of tokens to reckon with."""
    if params["tokenizer"] not in VOCABULARY:
        known = ", ".join(map(repr, VOCABULARY))
        raise SpecError(f"tokenizer={params['tokenizer']!r}: need {known}")
    return VOCABULARY[str(params["tokenizer"])]
