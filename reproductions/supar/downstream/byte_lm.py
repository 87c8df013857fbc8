"""A GPT as lm-eval sees it: by bytes, or by GPT-2's byte pairs.

Imports lm-eval, so it is itself imported only where that is about to run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lm_eval.api.model import TemplateLM

from harness.declare import Row
from harness.errors import SpecError
from harness.lm_eval import LMTask, scores
from reproductions.nets.gpt import GPT
from reproductions.supar.downstream.continuations import Tokens, score
from reproductions.supar.models.text import gpt2_tokenizer

if TYPE_CHECKING:
    from lm_eval.api.instance import Instance

NEWLINE = 10
GPT2_END = 50256


class TokenLM(TemplateLM):
    """A GPT over any tokens; it scores continuations and generates nothing."""

    def __init__(self, model: GPT, *, encode: Callable[[str], list[int]], start: int) -> None:
        """Wrap a net.

        start: the token that stands before a text without context.
        """
        super().__init__()
        self._model = model
        self._encode = encode
        self._start = start

    @property
    def eot_token_id(self) -> int:
        return self._start

    def tok_encode(
        self, string: str, add_special_tokens: bool | None = None, **_: Any
    ) -> list[int]:
        return self._encode(string)

    def _loglikelihood_tokens(
        self, requests: list[tuple[tuple[str, str], list[int], list[int]]], **_: Any
    ) -> list[tuple[float, bool]]:
        pairs: list[tuple[Tokens, Tokens]] = [request[1:] for request in requests]
        return [(one.log_likelihood, one.is_greedy) for one in score(self._model, pairs)]

    def loglikelihood_rolling(
        self, requests: list[Instance], disable_tqdm: bool = False
    ) -> list[float]:
        texts = [self._encode(request.args[0]) for request in requests]
        return [
            one.log_likelihood for one in score(self._model, [([self._start], t) for t in texts])
        ]

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        raise SpecError("this model only scores: use tasks of log-likelihood or multiple choice")


def byte_lm(model: GPT) -> TokenLM:
    """Return a net over UTF-8 bytes for lm-eval; a text begins after a newline."""
    if model.config.vocab_size != 256:
        raise SpecError(f"a net of {model.config.vocab_size} tokens: need 256, one for each byte")
    return TokenLM(model, encode=lambda text: list(text.encode()), start=NEWLINE)


def gpt2_lm(model: GPT) -> TokenLM:
    """Return a net over GPT-2's byte pairs for lm-eval. Raises as `gpt2_tokenizer` does."""
    tokenizer = gpt2_tokenizer()
    return TokenLM(model, encode=lambda text: tokenizer(text)["input_ids"], start=GPT2_END)


def accuracies(lm: TokenLM, tasks: Mapping[str, LMTask], *, num_documents: int | None) -> list[Row]:
    """Return one row per task: its accuracy, and what was asked.

    num_documents: how many of each task's documents, the first ones; all where None.
    """
    return [
        {
            "task": score.task,
            "accuracy": score.value,
            "stderr": score.stderr,
            "random_accuracy": score.random_value,
            "num_documents": score.num_documents,
            "lm_eval_version": score.lm_eval_version,
            "task_sha256": score.task_sha256,
        }
        for score in scores(lm, tasks, num_documents=num_documents)
        # Stock tasks have further metrics, such as a perplexity.
        if (score.metric, score.filter) == ("acc", "none")
    ]
