"""From the parameters of a step whose bytes are counted to its row."""

from __future__ import annotations

from dataclasses import replace

from harness.declare import Row, RunContext
from reproductions.lisa.compared.experiment import Held
from reproductions.lisa.compared.trial import method_of
from reproductions.lisa.method.methods import LisaMethod
from reproductions.lisa.models.shapes import DTYPE_BYTES, Shape, shape_of
from reproductions.lisa.models.steps.memory import FirstBlocks, Workload, count

DTYPE = "float32"


def held_row(params: Held, ctx: RunContext) -> list[Row]:
    """Count the bytes of a step, beside how many parameters and bytes the closed form says."""
    shape = shape_of(params.shape)
    method = method_of(params, seed=ctx.seed("layers"))
    if isinstance(method, LisaMethod):
        method = replace(method, sampler=FirstBlocks(shape.num_blocks, params.gamma))
    workload = Workload(seq_len=params.seq_len, batch_size=params.batch_size, dtype=DTYPE)
    device = "cpu" if params.how == "count" else "meta"
    found = count(shape.config(), method, workload, device=device, seed=ctx.seed("init"))
    memory = found.memory
    return [
        {
            "num_params": found.num_params,
            "num_trainable": found.num_trainable,
            "trainable_closed_form": trainable(params, shape),
            "weights_bytes": memory.parameters + memory.buffers,
            "gradients_bytes": memory.gradients,
            "moments_bytes": memory.optimizer,
            "saved_bytes": memory.saved,
            "total_bytes": memory.total,
            "static_closed_form_bytes": static_bytes(params, shape),
        }
    ]


def adapters(params: Held, shape: Shape) -> int:
    """Return how many parameters LoRA's adapters on a step's blocks have."""
    is_lora = params.method.startswith("lora")
    return shape.lora_params(params.rank, embeddings=False) if is_lora else 0


def trainable(params: Held, shape: Shape) -> int:
    """Return how many parameters train at once."""
    if params.method in ("full", "galore"):
        return shape.num_params
    if params.method in ("lora", "lora_equal"):
        return adapters(params, shape)
    return shape.lisa_params(params.gamma) + adapters(params, shape)


def static_bytes(params: Held, shape: Shape) -> int:
    """Return weights, gradients and optimizer states: w P + (g + 2 m) tau.

    Under GaLore the states are not two moments of each parameter.
    """
    tau = trainable(params, shape)
    states = shape.galore_states(params.rank) if params.method == "galore" else 2 * tau
    return DTYPE_BYTES[DTYPE] * (shape.num_params + adapters(params, shape) + tau + states)
