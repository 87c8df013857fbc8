"""What a step holds, in closed form; of its activations a rough guess, for planning. No torch."""

from __future__ import annotations

from reproductions.lisa.models.shapes import Shape

DTYPE_BYTES = {"float32": 4, "bfloat16": 2}


def trainable_of(shape: Shape, method: str, *, rank: int, gamma: int) -> int:
    """Return how many parameters train at once under a method, in closed form."""
    match method:
        case "full":
            return shape.num_params
        case "lora":
            return shape.lora_params(rank, embeddings=True)
        case _:
            return shape.lisa_params(gamma)


def static_bytes(shape: Shape, method: str, *, rank: int, gamma: int, dtype: str) -> int:
    """Return weights, gradients and two moments in closed form: w P + (g + 2 m) tau."""
    tau = trainable_of(shape, method, rank=rank, gamma=gamma)
    adapters = tau if method == "lora" else 0
    return DTYPE_BYTES[dtype] * (shape.num_params + adapters + 3 * tau)


def activation_bytes(shape: Shape, *, seq_len: int, batch_size: int, dtype: str) -> int:
    """Return a guess of activations under any method.

    Up to 100 numbers per token and unit of width in a block, 6 per pair of tokens and head in
    eager attention, and three copies of the logits in float32.
    """
    per_block = DTYPE_BYTES[dtype] * seq_len * (100 * shape.hidden + 6 * seq_len * shape.heads)
    return batch_size * (shape.num_blocks * per_block + 12 * seq_len * shape.vocab)


def with_a_tenth(num_bytes: int) -> int:
    """Return what to ask for where so much is expected."""
    return int(1.1 * num_bytes)
