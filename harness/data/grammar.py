"""Random grammars whose text has an entropy that is known in closed form.

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
from functools import cached_property
from itertools import accumulate

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
