"""What a step holds, in closed form; of its activations a rough guess, for planning. No torch."""

from __future__ import annotations

from harness.declare.experiment import RawParams
from reproductions.lisa.models.shapes import Shape

DTYPE_BYTES = {"float32": 4, "bfloat16": 2}


def trainable_of(params: RawParams, shape: Shape) -> int:
    """Return how many parameters train at once under a trial's method, in closed form."""
    match params["method"]:
        case "full":
            return shape.num_params
        case "lora":
            return shape.lora_params(int(params["rank"]), embeddings=True)
        case _:
            return shape.lisa_params(int(params["gamma"]))


def static_bytes(params: RawParams, shape: Shape) -> int:
    """Return weights, gradients and two moments in closed form: w P + (g + 2 m) tau."""
    size, tau = DTYPE_BYTES[str(params["dtype"])], trainable_of(params, shape)
    adapters = tau if params["method"] == "lora" else 0
    return size * (shape.num_params + adapters + 3 * tau)


def room_bytes(params: RawParams, shape: Shape) -> int:
    """Return the memory to ask for before a step: static, activations of any method, and a tenth.

    Activations: up to 100 numbers a token and unit of width in a block, 6 for each pair of tokens
    and head in eager attention, and three copies of the logits in float32.
    """
    tokens, size = int(params["seq_len"]), DTYPE_BYTES[str(params["dtype"])]
    a_block = size * tokens * (100 * shape.hidden + 6 * tokens * shape.heads)
    saved = int(params["batch_size"]) * (shape.num_blocks * a_block + 12 * tokens * shape.vocab)
    return int(1.1 * (static_bytes(params, shape) + saved))
