"""Language models and documents that are handed in by a path: the paper's, which are not staged.

FOLDER/<model>/ is a model with its tokenizer as transformers saves them. FOLDER/<stream>.jsonl has
a document per line: {"part": "known", "text": ..., "qas": [{"question": ..., "answer": ...}]}, in
the order of the streams; part is one of known, meta, validation, test.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from harness.errors import DataError
from reproductions.fg2u.method.modules import functional
from reproductions.fg2u.models.adaptation import Base
from reproductions.fg2u.models.documents import Corpus, Document, Question, pieces
from reproductions.fg2u.models.gpt import Weights

NOT_GIVEN = "not given"
PARTS = ("known", "meta", "validation", "test")
PROMPT, ANSWER = "Question: {question}\nAnswer:", " {answer}"


@dataclass(frozen=True, slots=True)
class GivenNet:
    """A model of transformers as a function of its weights."""

    call: Any

    def hidden(self, weights: Weights, tokens_BL: Tensor) -> Tensor:
        found = self.call(weights, input_ids=tokens_BL, output_hidden_states=True, use_cache=False)
        return found.hidden_states[-1]

    def logits(self, weights: Weights, tokens_BL: Tensor) -> Tensor:
        return self.call(weights, input_ids=tokens_BL, use_cache=False).logits


def given_path(folder: str, name: str) -> Path:
    """Return the path of what is handed in. Raises DataError where it is not there."""
    path = Path(folder) / name
    if folder == NOT_GIVEN or not path.exists():
        raise DataError(
            f"no {name}: put the models and documents of the paper into a folder and say"
            " --set checkpoint=FOLDER"
        )
    return path


def given_model(folder: str, name: str, device: str) -> Base:
    """Return a model handed in, its attention written out, dropout off.

    Raises SpecError for one that is no causal language model.
    """
    from transformers import AutoConfig

    from reproductions.nets.named_class import causal_lm_of

    path = given_path(folder, name)
    kind = causal_lm_of(AutoConfig.from_pretrained(path, local_files_only=True))
    model = kind.from_pretrained(
        path, dtype="float32", attn_implementation="eager", local_files_only=True
    )
    call, weights = functional(model.eval().to(device))
    return Base(net=GivenNet(call), weights=weights)


def given_tokenizer(folder: str, name: str) -> Any:
    """Return the tokenizer beside a model."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(given_path(folder, name), local_files_only=True)


def given_records(folder: str, stream: str) -> list[dict[str, Any]]:
    """Return a stream. Raises DataError that names the line that is no document."""
    path = given_path(folder, f"{stream}.jsonl")
    records = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            record = json.loads(line)
            fits = record["part"] in PARTS and isinstance(record["text"], str)
            fits = fits and all({"question", "answer"} <= set(one) for one in record["qas"])
        except (ValueError, KeyError, TypeError):
            fits = False
        if not fits:
            raise DataError(
                f"{path}, line {number}: need an object with part (one of {', '.join(PARTS)}), text"
                " and qas, each with question and answer"
            )
        records.append(record)
    return records


def given_corpus(records: Iterable[Mapping[str, Any]], tokenizer: Any, window: int) -> Corpus:
    """Return documents as tokens of a model, texts longer than the window cut to pieces of it.

    A piece has the questions whose answer it holds; questions longer than the window and pieces
    without any are left out.
    """
    parts: dict[str, list[Document]] = {part: [] for part in PARTS}
    for record in records:
        parts[record["part"]] += _cut(record, tokenizer, window)
    if missing := [part for part, documents in parts.items() if not documents]:
        raise DataError(f"no document with a question is in the part {missing[0]}: add some")
    return Corpus(
        known=tuple(parts["known"]),
        passing=(),
        meta=tuple(parts["meta"]),
        validation=tuple(parts["validation"]),
        test=tuple(parts["test"]),
        vocab=len(tokenizer),
        window=window,
        text=lambda tokens: str(tokenizer.decode(list(tokens), skip_special_tokens=True)),
    )


def _cut(record: Mapping[str, Any], tokenizer: Any, window: int) -> list[Document]:
    tokens = tuple(tokenizer(record["text"])["input_ids"])
    found = []
    for piece in pieces(tokens, window):
        own = tuple(tokens[at] for at in piece)
        states, questions = [False] * len(own), []
        for one in record["qas"]:
            prompt = tuple(tokenizer(PROMPT.format(**one))["input_ids"])
            answer = tuple(tokenizer(ANSWER.format(**one), add_special_tokens=False)["input_ids"])
            places = _places(own, answer)
            if not places or len(prompt + answer) + 1 > window:
                continue
            for at in places:
                states[at] = True
            questions.append(Question(prompt=prompt, answer=(*answer, tokenizer.eos_token_id)))
        if questions and len(own) > 1:
            found.append(
                Document(tokens=own, states_value=tuple(states), questions=tuple(questions))
            )
    return found


def _places(tokens: Sequence[int], answer: Sequence[int]) -> range:
    """Return where an answer stands in a text, or nowhere."""
    size = len(answer)
    for at in range(len(tokens) - size + 1):
        if size and tuple(tokens[at : at + size]) == tuple(answer):
            return range(at, at + size)
    return range(0)
