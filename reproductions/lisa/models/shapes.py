"""Shapes of decoder-only models, and how many parameters each of their parts has. No torch.

Letters: d hidden size, f feed-forward size, V vocabulary, P positions, r rank; kv is the width of
keys and values, d times kv_heads over heads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from harness.errors import SpecError, nearest

if TYPE_CHECKING:
    from transformers import PretrainedConfig

Family = Literal["llama", "mistral", "gpt2"]
DTYPE_BYTES = {"float32": 4, "bfloat16": 2}


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """A decoder-only language model of transformers' Llama, Mistral or GPT-2 class."""

    family: Family
    hidden: int
    """Width d."""
    ffn: int
    """Width f of the feed-forward layer; for GPT-2 4 d."""
    num_blocks: int
    heads: int
    kv_heads: int
    """Heads of keys and values; for GPT-2 all of them."""
    vocab: int
    positions: int
    """Longest sequence; parameters only for GPT-2, whose positions are embedded."""
    tied_head: bool = False
    """Whether the head of another family than GPT-2, which always ties it, is the embedding."""

    def __post_init__(self) -> None:
        if self.hidden % self.heads or self.heads % self.kv_heads:
            raise SpecError(f"{self}: heads must divide the width, and kv_heads the heads")
        if self.family == "gpt2" and (self.ffn != 4 * self.hidden or self.kv_heads != self.heads):
            raise SpecError(f"{self}: GPT-2 has ffn = 4 hidden and kv_heads = heads")

    @property
    def tied(self) -> bool:
        """Whether the head is the token embedding."""
        return self.family == "gpt2" or self.tied_head

    @property
    def linears(self) -> tuple[tuple[int, int], ...]:
        """Inputs and outputs of each linear layer of one block."""
        d, f = self.hidden, self.ffn
        if self.family == "gpt2":
            return ((d, 3 * d), (d, d), (d, f), (f, d))
        kv = d * self.kv_heads // self.heads
        return ((d, d), (d, kv), (d, kv), (d, d), (d, f), (d, f), (f, d))

    @property
    def block_params(self) -> int:
        """Parameters of one block, norms and biases included."""
        matrices = sum(rows * columns for rows, columns in self.linears)
        if self.family == "gpt2":
            return matrices + sum(columns for _, columns in self.linears) + 4 * self.hidden
        return matrices + 2 * self.hidden

    @property
    def embedding_params(self) -> int:
        """Parameters of token and position embeddings and the head, a tied head once."""
        tokens = self.vocab * self.hidden
        positions = self.positions * self.hidden if self.family == "gpt2" else 0
        return (1 if self.tied else 2) * tokens + positions

    @property
    def num_params(self) -> int:
        """Parameters of the whole model."""
        norm = (2 if self.family == "gpt2" else 1) * self.hidden
        return self.num_blocks * self.block_params + self.embedding_params + norm

    def lisa_params(self, gamma: int) -> int:
        """Return how many train at once under LISA: gamma blocks and all that is outside."""
        return self.num_params - (self.num_blocks - gamma) * self.block_params

    def lora_params(self, rank: int, *, embeddings: bool) -> int:
        """Return how many adapters have: r (inputs + outputs) of each linear layer.

        embeddings: whether token embedding and head have adapters too; a tied head has its own.
        """
        blocks = self.num_blocks * sum(rows + columns for rows, columns in self.linears)
        ends = 2 * (self.vocab + self.hidden) if embeddings else 0
        return rank * (blocks + ends)

    def galore_states(self, rank: int) -> int:
        """Return how many numbers GaLore's AdamW keeps, all parameters training.

        Of each linear layer of a block, with sides n <= m: a projector of r n and two moments of
        r m. Of all else two moments of its size.
        """
        num_states = 2 * self.num_params
        for sides in self.linears:
            shorter, longer = sorted(sides)
            kept = min(rank, shorter) * (shorter + 2 * longer)
            num_states += self.num_blocks * (kept - 2 * shorter * longer)
        return num_states

    def trainable(
        self,
        method: str,
        *,
        rank: int = 0,
        gamma: int = 0,
        embeddings: bool = True,
        outside: bool = False,
    ) -> int:
        """Return how many parameters train at once under `full`, `lora`, `galore` or `lisa`.

        embeddings: whether LoRA has adapters of token embedding and head too; outside: whether it
        trains what lies outside of the blocks.
        """
        match method:
            case "full" | "galore":
                return self.num_params
            case "lora":
                trained = self.lisa_params(0) if outside else 0
                return trained + self.lora_params(rank, embeddings=embeddings)
        return self.lisa_params(gamma)

    def static_bytes(
        self,
        method: str,
        *,
        dtype: str,
        rank: int = 0,
        gamma: int = 0,
        embeddings: bool = True,
        outside: bool = False,
    ) -> int:
        """Return weights, gradients and optimizer states in closed form: w P + (g + 2 m) tau.

        Under `galore` the states are not two moments of each parameter.
        """
        told: dict[str, Any] = {"rank": rank, "embeddings": embeddings}
        tau = self.trainable(method, gamma=gamma, outside=outside, **told)
        adapters = self.lora_params(**told) if method == "lora" else 0
        states = self.galore_states(rank) if method == "galore" else 2 * tau
        return DTYPE_BYTES[dtype] * (self.num_params + adapters + tau + states)

    def step_bytes(
        self, *methods: Mapping[str, Any], seq_len: int, batch_size: int, dtype: str
    ) -> int:
        """Return what to ask of a GPU for a step of some methods whose models are all there.

        methods: each as `static_bytes` takes it. A guess, with a tenth for the rest: activations
        are up to 100 numbers per token and unit of width in a block, 6 per pair of tokens and head
        in eager attention, and three copies of the logits in float32.
        """
        static = sum(self.static_bytes(**each, dtype=dtype) for each in methods)
        per_block = DTYPE_BYTES[dtype] * seq_len * (100 * self.hidden + 6 * seq_len * self.heads)
        saved = batch_size * (self.num_blocks * per_block + 12 * seq_len * self.vocab)
        return int(1.1 * (static + saved))

    def config(self) -> PretrainedConfig:
        """Return transformers' config; dropout is off, as memory and time need no noise."""
        from transformers import GPT2Config, LlamaConfig, MistralConfig

        if self.family == "gpt2":
            return GPT2Config(
                vocab_size=self.vocab, n_embd=self.hidden, n_layer=self.num_blocks,
                n_head=self.heads, n_positions=self.positions,
                resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
            )  # fmt: skip
        told: dict[str, Any] = {
            "vocab_size": self.vocab, "hidden_size": self.hidden, "intermediate_size": self.ffn,
            "num_hidden_layers": self.num_blocks, "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads, "max_position_embeddings": self.positions,
            "tie_word_embeddings": self.tied,
        }  # fmt: skip
        return LlamaConfig(**told) if self.family == "llama" else MistralConfig(**told)


def _llama(
    hidden: int, ffn: int, num_blocks: int, heads: int, kv_heads: int, *, vocab: int = 32000,
    positions: int = 4096, family: Family = "llama", tied_head: bool = False,
) -> Shape:  # fmt: skip
    return Shape(
        family=family, hidden=hidden, ffn=ffn, num_blocks=num_blocks, heads=heads,
        kv_heads=kv_heads, vocab=vocab, positions=positions, tied_head=tied_head,
    )  # fmt: skip


SHAPES: dict[str, Shape] = {
    "gpt2-small": Shape(
        family="gpt2", hidden=768, ffn=3072, num_blocks=12, heads=12, kv_heads=12, vocab=50257,
        positions=1024,
    ),
    "tinyllama": _llama(2048, 5632, 22, 32, 4, positions=2048),
    "mistral-7b": _llama(4096, 14336, 32, 32, 8, family="mistral"),
    "llama-2-7b": _llama(4096, 11008, 32, 32, 32),
    "llama-2-70b": _llama(8192, 28672, 80, 64, 8),
    "smollm2-135m": _llama(576, 1536, 30, 9, 3, vocab=49152, positions=8192, tied_head=True),
    "tiny-deep": _llama(128, 344, 32, 4, 4, vocab=512, positions=256),
    "tiny-smoke": _llama(32, 88, 8, 4, 4, vocab=64, positions=16),
    "tiny-quality": _llama(128, 344, 8, 4, 4, vocab=2048, positions=128),
    "tiny-path": _llama(16, 44, 4, 2, 2, vocab=320, positions=64),
}  # fmt: skip
"""The paper's models (Table 14 and section 4.1); SmolLM2, whose weights a package ships; and ours:
one for memory and time, one for quality, and of each a smaller one that shows the path."""


def shape_of(name: str) -> Shape:
    """Return a shape by its name. Raises SpecError that names the nearest ones."""
    if name not in SHAPES:
        raise SpecError(f"no shape {name!r}{nearest(name, SHAPES)}; known: {', '.join(SHAPES)}")
    return SHAPES[name]
