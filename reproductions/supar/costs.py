"""Shapes of GPT trials as plain parameters, and what a trial of a shape costs. No torch."""

from __future__ import annotations

from harness.errors import SpecError
from harness.task import Estimate, Needs, Params, Scalar

GPU_WIDTH = 1024
"""From this width on a trial asks for a GPU."""
CPU_FLOPS_PER_S = 80e9
"""Of one core in float32, measured over whole training steps (AVX2 and better)."""
GPU_FLOPS_PER_S = 30e12
"""Of one H200 in float32: assumed, half its peak."""
VOCABULARY = {"characters": 65, "gpt2": 50257}
"""Tokens by tokenizer, for sizes only: characters as in tiny Shakespeare."""


def gpt_shape(
    *,
    data: str,
    width: int,
    base_width: int,
    context: int,
    batch_size: int,
    micro_batches: int,
    steps: int,
) -> dict[str, Scalar]:
    """Return the parameters of a net like the authors' published one, at two layers."""
    return {
        "data": data,
        "tokenizer": "characters",
        "width": width,
        "base_width": base_width,
        "num_layers": 2,
        "head_size": 32,
        "feed_forward": "gelu",
        "positions": "learned",
        "context": context,
        "batch_size": batch_size,
        "micro_batches": micro_batches,
        "steps": steps,
    }


def paper_net() -> dict[str, Scalar]:
    """Return what makes such a net the paper's."""
    return {"tokenizer": "gpt2", "feed_forward": "swiglu", "positions": "alibi"}


def needs_of(params: Params) -> Needs:
    """Return data and device, and GPU memory where it is large."""
    data = (str(params["data"]),)
    if int(params["width"]) < GPU_WIDTH:
        return Needs(data=data)
    packages = ("transformers",) if params["tokenizer"] == "gpt2" else ()
    return Needs(data=data, device="cuda", gpu_bytes=memory_bytes(params), packages=packages)


def estimate_of(params: Params, *, num_passes: float) -> Estimate:
    """Return seconds from the dense operations of a step, and memory.

    num_passes: forward passes that a step costs; 3 for forward and backward.
    """
    width, context = int(params["width"]), int(params["context"])
    tokens = int(params["batch_size"]) * context
    num_matrix = num_matrix_params(params)
    per_token = num_passes * (2 * num_matrix + 4 * width * context)
    if width >= GPU_WIDTH:
        # A small step costs its launches, whatever the size of its matrices.
        step_s = tokens * per_token / GPU_FLOPS_PER_S + 2e-3
        return Estimate(seconds=1.0 + int(params["steps"]) * step_s)
    # Adam reads and writes a weight's state at the speed of memory.
    step_s = tokens * per_token / CPU_FLOPS_PER_S + 3e-9 * num_matrix + 1e-3
    seconds = 0.03 + 1e-8 * num_matrix + int(params["steps"]) * step_s
    return Estimate(seconds=seconds, memory_bytes=memory_bytes(params))


def num_matrix_params(params: Params) -> int:
    """Return the weights that multiply: 12 L D^2 hidden ones, and the unembedding."""
    width = int(params["width"])
    return 12 * int(params["num_layers"]) * width**2 + vocabulary(params) * width


def memory_bytes(params: Params) -> int:
    """Return about what a step holds; `--dry-run` counts it exactly.

    Weights, gradients and two moments; per token of a part of a batch some 34 values a layer
    and width, and three copies of the logits.
    """
    tokens = int(params["batch_size"]) * int(params["context"]) // int(params["micro_batches"])
    saved = 34 * int(params["num_layers"]) * int(params["width"]) + 3 * vocabulary(params)
    return 4 * (4 * num_matrix_params(params) + tokens * saved)


def vocabulary(params: Params) -> int:
    """Return the number of tokens to reckon with."""
    if params["tokenizer"] not in VOCABULARY:
        known = " or ".join(map(repr, VOCABULARY))
        raise SpecError(f"tokenizer={params['tokenizer']!r}: need {known}")
    return VOCABULARY[str(params["tokenizer"])]
