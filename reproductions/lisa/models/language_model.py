"""A language model with its tokenizer: what is pre-trained, fine-tuned, evaluated and judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.errors import SpecError

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast


@dataclass(frozen=True, kw_only=True, slots=True)
class LanguageModel:
    """A causal model of transformers, and the tokenizer it was trained with.

    Every text begins with the tokenizer's `bos_token_id`, an answer ends with `eos_token_id`.
    """

    model: LlamaForCausalLM
    tokenizer: PreTrainedTokenizerFast
    """Its `encode(text, add_special_tokens=False)` adds no token, and `decode` inverts it."""

    def __post_init__(self) -> None:
        if self.tokenizer.bos_token_id is None or self.tokenizer.eos_token_id is None:
            raise SpecError("the tokenizer lacks a token for the start or for the end of a text")
        if len(self.tokenizer) > self.model.config.vocab_size:
            raise SpecError(
                f"the tokenizer has {len(self.tokenizer)} tokens, the model"
                f" {self.model.config.vocab_size}"
            )

    @property
    def context(self) -> int:
        """Longest sequence the model was trained on, in tokens."""
        return int(self.model.config.max_position_embeddings)

    @property
    def bos(self) -> int:
        """The token before every text."""
        return int(self.tokenizer.bos_token_id)

    @property
    def eos(self) -> int:
        """The token after an answer."""
        return int(self.tokenizer.eos_token_id)

    def encode(self, text: str) -> list[int]:
        """Return a text's tokens, without start or end."""
        return list(self.tokenizer.encode(text, add_special_tokens=False))

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """Return each text's tokens, as `encode` does, many at a time."""
        found = self.tokenizer.backend_tokenizer.encode_batch_fast(
            list(texts), add_special_tokens=False
        )
        return [list(one.ids) for one in found]
