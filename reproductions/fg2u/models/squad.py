"""The staged SQuAD documents as a stream: paragraphs in their order, cut to a window of words.

A word is a token of its own where it is frequent in the texts that a base model is trained on; the
others share a number of tokens, told apart by a hash.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from harness.errors import DataError
from reproductions.fg2u.models.documents import Corpus, Document, Question, pieces

DOCS, SINGLE = "squad_docs", "squad_single"
"""In the data catalogue: whole articles; single contexts of others."""
MARKS = ("<pad>", "<document>", "<question>", "<end>")
NUM_WORDS, NUM_SHARED = 1200, 300
"""Words with a token of their own; tokens that the others share."""
WINDOW = 40
MAX_ANSWER = 4
"""Words; questions with longer answers are left out."""
SHARES = (0.5, 0.2)
"""Of articles: those that weights of tokens are learned on, those of the validation stream."""


@dataclass(frozen=True, slots=True)
class Words:
    """A vocabulary."""

    own: Mapping[str, int]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Words:
        """Return that of the most frequent words of some texts."""
        counted = Counter(word for text in texts for word in split(text))
        ranked = sorted(counted, key=lambda word: (-counted[word], word))[:NUM_WORDS]
        return cls({word: len(MARKS) + at for at, word in enumerate(ranked)})

    @property
    def size(self) -> int:
        return len(MARKS) + len(self.own) + NUM_SHARED

    def token(self, word: str) -> int:
        """Return a word's token; that of a rare one is shared with others."""
        if word in self.own:
            return self.own[word]
        number = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        return len(MARKS) + len(self.own) + number % NUM_SHARED

    def tokens(self, words: Iterable[str]) -> tuple[int, ...]:
        return tuple(self.token(word) for word in words)

    def text(self, tokens: Sequence[int]) -> str:
        """Return words up to the end of an answer; shared tokens by their number."""
        names = {token: word for word, token in self.own.items()}
        kept = list(tokens)
        kept = kept[: kept.index(3)] if 3 in kept else kept
        return " ".join(names.get(token, f"w{token}") for token in kept)


def split(text: str) -> list[str]:
    """Return lower-case words and signs.

    >>> split("In 1824, Rome fell.")
    ['in', '1824', ',', 'rome', 'fell', '.']
    """
    return [text.lower()[at] for at in spans(text)]


def spans(text: str) -> list[slice]:
    """Return where the words and signs of a text stand."""
    return [slice(*found.span()) for found in re.finditer(r"\w+|[^\w\s]", text.lower())]


def cut(context: str, questions: Sequence[tuple[str, str, int]], words: Words) -> list[Document]:
    """Return a paragraph as documents of one window, each with the questions that it answers.

    questions: each with its answer and where that starts. Left out: questions whose answer is cut
    or longer than MAX_ANSWER, or that do not fit into the window, and documents without any.
    """
    places = spans(context)
    tokens = words.tokens(context.lower()[at] for at in places)
    found = []
    for piece in pieces(tokens, WINDOW - 1):
        states, own = [False] * len(piece), []
        for question, answer, start in questions:
            inside = [
                at - piece.start
                for at in piece
                if start <= places[at].start and places[at].stop <= start + len(answer)
            ]
            prompt = (2, *words.tokens(split(question)))
            target = words.tokens(split(answer))
            if len(inside) != len(target) or not 0 < len(target) <= MAX_ANSWER:
                continue
            if len(prompt) + len(target) + 1 > WINDOW:
                continue
            own.append(Question(prompt=prompt, answer=(*target, 3)))
            for at in inside:
                states[at] = True
        if own:
            kept = tuple(tokens[at] for at in piece)
            found.append(
                Document(tokens=(1, *kept), states_value=(False, *states), questions=tuple(own))
            )
    return found


def corpus(
    articles: Sequence[Mapping[str, Any]], single: Sequence[Mapping[str, Any]],
    generator: torch.Generator, *, most: Mapping[str, int],
) -> Corpus:  # fmt: skip
    """Return the streams of articles, which the generator deals out to parts.

    articles: of `squad_docs`, one record per paragraph. single: of `squad_single`, on which the
    vocabulary is made and a base model trained. most: documents of a part, the first that many.
    Raises DataError where there are too few articles for three parts.
    """
    titles = list(dict.fromkeys(str(record["title"]) for record in articles))
    if len(titles) < 3:
        raise DataError(f"{len(titles)} SQuAD articles: three parts need at least three")
    words = Words.of(str(record["context"]) for record in single)
    order = [titles[at] for at in torch.randperm(len(titles), generator=generator).tolist()]
    first = max(1, int(SHARES[0] * len(order)))
    second = first + max(1, int(SHARES[1] * len(order)))

    def stream(part: str, own: Sequence[str]) -> tuple[Document, ...]:
        found = [
            document
            for record in articles
            if record["title"] in own
            for document in cut(str(record["context"]), _asked(record), words)
        ]
        return tuple(found[: most[part]])

    known = [document for record in single for document in cut(*_single(record), words)]
    return Corpus(
        known=tuple(known),
        passing=(),
        meta=stream("meta", order[:first]),
        validation=stream("validation", order[first:second]),
        test=stream("test", order[second:]),
        vocab=words.size,
        window=WINDOW,
        text=words.text,
    )


def _asked(record: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    return [
        (str(one["question"]), str(one["answers"][0]), int(one["answer_starts"][0]))
        for one in record["qas"]
    ]


def _single(record: Mapping[str, Any]) -> tuple[str, list[tuple[str, str, int]]]:
    context, answer = str(record["context"]), str(record["answer"])
    return context, [(str(record["question"]), answer, context.find(answer))]


def as_given(articles: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the staged articles as documents are handed in, dealt out to parts in their order."""
    titles = list(dict.fromkeys(str(record["title"]) for record in articles))
    parts = ["known"] * 3 + ["meta"] * 9 + ["validation"] * 3
    part = dict(zip(titles, parts, strict=False))
    return [
        {
            "part": part.get(str(record["title"]), "test"),
            "text": str(record["context"]),
            "qas": [{"question": asked, "answer": said} for asked, said, _ in _asked(record)],
        }
        for record in articles
    ]


def made_up(num_articles: int, num_paragraphs: int) -> list[dict[str, Any]]:
    """Return articles of the staged form, for a path without any file."""
    records = []
    for article in range(num_articles):
        for paragraph in range(num_paragraphs):
            number = article * num_paragraphs + paragraph
            year = str(1800 + number)
            context = (
                f"Tower {number} stands near hill {7 * number % 23} and river {5 * number % 19}. It"
                f" was built in {year}, by people of field {3 * number % 17}."
            )
            asked = f"When was tower {number} built?"
            qas = [{"question": asked, "answers": [year], "answer_starts": [context.index(year)]}]
            records.append({"title": f"article {article}", "context": context, "qas": qas})
    return records


def singly(articles: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return articles in the form of single contexts."""
    return [
        {"context": record["context"], "question": question, "answer": answer}
        for record in articles
        for question, answer, _ in _asked(record)
    ]
