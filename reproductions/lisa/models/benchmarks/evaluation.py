"""A language model under lm-eval, beside the scorer that needs no lm-eval.

Imports lm-eval, so it is itself imported only where that is about to run.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch
from lm_eval.models.huggingface import HFLM
from torch import Tensor

from harness.declare import Row
from harness.lm_eval import Documents, Score, quietly, scores, task_over
from reproductions.lisa.models.benchmarks.lm_tasks import definition
from reproductions.lisa.models.benchmarks.scorer import accuracies, answer_room, cut, fitted
from reproductions.lisa.models.language_model import LanguageModel

BATCH_SIZE = 32
Request = tuple[tuple[str, str], list[int], list[int]]


class StartedLM(HFLM):
    """lm-eval's model of transformers, with the start token before every text.

    lm-eval leaves that to the tokenizer, and loses the token where it cuts a text that is longer
    than the context; and it ends an answer at the end token of the model's configuration, which
    need not be the tokenizer's.
    """

    def __init__(self, lm: LanguageModel) -> None:
        """Wrap a model, which is put into evaluation mode."""
        self._lm = lm
        with quietly():
            super().__init__(
                pretrained=lm.model,
                # It is given a padding token.
                tokenizer=copy.deepcopy(lm.tokenizer),
                backend="causal",
                max_length=lm.context,
                batch_size=BATCH_SIZE,
            )

    @property
    def max_gen_toks(self) -> int:
        return answer_room(self._lm)

    def tok_encode(
        self, string: str, add_special_tokens: bool | None = None, **_: Any
    ) -> list[int]:
        tokens = self._lm.encode(string)
        return tokens if add_special_tokens is False else [self._lm.bos, *tokens]

    def tok_batch_encode(
        self, strings: list[str], left_truncate_len: int | None = None, **_: Any
    ) -> tuple[Tensor, Tensor]:
        """Return ids and mask, both of shape (B, T), with padding on the left."""
        room = self._lm.context - (left_truncate_len or self._lm.context)
        rows = [fitted(self._lm, self._lm.encode(string), room=room) for string in strings]
        longest = max(map(len, rows))
        padding = [longest - len(row) for row in rows]
        ids_BT = [[self._lm.eos] * num + row for num, row in zip(padding, rows, strict=True)]
        mask_BT = [[0] * num + [1] * (longest - num) for num in padding]
        return torch.tensor(ids_BT), torch.tensor(mask_BT)

    def _loglikelihood_tokens(
        self, requests: list[Request], **rest: Any
    ) -> list[tuple[float, bool]]:
        return super()._loglikelihood_tokens([self._cut(one) for one in requests], **rest)

    def _cut(self, request: Request) -> Request:
        texts, (_, *context), continuation = request
        inputs, targets = cut(self._lm, context, continuation)
        return texts, list(inputs[: len(inputs) - len(targets) + 1]), list(targets)

    def _model_generate(
        self, context: Tensor, max_length: int, stop: list[str], **options: Any
    ) -> Tensor:
        end = {"eos_token_id": self._lm.eos}
        return super()._model_generate(context, max_length, stop, **options, **end)


def lm_eval_scores(lm: LanguageModel, documents: Mapping[str, Documents]) -> list[Score]:
    """Return lm-eval's scores of a model, one per benchmark and metric.

    documents: by benchmark, as `lm_tasks.documents_of` gives them.
    """
    tasks = {
        name: task_over(records, definition=definition(name)) for name, records in documents.items()
    }
    return scores(StartedLM(lm), tasks, num_documents=None)


def benchmark_rows(lm: LanguageModel, documents: Mapping[str, Documents]) -> list[Row]:
    """Return a row per benchmark and metric: lm-eval's accuracy, and beside it our scorer's.

    documents: by benchmark, as `lm_tasks.documents_of` gives them.
    """
    found = lm_eval_scores(lm, documents)
    ours = {name: accuracies(lm, name, records) for name, records in documents.items()}
    return [
        {
            "task": score.task,
            "metric": score.metric if score.filter == "none" else f"{score.metric} {score.filter}",
            "accuracy": score.value,
            "stderr": score.stderr,
            "scorer_accuracy": ours[score.task][score.filter],
            "random_accuracy": score.random_value,
            "num_documents": score.num_documents,
            "lm_eval_version": score.lm_eval_version,
            "task_sha256": score.task_sha256,
        }
        for score in found
    ]
