"""English-like text from a small seeded grammar of our own, its entropy known exactly.

For anyone without data: byte-identical everywhere, and no language model's expected loss on
unseen text can lie below `grammar().entropy_per_char`.

A grammar is a table of rules, each chosen between by one random draw. Where the next word always
tells the choice, as in ours, text and derivation determine each other: the entropy of a sentence
is the sum over rules of (expected number of visits) times (entropy of one choice), and its
expected length is a sum of the same form.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from pathlib import Path

from harness.untrusted import read_toml

Choice = tuple[int, str]
"""Integer weight and the words and rule names (in capitals) that follow, with blanks between."""
Rules = Mapping[str, tuple[Choice, ...]]

# Written as words in the rules, because blanks separate words there.
BREAKS = {"<space>": " ", "<newline>": "\n"}
_GLUED = frozenset({",", ".", "?", "!", *BREAKS})


@dataclass(frozen=True, eq=False)
class Grammar:
    """Rules by name, the start rule first. Names are in capitals, everything else is a word.

    Every sentence ends with one of the words `<space>` and `<newline>`.
    """

    rules: Rules

    @property
    def start(self) -> str:
        return next(iter(self.rules))

    def draw(self, rng: random.Random) -> list[str]:
        """Draw a sentence's words; `rng.random()` is the only source, the same everywhere."""
        words: list[str] = []
        stack = [self.start]
        rules = self._compiled
        while stack:
            symbol = stack.pop()
            if symbol not in rules:
                words.append(symbol)
                continue
            cumulative, expansions = rules[symbol]
            stack.extend(expansions[bisect_right(cumulative, int(rng.random() * cumulative[-1]))])
        return words

    def sentence(self, rng: random.Random) -> str:
        """Draw a sentence with the blank or line end after it."""
        parts: list[str] = []
        for word in self.draw(rng):
            if word not in _GLUED and parts:
                parts.append(" ")
            parts.append(BREAKS.get(word, word))
        text = "".join(parts)
        return text[0].upper() + text[1:]

    @cached_property
    def visits(self) -> dict[str, float]:
        """Expected number of times a sentence visits each rule.

        Solves v = e_start + M^T v, where M[a][b] is the expected number of b in one choice of a.
        """
        import numpy as np

        index = {name: place for place, name in enumerate(self.rules)}
        matrix = np.eye(len(index))
        for name, symbol, share in self._occurrences():
            if symbol in index:
                matrix[index[symbol], index[name]] -= share
        solution = np.linalg.solve(matrix, np.eye(len(index))[index[self.start]])
        return dict(zip(index, solution.tolist(), strict=True))

    @property
    def entropy_per_sentence(self) -> float:
        """Nats: the sum over rules of expected visits times the entropy of one choice."""
        return math.fsum(
            self.visits[name] * weight / total * -math.log(weight / total)
            for name, choices in self.rules.items()
            if (total := sum(w for w, _ in choices))
            for weight, _ in choices
        )

    @property
    def chars_per_sentence(self) -> float:
        """Expected characters of a sentence with the break after it."""
        chars = math.fsum(
            self.visits[name] * share * (len(BREAKS.get(word, word)) + (word not in _GLUED))
            for name, word, share in self._occurrences()
            if word not in self.rules
        )
        return chars - 1  # no blank before the first word

    @property
    def entropy_per_char(self) -> float:
        """Nats per character of an endless text (renewal theorem: ratio of expectations)."""
        return self.entropy_per_sentence / self.chars_per_sentence

    def _occurrences(self) -> Iterator[tuple[str, str, float]]:
        """Yield (rule, symbol, probability of the choice) for each symbol of each choice."""
        for name, choices in self.rules.items():
            total = sum(weight for weight, _ in choices)
            for weight, symbols in choices:
                for symbol in symbols.split():
                    yield name, symbol, weight / total

    @cached_property
    def _compiled(self) -> dict[str, tuple[list[int], list[list[str]]]]:
        """Per rule: cumulative weights, and the choices reversed for a stack."""
        return {
            name: (
                list(accumulate(weight for weight, _ in choices)),
                [symbols.split()[::-1] for _, symbols in choices],
            )
            for name, choices in self.rules.items()
        }


def generate_text(*, min_chars: int, seed: int) -> str:
    """Return whole sentences of at least `min_chars` characters in all, the same everywhere.

    No language model's expected loss on it lies below `grammar().entropy_per_char`, in nats. The
    only source is `random.Random(seed).random()`, whose values Python guarantees.

    >>> round(grammar().entropy_per_char, 6)
    0.589561
    """
    rng = random.Random(seed)
    parts: list[str] = []
    num_chars = 0
    while num_chars < min_chars:
        parts.append(grammar().sentence(rng))
        num_chars += len(parts[-1])
    return "".join(parts)


@cache
def grammar() -> Grammar:
    """Return the grammar of the bundled text: the rules of `grammar.toml`, and its words."""
    found = read_toml(Path(__file__).with_name("grammar.toml"))
    words = {name: text.split() for name, text in found["words"].items()}
    rules = {name: tuple(map(tuple, choices)) for name, choices in found["rules"].items()}
    lists = {
        "BARENOUNONE": words["nouns"],
        "BARENOUNMANY": [_plural(noun) for noun in words["nouns"]],
        "ADJECTIVE": words["adjectives"],
        "NAME": words["names"],
        "TRANSITIVEONE": words["transitive"],
        "TRANSITIVEMANY": [_base(verb) for verb in words["transitive"]],
        "INTRANSITIVEONE": words["intransitive"],
        "INTRANSITIVEMANY": [_base(verb) for verb in words["intransitive"]],
        "SAYSONE": words["saying"],
        "SAYSMANY": [_base(verb) for verb in words["saying"]],
        "ADVERB": words["adverbs"],
        "PREPOSITION": words["prepositions"],
    }
    return Grammar({**rules, **{name: _by_rank(each) for name, each in lists.items()}})


def _by_rank(words: list[str]) -> tuple[Choice, ...]:
    """Weight words as Zipf's law does: in inverse proportion to the rank, in integers."""
    return tuple((240 // (rank + 4), word) for rank, word in enumerate(words))


def _plural(noun: str) -> str:
    irregular = {"child": "children", "wolf": "wolves", "church": "churches"}
    return irregular.get(noun, f"{noun}s")


def _base(verb: str) -> str:
    """Return the verb as it follows "they".

    >>> [_base(verb) for verb in ("sees", "carries", "watches")]
    ['see', 'carry', 'watch']
    """
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    return verb[:-2] if verb.endswith("ches") else verb[:-1]
