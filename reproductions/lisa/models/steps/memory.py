"""How much memory a way to fine-tune takes, before anything is run.

The real model class is built from its config on the meta device, the method applied, and one step
counted to the byte: weights, gradients, moments, and what autograd saves. Nothing is allocated.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from harness.errors import DataError, SpecError, nearest
from harness.measure.memory import MemoryBytes, count_bytes
from reproductions.lisa.method.methods import Full, LisaMethod, Lora, Method
from reproductions.lisa.models.shapes import SHAPES, Shape
from reproductions.nets.named_class import causal_lm_of

if TYPE_CHECKING:
    from transformers import PretrainedConfig

HUB_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*")
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """What one step computes."""

    seq_len: int
    batch_size: int
    dtype: str
    """Type of weights, and so of gradients and moments: `float32` or `bfloat16`."""

    @classmethod
    def of(cls, params: Any) -> Workload:
        """Return what a trial's step computes; params: with these three."""
        return cls(seq_len=params.seq_len, batch_size=params.batch_size, dtype=params.dtype)

    def __post_init__(self) -> None:
        if min(self.seq_len, self.batch_size) < 1 or self.dtype not in DTYPES:
            raise SpecError(f"{self}: need positive sizes and a dtype of {', '.join(DTYPES)}")


@dataclass(frozen=True, kw_only=True, slots=True)
class StepMemory:
    """What one step of a method holds."""

    memory: MemoryBytes
    num_params: int
    """All that is held, adapters included."""
    num_trainable: int
    """At once."""

    def row(self, shape: Shape, *, dtype: str, **told: Any) -> dict[str, int]:
        """Return the columns of `held.BYTES`, beside what the closed form says.

        told: of the method, as `Shape.trainable` takes it.
        """
        memory = self.memory
        return {
            "num_params": self.num_params,
            "num_trainable": self.num_trainable,
            "trainable_closed_form": shape.trainable(**told),
            "weights_bytes": memory.parameters + memory.buffers,
            "gradients_bytes": memory.gradients,
            "moments_bytes": memory.optimizer,
            "saved_bytes": memory.saved,
            "total_bytes": memory.total,
            "static_closed_form_bytes": shape.static_bytes(dtype=dtype, **told),
        }


class FirstBlocks:
    """Always the first gamma blocks.

    Which of equal blocks they are matters only where the embeddings are frozen: the way back to the
    first one is the longest. Where blocks are unequal (experts in some) the sum is that of the
    first ones.
    """

    def __init__(self, num_blocks: int, gamma: int) -> None:
        if not 0 <= gamma <= num_blocks:
            raise SpecError(f"gamma={gamma}: the model has {num_blocks} blocks, need 0 to that")
        self.num_blocks, self._gamma = num_blocks, gamma

    def draw(self) -> tuple[int, ...]:
        """Return the first blocks."""
        return tuple(range(self._gamma))

    def state_dict(self) -> dict[str, Any]:
        """Return nothing: there is no state."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take nothing."""


def layerwise(num_blocks: int, gamma: int, *, train_embeddings: bool = True) -> LisaMethod:
    """Return LISA as it is estimated: one period, the first blocks."""
    sampler = FirstBlocks(num_blocks, gamma)
    return LisaMethod(
        gamma=gamma, period=1, seed=0, sampler=sampler, train_embeddings=train_embeddings
    )


def count(
    config: PretrainedConfig, method: Method, workload: Workload, *, device: str, seed: int = 0
) -> StepMemory:
    """Count the bytes of one AdamW step of a causal language model with eager attention.

    device: `meta` allocates nothing, and counts what a GPU would hold; elsewhere the step is real.
    The sum is not a peak, which may be lower, as gradients come while saved tensors go, or higher,
    as a backward pass has temporaries (large vocabularies, few trained parameters). The allocator's
    rounding and a GPU's context come on top.
    """
    with torch.device(device):
        prepared = method.prepare(build(config, workload.dtype, seed=seed), adamw)
        ids = torch.zeros(workload.batch_size, workload.seq_len, dtype=torch.long)
        # Without a mask the model would look into the positions, which have no values on meta.
        inputs = {"input_ids": ids, "labels": ids, "attention_mask": torch.ones_like(ids)}
    # Before the step: a switch of blocks comes after it.
    num_trainable = prepared.num_trainable
    memory = count_bytes(
        prepared.model,
        prepared.optimizer,
        lambda: prepared.model(**inputs, use_cache=False).loss,
    )
    return StepMemory(
        memory=memory,
        num_params=sum(parameter.numel() for parameter in prepared.model.parameters()),
        num_trainable=num_trainable,
    )


def build(config: PretrainedConfig, dtype: str, *, seed: int) -> torch.nn.Module:
    """Return a model with new weights, in train mode, with eager attention.

    Raises SpecError for the config of another kind of model.
    """
    from transformers import AutoModelForCausalLM

    causal_lm_of(config)
    # transformers draws weights from the global generator.
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(
            config, dtype=DTYPES[dtype], attn_implementation="eager"
        )
    return model.train()


def adamw(parameters: Any) -> torch.optim.AdamW:
    """Return AdamW one tensor at a time, which keeps a step's temporaries small."""
    return torch.optim.AdamW(parameters, lr=1e-4, foreach=False)


def load_config(name: str) -> PretrainedConfig:
    """Return one of our shapes by its name, or a config of the given folder, file or hub id.

    Nobody is asked for what cannot be a hub id: a network that is down takes half a minute.
    Raises DataError for one that cannot be read.
    """
    from transformers import AutoConfig

    if name in SHAPES:
        return SHAPES[name].config()
    if not HUB_ID.fullmatch(name) and not os.path.exists(name):  # noqa: PTH110 - any text is none
        raise DataError(
            f"{name[:80]!r} is no folder, no file, no hub id (OWNER/NAME) and no shape of ours"
            f"{nearest(name, SHAPES)} (there are {', '.join(SHAPES)})"
        )
    try:
        return AutoConfig.from_pretrained(name)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(
            f"no config at {name!r} ({reason}): name a folder with a config.json, a hub id that"
            f" can be reached, or one of {', '.join(SHAPES)}"
        ) from error


def methods_of(
    num_blocks: int, *, gammas: Sequence[int], ranks: Sequence[int], dropout: float
) -> dict[str, Method]:
    """Return what is compared, by its name in Table 1."""
    loras = {
        f"LoRA r={rank}": Lora(rank=rank, alpha=float(rank), dropout=dropout, embeddings=True)
        for rank in ranks
    }
    lisas = {f"LISA E+H+{gamma}L": layerwise(num_blocks, gamma) for gamma in gammas}
    frozen = {
        f"LISA {gamma}L, E and H frozen": layerwise(num_blocks, gamma, train_embeddings=False)
        for gamma in gammas
        if gamma
    }
    return {"full": Full(), **loras, **lisas, **frozen}


def table(
    config: PretrainedConfig,
    workload: Workload,
    *,
    gammas: Sequence[int],
    ranks: Sequence[int],
    dropout: float,
) -> list[dict[str, Any]]:
    """Return one row per method: bytes by what holds them, and how many parameters train."""
    num_blocks = config.get_text_config().num_hidden_layers
    methods = methods_of(num_blocks, gammas=gammas, ranks=ranks, dropout=dropout)
    rows = []
    for name, method in methods.items():
        found = count(config, method, workload, device="meta")
        counts = {"num_params": found.num_params, "num_trainable": found.num_trainable}
        rows.append({"method": name, **counts, **found.memory.to_json()})
    return rows
